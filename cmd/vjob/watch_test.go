package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// await waits until the program has printed a text behind what it had printed before.
func (p *pseudo) await(text string, from int) {
	p.t.Helper()
	for {
		if strings.Contains(p.all()[from:], text) {
			return
		}
		select {
		case <-p.grown:
		case <-time.After(patience):
			p.t.Fatalf("%q was not printed; printed behind %d: %q", text, from, p.all()[from:])
		}
	}
}

// redrawn waits for a text after keys. The terminal becomes another size, so that all of it is drawn.
func (p *pseudo) redrawn(width, height uint16, text string) {
	p.t.Helper()
	from := len(p.all())
	p.resize(width, height)
	p.await(text, from)
}

// frail answers as the daemon of [busyCluster], or not at all while down.
type frail struct {
	fake
	down atomic.Bool
}

func (d *frail) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.down.Load() {
		panic(http.ErrAbortHandler)
	}
	f := fake{answers: d.answers}
	f.ServeHTTP(w, r)
}

// onWatch starts vjob watch on a terminal.
func onWatch(t *testing.T, env ...string) (*pseudo, *frail) {
	t.Helper()
	d := &frail{fake: fake{answers: busyCluster()}}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	return onTerminal(t, 100, 24, append([]string{"VJOB_SERVER=" + server.URL}, env...), "watch", "--interval", "100ms"), d
}

// TestWatch goes through the pages with keys, on terminals of several sizes, and leaves the terminal as it was.
func TestWatch(t *testing.T) {
	p, _ := onWatch(t)
	p.await("VJOBS 1/3", 0)
	p.press("\r")
	p.redrawn(101, 24, "VJOB 12 climate")
	p.press("o")
	p.redrawn(100, 24, "OUTPUT of VM 12.0")
	p.press("3")
	p.redrawn(101, 24, "PLANS 1/2") // Enter opens what is there
	p.press("\r")
	p.redrawn(60, 20, "PLAN 4")
	p.press("1/n2\r")
	p.redrawn(40, 10, "n2")
	p.press("q")
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	if text := p.all(); !strings.Contains(text, "\x1b[?1049h") || strings.LastIndex(text, "\x1b[?1049l") < strings.LastIndex(text, "\x1b[?1049h") {
		t.Error("the terminal is not left as it was")
	}
}

// TestWatchLosesTheDaemon: the view stays, says so, and goes on when the daemon answers again.
func TestWatchLosesTheDaemon(t *testing.T) {
	p, d := onWatch(t)
	p.await("VJOBS 1/3", 0)
	d.down.Store(true)
	p.await("NO ANSWER since", 0)
	p.redrawn(101, 24, "climate")
	d.down.Store(false)
	for width := uint16(100); ; width = 201 - width {
		from := len(p.all())
		p.redrawn(width, 24, "VJOBS 1/3")
		if !strings.Contains(p.all()[from:], "NO ANSWER") {
			break
		}
	}
	p.press("\x03")
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
}

// TestWatchWithoutColours: NO_COLOR holds on terminals, too, and the row of the cursor is marked all the same.
func TestWatchWithoutColours(t *testing.T) {
	p, _ := onWatch(t, "NO_COLOR=1")
	p.await("> 12", 0)
	p.press("q")
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\x1b\[[0-9][0-9;]*m`).FindString(p.all()); found != "" {
		t.Errorf("printed %q: %q", found, p.all())
	}
}
