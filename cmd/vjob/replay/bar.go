package replay

import (
	"fmt"
	"io"
	"time"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/sim/replay"
)

// progressBar is one line on the standard error, redrawn in place.
type progressBar struct {
	out   io.Writer // nil without a terminal
	name  string
	noun  string // of what is counted
	now   func() time.Time
	last  time.Time
	drawn bool
}

func progress(a *cli.App, name, noun string) *progressBar {
	bar := &progressBar{name: name, noun: noun, now: a.Now, last: a.Now()}
	if a.Width() > 0 {
		bar.out = a.Err
	}
	return bar
}

// show draws the bar, at most ten times a second.
func (b *progressBar) show(done, all int, at time.Duration) {
	if b.out == nil || b.now().Sub(b.last) < 100*time.Millisecond {
		return
	}
	b.last, b.drawn = b.now(), true
	_, _ = fmt.Fprintf(b.out, "\r%-9s %s %d of %d %s, %s of virtual time\x1b[K", b.name, display.Gauge(float64(done)/float64(max(1, all)), 24), done, all, b.noun, replay.Clock(at))
}

func (b *progressBar) end() {
	if b.drawn {
		_, _ = io.WriteString(b.out, "\r\x1b[K")
	}
}
