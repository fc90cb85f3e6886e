package scheduler

import (
	"sync/atomic"
	"time"

	"vjob/ctxswitch/journal"
)

// board shows the latest snapshot of the loop.
type board struct {
	now      func() time.Time
	snapshot atomic.Pointer[Snapshot]
	shown    time.Time     // of the last snapshot with the status of all nodes as of then
	showing  time.Duration // how long that took
}

// newBoard returns a board that shows an empty cluster.
func newBoard(now func() time.Time) *board {
	b := &board{now: now}
	b.snapshot.Store(&Snapshot{VJobs: Statuses{}})
	return b
}

// latest returns the latest snapshot.
func (b *board) latest() *Snapshot { return b.snapshot.Load() }

// showEvery is how old the snapshot may be: with thousands of vjobs it is not
// taken after every reply. Where it takes long, a tenth of the time goes there.
const (
	showEvery = 100 * time.Millisecond
	showShare = 10
)

// show publishes a snapshot when the last one is old enough.
func (b *board) show(core *Core) {
	if began := b.now(); began.Sub(b.shown) >= max(showEvery, showShare*b.showing) || !b.latest().Ready {
		b.snapshot.Store(core.Snapshot())
		b.shown, b.showing = began, b.now().Sub(began)
	}
}

// showStep publishes a snapshot with a step that was committed. The status of nodes may be older, unless the step has
// changed what is declared of them: it costs as much as there are nodes.
func (b *board) showStep(core *Core, step *journal.Step) {
	if last := b.latest(); last.Ready && len(step.Nodes)+len(step.Power) == 0 {
		b.snapshot.Store(core.snapshotWith(last.Nodes))
		return
	}
	b.snapshot.Store(core.Snapshot())
}

// publishBroken shows in the snapshot that the loop has stopped.
func (b *board) publishBroken(err error) {
	broken := *b.snapshot.Load()
	broken.Ready, broken.Broken = false, err.Error()
	b.snapshot.Store(&broken)
}
