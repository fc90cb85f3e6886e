package watch

import (
	"time"

	"vjob/cmd/vjob/watch/screen"
)

// pace decides when the next look is due, so that a view asks little of the daemon: soon after something has happened,
// rarely while nothing does, and the later the longer a look takes.
type pace struct {
	every time.Duration // between two looks, at least

	began  time.Time     // of the last look
	took   time.Duration // it
	news   bool          // something has happened since it began
	failed int           // looks without an answer, one after the other
}

// The pace in parts of the least time between two looks, and of the time that a look takes.
const (
	idle       = 10 // times the least time between two looks, while nothing happens
	rested     = 10 // times the duration of a look between two of them: a tenth of the time at most
	idleRested = 20 // that, while nothing happens
	mostFailed = 4  // doublings of the time between two looks without an answer
)

// due returns when to look again for what is shown. Moving says that it changes by itself; the events tell nothing of
// output.
func (p *pace) due(q screen.Query, moving bool) time.Time {
	switch {
	case p.failed > 0:
		return p.began.Add(p.took + p.every<<min(p.failed, mostFailed))
	case q.Kind == screen.Events: // events come by themselves; the look is for the line below the pages
		return p.began.Add(idle * p.every)
	case p.news || moving:
		return p.began.Add(max(p.every, rested*p.took))
	case q.Kind == screen.Output:
		return p.began.Add(max(2*p.every, rested*p.took))
	}
	return p.began.Add(max(idle*p.every, idleRested*p.took))
}
