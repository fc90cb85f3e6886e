package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"vjob/cmd/vjob/cli"
)

var (
	quotedText = regexp.MustCompile("`([^`]+)`")
	shellWord  = regexp.MustCompile(`'[^']*'|[^\s']+`)
)

// shellWords splits a command line as a shell does that knows blanks and single quotes only.
func shellWords(line string) (words []string) {
	for _, word := range shellWord.FindAllString(line, -1) {
		words = append(words, strings.Trim(word, "'"))
	}
	return words
}

// TestFromSlurm parses each command of docs/how-to/come-from-slurm.md, with its flags and the number
// of its arguments, and types each command of Slurm there, which has to be answered with what is meant.
func TestFromSlurm(t *testing.T) {
	text, err := os.ReadFile("../../docs/how-to/come-from-slurm.md")
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{t: t, env: map[string]string{"HOME": t.TempDir(), "VJOB_SERVER": "unix:///nonexistent"}}
	commands, slurm := 0, 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `s") {
			continue
		}
		cells := strings.Split(line, " | ")
		if len(cells) != 2 {
			t.Fatalf("%q has %d cells", line, len(cells))
		}
		for _, m := range quotedText.FindAllStringSubmatch(cells[0], -1) {
			word, _, _ := strings.Cut(m[1], " ")
			s.fails(cli.ExitInput, "want ", word)
			slurm++
		}
		for _, m := range quotedText.FindAllStringSubmatch(cells[1], -1) {
			command, ours := strings.CutPrefix(m[1], "vjob ")
			if !ours {
				continue
			}
			commands++
			words := shellWords(command)
			c, rest, err := tree(&cli.App{Streams: cli.Standard()}, nil).Find(words)
			if err != nil {
				t.Errorf("vjob %s: %v", command, err)
				continue
			}
			if err := c.ParseFlags(rest); err != nil {
				t.Errorf("vjob %s: %v", command, err)
			} else if err := c.ValidateArgs(c.Flags().Args()); err != nil {
				t.Errorf("vjob %s: %v", command, err)
			}
		}
	}
	if t.Logf("%d commands, %d of Slurm", commands, slurm); commands < 30 || slurm < 30 {
		t.Errorf("%d commands and %d of Slurm were found: the pattern of the page no longer matches", commands, slurm)
	}
}
