package main

import (
	"fmt"
	"io"
	"time"

	"vjob/repack"
)

// planLine is one line on the standard error that follows a search, redrawn in
// place; nothing when nobody looks.
type planLine struct {
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

func (a *app) planLine(f *planFlags) *planLine {
	l := &planLine{objective: f.objective, deadline: f.deadline}
	if a.width() > 0 {
		l.out = a.err
	}
	return l
}

// found notes a better plan.
func (l *planLine) found(f repack.Figures, bound int64) {
	l.best, l.known = value(l.objective, &f)
	l.bound = bound
	l.count++
}

// show draws the line, at most ten times a second.
func (l *planLine) show(passed time.Duration) {
	if l.out == nil || l.drawn && passed-l.last < 100*time.Millisecond {
		return
	}
	l.last, l.drawn = passed, true
	text := "looking for a plan"
	if l.count > 0 {
		text = count(l.count, "plan") + ", the best has " + l.objective
		if l.known {
			text = fmt.Sprintf("%s, %s %d%s", count(l.count, "plan"), l.objective, l.best, l.gap())
		}
	}
	if l.deadline > 0 {
		text += fmt.Sprintf("  %s %s of %s", gauge(float64(passed)/float64(l.deadline), 24), span(passed), span(l.deadline))
	} else {
		text += "  " + span(passed)
	}
	_, _ = fmt.Fprintf(l.out, "\r%s\x1b[K", text)
}

// gap is how far the best plan may be from the best there is.
func (l *planLine) gap() string {
	switch {
	case l.bound <= 0:
		return ""
	case l.best <= l.bound:
		return ", the best there is"
	default:
		return fmt.Sprintf(", at most %.1f %% above the best there is", 100*float64(l.best-l.bound)/float64(l.bound))
	}
}

func (l *planLine) end() {
	if l.drawn {
		_, _ = io.WriteString(l.out, "\r\x1b[K")
	}
}
