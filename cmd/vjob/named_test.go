package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/completion"
)

// ofVJobs are all commands that take vjobs: what follows these, and how the command ends for vjobs that are held.
var ofVJobs = map[string]struct {
	operand string
	code    int
	text    string // that the command prints
}{
	"list":       {"", 0, "held"},
	"show":       {"", 0, "held"},
	"logs":       {"", cli.ExitNotFound, "has printed nothing"},
	"wait":       {"--timeout=1ms", cli.ExitTimeout, "the timeout of 1ms is over"},
	"hold":       {"--yes", 0, "will be held"},
	"release":    {"--yes", 0, ""},
	"suspend":    {"--yes", cli.ExitConflict, "waiting"},
	"resume":     {"--yes", 0, ""},
	"requeue":    {"--yes", cli.ExitConflict, "waiting"},
	"walltime":   {"2:00:00", 0, "2:00:00"},
	"moves":      {"never", 0, "never"},
	"pools move": {"shared", 0, "shared"},
	"restore":    {"", cli.ExitInput, "no images that could be restored"},
	"console":    {"", cli.ExitConflict, ""},
	"resubmit":   {"", cli.ExitConflict, "name"},
	"delete":     {"--yes", 0, "will end"},
}

// Each command that takes vjobs takes names, arrays, elements and ranges; console asks for one of several.
func TestCommandsTakeArrays(t *testing.T) {
	var names []string
	eachCommand(commands(&cli.App{Streams: cli.Standard()}), nil, func(path []string, c *cobra.Command) {
		for _, p := range completion.Placeholders(c) {
			if name, _ := completion.Argument(p); name == "VJOB" {
				names = append(names, strings.Join(path, " "))
			}
		}
	})
	for _, name := range names {
		if _, known := ofVJobs[name]; !known {
			t.Errorf("vjob %s takes vjobs: it has no line in ofVJobs", name)
		}
	}
	if len(names) != len(ofVJobs) {
		t.Errorf("%d commands take vjobs, %d are tested: %q", len(names), len(ofVJobs), names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, word := range []string{"climate", "2", "sweep[2]", "sweep[1,4-5]"} {
				s := held(t)
				s.ok("pools", "set", "shared")
				line := append(strings.Fields(name), word)
				want := ofVJobs[name]
				if want.operand != "" {
					line = append(line, want.operand)
				}
				if several := word != "climate" && word != "sweep[2]"; name == "console" && several {
					want.code, want.text = cli.ExitInput, "want one of them, such as"
				}
				r := s.run(line...)
				if r.code != want.code || !strings.Contains(r.out+r.err, want.text) {
					t.Errorf("%s: exit %d, want %d and %q: %s%s", word, r.code, want.code, want.text, r.out, r.err)
				}
			}
		})
	}
}

// The results of arrays are waited for, printed and repeated by their name and number, whole or in part.
func TestResultsOfArrays(t *testing.T) {
	s, _ := live(t)
	parameters := file(t, "0\n3\n5\n")
	s.ok("submit", "--name", "sweep", "--cpu", "0.5", "--mem", "256MiB", "--array-file", parameters, "--", "sh", "-c", "echo case $1; exit $1", "case")
	if r := s.run("wait", "sweep"); r.code != 5 || !strings.Contains(r.err, "array 1: 2 of 3 vjobs did not complete: vjob list --array 1 shows which") {
		t.Errorf("wait: %d %s", r.code, r.err)
	}
	if r := s.run("wait", "sweep[1-2]"); r.code != 3 {
		t.Errorf("wait for a part: %d %s", r.code, r.err)
	}
	s.ok("wait", "1[1]")
	if r := s.run("wait", "sweep[3]", "sweep[2]"); r.code != 5 || strings.Count(r.err, "has failed: ") != 2 {
		t.Errorf("wait for two: %d %s", r.code, r.err)
	}
	for words, want := range map[string]string{
		"logs sweep":             "sweep[1]: case 0\nsweep[2]: case 3\nsweep[3]: case 5\n",
		"logs 1[2-3]":            "sweep[2]: case 3\nsweep[3]: case 5\n",
		"logs -f sweep[2-3]":     "sweep[2]: case 3\nsweep[3]: case 5\n",
		"logs --tail 1 sweep[3]": "case 5\n",
		"logs sweep[3] sweep[1]": "sweep[3]: case 5\nsweep[1]: case 0\n",
	} {
		if out := s.ok(strings.Fields(words)...); out != want {
			t.Errorf("%s printed %q, want %q", words, out, want)
		}
	}
	for _, want := range []string{"array       1 sweep\n", "[1-3] 3 ended", "each needs  1 VM, 0.5 CPU, 256 MiB", "from uid ", "command     sh -c", "    2     2  3          failed"} {
		if out := s.ok("show", "sweep"); !strings.Contains(out, want) {
			t.Errorf("show lacks %q:\n%s", want, out)
		}
	}
	var listed wire.VJobList
	if err := json.Unmarshal([]byte(s.ok("list", "sweep[2-3]", "-o", "json")), &listed); err != nil || listed.Total != 2 || listed.VJobs[0].ID != 2 {
		t.Errorf("list: %+v, %v", listed, err)
	}
	if out := s.ok("events", "--vjob", "sweep[2-3]", "-o", "template={{range .events}}{{.vjob}} {{end}}"); !strings.Contains(out, "2 ") || !strings.Contains(out, "3 ") || strings.Contains(out, "1 ") {
		t.Errorf("events: %s", out)
	}
	if out := s.ok("show", "--file", "sweep[2-3]"); !strings.Contains(out, "name: sweep\n") || !strings.Contains(out, "- \"3\"\n") {
		t.Errorf("its file:\n%s", out)
	}
	if out := s.ok("resubmit", "sweep[2-3]"); out != "4\n" {
		t.Errorf("resubmit printed %q", out)
	}
	if r := s.run("wait", "4"); r.code != 5 {
		t.Errorf("wait for the copies: %d %s", r.code, r.err)
	}
	if out := s.ok("list", "--array", "4", "-o", "template={{range .vjobs}}{{.parameter}} {{end}}"); strings.Join(slices.Sorted(slices.Values(strings.Fields(out))), " ") != "3 5" {
		t.Errorf("the copies have the parameters %q", out)
	}
}

// A container is given by number or name.
func TestInnerTakesNames(t *testing.T) {
	s, _ := live(t)
	s.ok("submit", "--name", "box", "--container", "--cpu", "1", "--walltime", "1:00:00")
	s.ok("submit", "--name", "exercise", "--inner", "box", "--cpu", "0.5", "--mem", "256MiB", "--walltime", "1m", "--hold")
	if j := s.job("exercise"); j.Terms.Inner != "1" {
		t.Errorf("it is inside %q", j.Terms.Inner)
	}
	s.fails(cli.ExitInput, `inner: "cont" is`, "submit", "--inner", "cont", "--walltime", "1m")
	s.fails(cli.ExitInput, `inner: "0" is`, "submit", "--inner", "0", "--walltime", "1m")
}

// A what-if takes what submit takes: scripts, and names of vjobs.
func TestWhatIfTakesScriptsAndNames(t *testing.T) {
	s, _ := live(t)
	script := file(t, "#!/bin/sh\n#VJOB --vms 2 --cpu 0.5 --mem 256MiB --walltime 1:00:00\necho hello\n")
	if out := s.ok("plan", "--what-if", "--submit", script); !strings.Contains(out, "boot") {
		t.Errorf("submit:\n%s", out)
	}
	s.ok("submit", "--name", "sweep", "--array", "2", "--hold")
	s.ok("plan", "--what-if", "--without", "sweep")
	s.ok("plan", "--what-if", "--place", "sweep[1]")
	s.fails(cli.ExitInput, `place: "nothing"`, "plan", "--what-if", "--place", "nothing")
	s.fails(cli.ExitInput, "such-file", "plan", "--what-if", "--submit", "such-file")
}

// Every kind of event can be asked for.
func TestKindsOfEvents(t *testing.T) {
	s, _ := live(t)
	for _, kind := range []string{"notify", "recommendation", "alarm"} {
		s.ok("events", "--kind", kind)
	}
}
