package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// guideBlock is an example of the guide, with the output that it shows.
var guideBlock = regexp.MustCompile("(?s)```(sh|python)\n(.*?)```\n\n```text\n(.*?)```")

// TestRESTGuide runs the examples of docs/how-to/use-the-rest-api.md against a daemon, and compares what they print with what
// the page shows. The blocks of Python are one program.
func TestRESTGuide(t *testing.T) {
	for _, tool := range []string{"curl", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("under CI the guide must run: %v", err)
			}
			t.Skipf("THE GUIDE FOR PROGRAMMERS IS NOT TESTED: %v", err)
		}
	}
	page, err := os.ReadFile("../../docs/how-to/use-the-rest-api.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := guideBlock.FindAllStringSubmatch(string(page), -1)
	if all := strings.Count(string(page), "```sh\n") + strings.Count(string(page), "```python\n"); len(blocks) != all || all < 8 {
		t.Fatalf("%d of %d examples have an output behind them", len(blocks), all)
	}
	s, d := live(t)
	s.ok("accounts", "add", "ada", "--groups", "none")
	words := strings.Fields(s.ok("token", "create", "--user", "ada", "--name", "laptop"))
	env := append(os.Environ(),
		"SOCKET="+strings.TrimPrefix(s.env["VJOB_SERVER"], "unix://"), "SERVER=http://"+d.Addresses()[1].String(), "TOKEN="+words[len(words)-1])
	const mark = "----\n"
	var program, want strings.Builder
	for _, b := range blocks {
		kind, code, shown := b[1], b[2], b[3]
		if kind == "python" {
			program.WriteString(code + "\nprint('----')\n")
			want.WriteString(shown + mark)
			continue
		}
		runExample(t, env, shown, "sh", "-euc", code)
	}
	runExample(t, env, want.String(), "python3", "-c", program.String())
}

// runExample runs a command and compares its output with a text in which … stands for anything.
func runExample(t *testing.T, env []string, want, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", `.*`)
	if got := strings.TrimRight(string(out), "\n"); err != nil || !regexp.MustCompile("^"+strings.TrimRight(pattern, "\n")+"$").MatchString(got) {
		t.Errorf("%s\n%v: printed\n%s\nthe page shows\n%s", args[len(args)-1], err, got, want)
	}
}
