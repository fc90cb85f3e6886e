package main

import (
	"strings"
	"testing"

	"vjob/cmd/vjob/cli"
)

// Every command stands in one group of the help, and its synonyms are commands of no other name.
func TestCommandsAreGrouped(t *testing.T) {
	root := tree(&cli.App{Streams: cli.Standard()}, nil)
	words := map[string]string{}
	for _, c := range root.Commands() {
		if c.GroupID == "" {
			t.Errorf("vjob %s stands in no group", c.Name())
		}
		for _, word := range append(c.Aliases, c.Name()) {
			if other := words[word]; other != "" {
				t.Errorf("%s means %s and %s", word, other, c.Name())
			}
			words[word] = c.Name()
		}
	}
	for _, word := range []string{"cancel", "kill", "ps", "top", "status", "info", "run"} {
		if words[word] == "" {
			t.Errorf("vjob %s is unknown", word)
		}
	}
}

// Words of other programs, and words that mean several commands, are answered with what is meant; others are not guessed.
func TestHints(t *testing.T) {
	s := &shell{t: t, env: map[string]string{"HOME": t.TempDir(), "VJOB_SERVER": "unix:///nonexistent"}}
	for word, want := range map[string]string{
		"stop": "want delete, which ends vjobs, or suspend", "squeue": "want list", "doctor": "want admin doctor", "lst": "want probably list",
	} {
		s.fails(cli.ExitInput, want, word)
	}
	if r := s.run("frobnicate"); r.code != cli.ExitInput || strings.Contains(r.err, "want") {
		t.Errorf("%+v", r)
	}
	s.fails(cli.ExitInput, "--cpu: ", "submit", "--cpus", "many", "--memory", "1GiB", "--hold")
	s.fails(cli.ExitInput, `"--vms" flag`, "submit", "--count", "many")
	s.fails(cli.ExitInput, "--user: given beside vjobs", "list", "--owner", "ada", "7")
	if out := s.ok("--help"); strings.Index(out, "Run work:") > strings.Index(out, "Administer:") || !strings.Contains(out, "  submit ") {
		t.Errorf("help:\n%s", out)
	}
}
