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

// Walltimes tells when vjobs reach their walltime.
type Walltimes struct {
	*batch
	gangs *gangs
	ends  endings
}

// await notes when a vjob that has begun to run has to end.
func (wt *Walltimes) await(p *gangState) {
	if at := p.end(); !at.IsZero() {
		heap.Push(&wt.ends, ending{at, p.job.ID})
	}
}

// Set gives a vjob another walltime; 0 is unlimited. It fails with
// cluster.ErrNotFound.
func (wt *Walltimes) Set(now time.Time, id cluster.VJobID, walltime time.Duration, text string) error {
	wt.now = now
	p, ok := wt.gangs.live[id]
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	p.changing().Walltime = walltime
	wt.changed(p)
	wt.await(p)
	wt.changes++
	wt.out.Step.Spans = append(wt.out.Step.Spans, journal.WalltimeChange{ID: id, Walltime: walltime})
	wt.event(journal.Event{Kind: journal.EventState, VJob: id, State: p.job.State.String(), Text: text})
	return nil
}

// Next is when the next walltime will be over; zero when none will.
func (wt *Walltimes) Next() time.Time {
	for ; len(wt.ends) > 0; heap.Pop(&wt.ends) {
		next := wt.ends[0]
		if p, live := wt.gangs.live[next.vjob]; live && p.end().Equal(next.at) && next.at.After(wt.now) {
			return next.at
		}
	}
	return time.Time{}
}

// Overdue lists the vjobs that have reached their walltime, in order.
func (wt *Walltimes) Overdue() (over []cluster.VJobID) {
	for id, p := range wt.gangs.begun {
		if wall := p.job.Walltime; wall > 0 && p.rec.Phase != gang.Clearing && p.account.ranAt(p.job, wt.now) >= wall {
			over = append(over, id)
		}
	}
	slices.Sort(over)
	return over
}
