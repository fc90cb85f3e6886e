package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/cmd/vjob/completion"
)

// Every argument and every flag with a value is completed, or stated as free text, in the tables of package completion.
func TestEverythingIsCompleted(t *testing.T) {
	root := rootCommand()
	flags, arguments := 0, 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() == "bool" {
				return
			}
			flags++
			if _, has := cmd.GetFlagCompletionFunc(f.Name); !has {
				word, _ := pflag.UnquoteUsage(f)
				t.Errorf("%s --%s: neither the flag nor its placeholder %s is in completion/tables.go", cmd.CommandPath(), f.Name, word)
			}
		})
		if cmd.Runnable() && cmd.ValidArgsFunction == nil {
			t.Errorf("%s: its arguments are not completed", cmd.CommandPath())
		}
		for _, p := range completion.Placeholders(cmd) {
			arguments++
			if name, _ := completion.Argument(p); !completion.Known(cmd, name) {
				t.Errorf("%s: the argument %s is not in completion/tables.go", cmd.CommandPath(), name)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
	t.Logf("%d flags, %d arguments", flags, arguments)
	if flags < 150 || arguments < 30 {
		t.Errorf("only %d flags and %d arguments were found", flags, arguments)
	}
}

// offered are the words that complete the last word of a command line.
func (s *shell) offered(words ...string) []string {
	s.t.Helper()
	r := s.run(append([]string{"__complete"}, words...)...)
	if r.code != 0 || strings.Contains(r.err, "rror") {
		s.t.Errorf("complete %q: %+v", words, r)
	}
	var list []string
	for line := range strings.Lines(r.out) {
		if word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); !strings.HasPrefix(word, ":") {
			list = append(list, word)
		}
	}
	return list
}

// The daemon offers what exists: numbers, names, elements, nodes and so on.
func TestCompletionOfTheDaemon(t *testing.T) {
	s := held(t)
	user := strings.Fields(s.ok("whoami", "-o", "template={{.name}}"))[0]
	s.ok("accounts", "add", user, "--role", "admin", "--local")
	s.ok("token", "create", "--name", "laptop")
	s.ok("pools", "set", "shared")
	for line, want := range map[string]string{
		"delete ":                      "7 2 1 single sweep climate",
		"delete s":                     "single sweep",
		"delete sweep ":                "7 2 1 single climate",
		"delete sweep[":                "sweep[1] sweep[2] sweep[3] sweep[4] sweep[5]",
		"delete 2[":                    "2[1] 2[2] 2[3] 2[4] 2[5]",
		"delete climate[":              "",
		"delete nothing":               "",
		"delete %":                     "",
		"walltime cl":                  "climate",
		"walltime climate ":            "7 2 1 single sweep",
		"moves climate m":              "manual",
		"show sw":                      "sweep",
		"nodes drain ":                 "n1 n2",
		"nodes drain n1 ":              "n2",
		"nodes show n1 ":               "",
		"submit --ban n1,":             "n1,n1 n1,n2",
		"submit --queue ":              "batch",
		"submit --after ok:c":          "ok:climate",
		"submit --after n":             "notok:",
		"submit --image ":              "simulated",
		"submit --pool s":              "shared",
		"submit --name ":               "",
		"list --label ":                "campaign=",
		"list --label campaign=":       "campaign=7 campaign=8",
		"list --project ":              "physics",
		"list --name s":                "single sweep",
		"list --node n":                "n1 n2",
		"list --outcome ":              "completed overdue deleted broken failed",
		"list --state run":             "running",
		"list --state running,wai":     "running,waiting",
		"list --columns id,labels":     "id,labels",
		"list --sort=-prio":            "-priority",
		"list --user ":                 "root",
		"pools show ":                  "cluster shared",
		"pools move climate sh":        "shared",
		"token revoke ":                "1",
		"events --vjob cl":             "climate",
		"events --kind al":             "alarm",
		"nodes --columns mem":          "memory-used memory",
		"-o t":                         "table template=",
		"plans show ":                  "",
		"accounts change --role a":     "admin",
		"submit --yields ":             "suspend end never",
		"recommendations --state pend": "pending",
		"whoami ":                      "",
	} {
		words := strings.Split(line, " ")
		got := s.offered(words...)
		if last := words[len(words)-1]; last != "" { // as the shell does
			got = slices.DeleteFunc(got, func(w string) bool {
				return !strings.HasPrefix(w, last[strings.IndexByte(last, '=')+1:]) && !strings.HasPrefix(w, last)
			})
		}
		want = strings.ReplaceAll(want, "root", user)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: %q, want %q", line, text, want)
		}
	}
}

// Without a daemon completion is silent, and knows what is fixed.
func TestCompletionWithoutADaemon(t *testing.T) {
	for _, server := range []string{"unix:///nonexistent/s", "http://127.0.0.1:1", "nonsense"} {
		s := &shell{t: t, env: map[string]string{"VJOB_SERVER": server}}
		for _, line := range []string{"delete ", "delete sweep[", "nodes drain ", "list --label ", "list --project ", "list --user ", "submit --image ", "plans show ", "token revoke ", "energy now --by "} {
			if got := s.offered(strings.Split(line, " ")...); len(got) > 0 {
				t.Errorf("%s, %s: %q", server, line, got)
			}
		}
		if got := s.offered("list", "--state", "run"); !slices.Equal(got, []string{"running"}) {
			t.Errorf("states: %q", got)
		}
	}
}

// Candidates cannot take over the terminal, nor add others.
func TestCompletionNothingRaw(t *testing.T) {
	s, _ := against(t, busyCluster())
	for _, word := range s.offered("delete", "") {
		if strings.ContainsAny(word, "\x1b\u202e") {
			t.Errorf("%q", word)
		}
	}
	if out := s.ok("completion", "--help"); !strings.Contains(out, "fpath=") || !strings.Contains(out, "bash-completion") {
		t.Errorf("help: %s", out)
	}
}
