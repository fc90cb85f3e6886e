package plan

import (
	"fmt"
	"io"
	"time"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/repack"
)

// searchLine is a line on the standard error that shows the progress of a search, redrawn in
// place. Without a terminal it prints nothing.
type searchLine struct {
	out       io.Writer
	objective string
	deadline  time.Duration
	last      time.Duration
	best      int64
	bound     int64
	known     bool
	count     int
	drawn     bool
}

func newLine(a *cli.App, f *planFlags) *searchLine {
	l := &searchLine{objective: f.objective, deadline: f.deadline}
	if a.Width() > 0 {
		l.out = a.Err
	}
	return l
}

// found notes a better plan.
func (l *searchLine) found(f repack.Figures, bound int64) {
	l.best, l.known = value(l.objective, &f)
	l.bound = bound
	l.count++
}

// show draws the line, at most ten times a second.
func (l *searchLine) show(passed time.Duration) {
	if l.out == nil || l.drawn && passed-l.last < 100*time.Millisecond {
		return
	}
	l.last, l.drawn = passed, true
	text := "looking for a plan"
	if l.count > 0 {
		text = cluster.Count(l.count, "plan") + ", the best has " + l.objective
		if l.known {
			text = fmt.Sprintf("%s, %s %d%s", cluster.Count(l.count, "plan"), l.objective, l.best, l.gap())
		}
	}
	if l.deadline > 0 {
		text += fmt.Sprintf("  %s %s of %s", display.Gauge(float64(passed)/float64(l.deadline), 24), display.Span(passed), display.Span(l.deadline))
	} else {
		text += "  " + display.Span(passed)
	}
	_, _ = fmt.Fprintf(l.out, "\r%s\x1b[K", text)
}

// gap is how far the best plan may be from the best there is.
func (l *searchLine) gap() string {
	switch {
	case l.bound <= 0:
		return ""
	case l.best <= l.bound:
		return ", the best there is"
	default:
		return fmt.Sprintf(", at most %.1f %% above the best there is", 100*float64(l.best-l.bound)/float64(l.bound))
	}
}

func (l *searchLine) end() {
	if l.drawn {
		_, _ = io.WriteString(l.out, "\r\x1b[K")
	}
}
