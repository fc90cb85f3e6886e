package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"vjob/cmd/vjob/cli"
)

// pictures collects what is printed, and ends the command after so many pieces.
type pictures struct {
	text bytes.Buffer
	left int
	stop context.CancelFunc
}

func (p *pictures) Write(b []byte) (int, error) {
	if p.left--; p.left <= 0 {
		p.stop()
	}
	return p.text.Write(b)
}

// watched runs a command with --watch until it has printed three times.
func watched(t *testing.T, s *shell, width, height int, args ...string) (string, int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := &pictures{left: 3, stop: stop}
	code := run(ctx, cli.Streams{
		Out: out, Err: out, Now: func() time.Time { return noon }, Getenv: func(k string) string { return s.env[k] },
		Width: func() int { return width }, Height: func() int { return height },
	}, append(args, "--watch=100ms"))
	return out.text.String(), code
}

// --watch draws over the picture before on a terminal, not beyond its height, and ends by an interrupt; elsewhere an
// empty line separates the pictures.
func TestWatchOfLists(t *testing.T) {
	s, _ := against(t, busyCluster())
	out, code := watched(t, s, 200, 6, "nodes", "--sort", "-node")
	if code != cli.ExitOK || strings.Count(out, "\x1b[2J") != 1 || strings.Count(out, "\x1b[H") != 3 || strings.Count(out, "every 100ms; 2026-11-21 12:00:00; ^C ends") != 3 {
		t.Errorf("exit %d: %q", code, out)
	}
	if !strings.Contains(out, "NODE") || strings.Contains(out, "n1 ") || strings.Count(out, "… and 2 lines more") != 3 {
		t.Errorf("six lines: %q", out)
	}
	out, code = watched(t, s, 0, 0, "list", "--columns", "id", "--sort", "-id")
	if want := "ID\n14\n13\n12\n"; code != cli.ExitOK || out != want+"\n"+want+"\n"+want {
		t.Errorf("exit %d: %q, want three of %q", code, out, want)
	}
	out, code = watched(t, s, 0, 0, "nodes", "-o", "template={{len .nodes}}")
	if out != "3\n3\n3\n" || code != cli.ExitOK {
		t.Errorf("exit %d: %q", code, out)
	}
}

// The first failure ends --watch: there is nothing to show.
func TestWatchFails(t *testing.T) {
	s, _ := against(t, map[string]any{})
	if r := s.run("list", "--watch"); r.code != cli.ExitNotFound || r.out != "" {
		t.Errorf("%+v", r)
	}
	s.fails(cli.ExitInput, "--watch: given beside --follow", "events", "--watch", "--follow")
}
