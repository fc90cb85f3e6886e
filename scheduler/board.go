package scheduler

import (
	"sync/atomic"
	"time"

	"vjob/cluster"
)

// board shows the latest snapshot of the loop.
type board struct {
	now      func() time.Time
	snapshot atomic.Pointer[Snapshot]
	showing  time.Duration // how long the last snapshot took
}

// newBoard returns a board that shows an empty cluster.
func newBoard(now func() time.Time) *board {
	b := &board{now: now}
	b.snapshot.Store(&Snapshot{VJobs: map[cluster.VJobID]VJobStatus{}})
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

// show publishes a snapshot when the last one is old enough, or now.
func (b *board) show(core *Core, now bool) {
	last, began := b.snapshot.Load(), b.now()
	if now || began.Sub(last.At) >= max(showEvery, showShare*b.showing) || !last.Ready {
		b.snapshot.Store(core.Snapshot())
		b.showing = b.now().Sub(began)
	}
}

// publishBroken shows in the snapshot that the loop has stopped.
func (b *board) publishBroken(err error) {
	broken := *b.snapshot.Load()
	broken.Ready, broken.Broken = false, err.Error()
	b.snapshot.Store(&broken)
}
