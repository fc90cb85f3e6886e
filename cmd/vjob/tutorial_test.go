package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/tests/golden"
)

// seconds are the times in what a tutorial prints, which differ from run to run.
var seconds = regexp.MustCompile(`\b\d+(\.\d+)?s\b`)

// The commands of the tutorial print what it says. -update writes what they print.
func TestTutorial(t *testing.T) {
	const path = "../../docs/tutorial/ten-minutes.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := liveWith(t, nil)
	var b strings.Builder
	block, commands, code := false, 0, 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			block = strings.HasPrefix(line, "```console")
		}
		command, typed := strings.CutPrefix(line, "$ ")
		if block && !typed && !strings.HasPrefix(line, "```") {
			continue // what a command printed
		}
		b.WriteString(line)
		if !block || !typed {
			continue
		}
		commands++
		words, err := cluster.Words(strings.TrimSpace(command))
		switch {
		case err == nil && words[0] == "vjob":
			r := s.run(words[1:]...)
			code = r.code
			b.WriteString(seconds.ReplaceAllString(r.out+r.err, "1s"))
		case err == nil && words[0] == "echo":
			fmt.Fprintln(&b, code)
		default:
			t.Errorf("%q is neither vjob nor echo: %v", command, err)
		}
	}
	if commands < 10 {
		t.Errorf("only %d commands were found", commands)
	}
	golden.Same(t, path, b.String())
}
