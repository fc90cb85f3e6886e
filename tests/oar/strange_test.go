package oar_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vjob/cmd/vjob-oar/command"
)

// strangeWords are values that no command expects, and some that look as if they were right.
var strangeWords = []string{
	"", " ", "-", "--", "-1", "0", "1", "99999999999999999999", "1.5", "x", "é", "a\x1b[2J", "a\x00b", "'", "=", "@", "node-1", "vjob-1-0", "../../etc/passwd", "/", "%s%d", "1=1",
	"state = 'x'", "host,", "+", "-:", ":", strings.Repeat("9", 400), strings.Repeat("y", 70_000),
}

// optionName matches the options in the help of a command.
var optionName = regexp.MustCompile(`(?m)^  (?:-(\S), |    )--(\S+)`)

// No command line makes a command panic, hang, or print what a terminal would obey: each command with 0 to 4
// arguments, and each option with every strange value.
func TestStrangeLines(t *testing.T) {
	x := open(t)
	x.exec = func(context.Context, []string) (int, error) { return 0, nil }
	pauses := 0
	x.pause = func() {
		if pauses++; pauses > 3 && x.interrupt != nil {
			x.interrupt()
		}
	}
	x.env["OAR_JOB_ID"] = x.sub("alice", "--hold", "true")
	try := func(name string, line ...string) {
		t.Helper()
		pauses = 0
		shown := strings.Join(line, "|")
		if len(shown) > 100 {
			shown = shown[:100] + "…"
		}
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("oar%s %q panics: %v", name, shown, p)
			}
		}()
		r := x.run("alice", name, line...)
		if said := r.out + r.err; strings.Contains(said, "goroutine") || strings.ContainsFunc(said, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }) {
			t.Errorf("oar%s %q says %q", name, shown, said)
		}
		if r.code < 0 || r.code > 255 || len(r.err) > 20_000 {
			t.Errorf("oar%s %q: exit %d, %d bytes on standard error", name, shown, r.code, len(r.err))
		}
	}
	for _, name := range command.Names() {
		for n := range 5 {
			for i := range strangeWords {
				rotated := slices.Concat(strangeWords[i:], strangeWords[:i])
				try(name, rotated[:n]...)
			}
		}
		for _, o := range optionName.FindAllStringSubmatch(x.run("alice", name, "--help").out, -1) {
			for _, value := range strangeWords {
				try(name, "--"+o[2]+"="+value)
				try(name, "--"+o[2], value, "1")
				if o[1] != "" {
					try(name, "-"+o[1]+value)
				}
			}
		}
	}
}
