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
	observed observation   // as of then
	news     bool          // a step was written since then
}

// observation tells states of a core apart that clients should see soon.
type observation struct {
	changes, offers uint64    // of the executor
	decided         time.Time // the last decision
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
// taken after every reply. Where it takes long, a tenth of the time goes there, and less than a hundredth while nothing
// happens but that VMs use more or less.
const (
	showEvery  = 100 * time.Millisecond
	showShare  = 10
	quietShare = 200
)

// show publishes a snapshot when the last one is old enough, and as soon as the loop is ready.
func (b *board) show(core *Core) {
	began, observed := b.now(), observation{core.exec.Changes(), core.exec.Offers(), core.next.at}
	share := time.Duration(showShare)
	if !b.news && observed == b.observed && !core.exec.Acting() {
		share = quietShare
	}
	if began.Sub(b.shown) >= max(showEvery, share*b.showing) || b.latest().Ready != core.next.begun() {
		b.snapshot.Store(core.Snapshot())
		b.shown, b.showing, b.observed, b.news = began, b.now().Sub(began), observed, false
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
