package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"vjob/cluster"
)

// TestExamples submits every sample vjob file to a daemon on its defaults.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	s, _ := liveWith(t, nil)
	for _, f := range files {
		s.ok("submit", f)
	}
	s.waitFor("running", "list")
}

// Every command has an example, and the program takes each one: its command, flags and arguments.
func TestExamplesAreTaken(t *testing.T) {
	lines := 0
	eachCommand(rootCommand().Commands(), nil, func(path []string, c *cobra.Command) {
		name := strings.Join(path, " ")
		if path[0] == "help" || path[0] == "completion" {
			return
		}
		if c.Example == "" {
			t.Errorf("vjob %s has no example", name)
		}
		for line := range strings.Lines(c.Example) {
			for part := range strings.SplitSeq(line, "&&") {
				words := exampleWords(part)
				if len(words) == 0 || words[0] != "vjob" {
					continue
				}
				lines++
				if err := takes(words[1:]); err != nil {
					t.Errorf("vjob %s: %q: %v", name, strings.TrimSpace(line), err)
				}
			}
		}
	})
	t.Logf("%d command lines", lines)
	if lines < 100 {
		t.Errorf("only %d command lines were found", lines)
	}
	for name := range examples {
		if c, rest, err := rootCommand().Find(strings.Fields(name)); err != nil || len(rest) > 0 || c.Example == "" {
			t.Errorf("examples has %q, which is no command", name)
		}
	}
}

// exampleWords splits a line as a shell does, up to a comment or a redirection.
func exampleWords(line string) []string {
	words, err := cluster.Words(line)
	if err != nil {
		return nil
	}
	for i, w := range words {
		if strings.HasPrefix(w, "#") || strings.HasPrefix(w, ">") || strings.HasPrefix(w, "<") || w == "|" {
			return words[:i]
		}
	}
	return words
}

// takes has the program parse a command line.
func takes(words []string) error {
	c, rest, err := rootCommand().Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}
