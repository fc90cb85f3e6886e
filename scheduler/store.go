package scheduler

import (
	"context"

	"vjob/cluster"
	"vjob/journal"
)

// Store keeps what the loop must not forget. Package db implements it.
type Store interface {
	// Load begins a new epoch and returns what is known.
	Load(ctx context.Context) (journal.Loaded, error)
	// Commit writes a step, all or nothing; it is durable on return. After an
	// error it is unknown whether it was written: the loop loads again.
	Commit(ctx context.Context, step journal.Step) error
	// Submit writes new vjobs and returns them with their numbers, in state
	// Waiting. A key that its owner used before returns the vjob of that time and
	// created false. A name that a live vjob of the owner bears is ErrConflict.
	Submit(ctx context.Context, s Submission) (job *cluster.VJob, created bool, err error)
}
