package execute

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// ending is when the walltime of a vjob will be over if it goes on running.
type ending struct {
	at   time.Time
	vjob cluster.VJobID
}

// endings is a heap, the soonest first. Those of vjobs that run no more are found out
// when their turn comes.
type endings []ending

func (h endings) Len() int           { return len(h) }
func (h endings) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h endings) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *endings) Push(x any)        { *h = append(*h, x.(ending)) } //nolint:forcetypeassert // only endings are pushed
func (h *endings) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	*h = (*h)[:last]
	return e
}

// end is when the walltime of a vjob that runs is over if its nodes stay as crowded as they
// are; zero if it does not run, or may for ever.
func (p *gangState) end() time.Time {
	if p.job.Walltime <= 0 || p.rec.Phase != gang.Active {
		return time.Time{}
	}
	at := p.marked.Add(p.job.Walltime - p.ran)
	if p.short > 0 {
		at = at.Add(p.grace())
	}
	return at
}

// awaitEnd notes when a vjob that has begun to run has to end.
func (e *Executor) awaitEnd(p *gangState) {
	if at := p.end(); !at.IsZero() {
		heap.Push(&e.ends, ending{at, p.job.ID})
	}
}

// SetWalltime gives a vjob another walltime; 0 is unlimited. It fails with
// cluster.ErrNotFound.
func (e *Executor) SetWalltime(now time.Time, id cluster.VJobID, walltime time.Duration, text string) error {
	e.now = now
	p, ok := e.gangs[id]
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	p.changing().Walltime = walltime
	e.awaitEnd(p)
	e.changes++
	e.out.Step.Spans = append(e.out.Step.Spans, journal.WalltimeChange{ID: id, Walltime: walltime})
	e.event(journal.Event{Kind: journal.EventState, VJob: id, State: p.job.State.String(), Text: text})
	return nil
}

// NextEnd is when the next walltime will be over; zero when none will.
func (e *Executor) NextEnd() time.Time {
	for ; len(e.ends) > 0; heap.Pop(&e.ends) {
		next := e.ends[0]
		if p, live := e.gangs[next.vjob]; live && p.end().Equal(next.at) && next.at.After(e.now) {
			return next.at
		}
	}
	return time.Time{}
}

// Overdue lists the vjobs that have reached their walltime, in order.
func (e *Executor) Overdue() (over []cluster.VJobID) {
	for id, p := range e.gangs {
		if wall := p.job.Walltime; wall > 0 && p.rec.Phase != gang.Clearing && p.ranAt(e.now) >= wall {
			over = append(over, id)
		}
	}
	slices.Sort(over)
	return over
}
