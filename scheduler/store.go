package scheduler

import (
	"context"
	"iter"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// Store keeps the durable state of the loop. Package db implements it.
type Store interface {
	// Load begins a new epoch and returns what is known.
	Load(ctx context.Context) (journal.Loaded, error)
	// Commit writes a step, all or nothing; it is durable on return. After an
	// error it is unknown whether it was written: the loop loads again.
	Commit(ctx context.Context, step journal.Step) error
	// Submit writes a new vjob, or all vjobs of an array, and returns the first, in
	// state Waiting: the numbers of the others follow its own, as [admission.Submission.VJobs]
	// has them. A key that its owner used before returns the vjob of that time and
	// created false. A name that a live vjob or array of the owner bears is ErrConflict.
	Submit(ctx context.Context, s admission.Submission) (job *cluster.VJob, created bool, err error)
	// Known reports whether an owner has used a key for a vjob that is still stored.
	Known(ctx context.Context, owner, key string) (bool, error)
	// Past returns the ended vjobs among the vjobs or arrays, and the attempts that followed them.
	Past(ctx context.Context, on []cluster.Dependency) ([]journal.EndedVJob, error)
	// Attempts returns the next attempts that the last steps wrote for failed vjobs.
	Attempts(ctx context.Context, of []cluster.VJobID) ([]*cluster.VJob, error)
	// Prune deletes what is older than the horizon, in batches of some hundreds of rows; each turn
	// is one durable batch. A caller that breaks off leaves the rest. An error ends it, and the
	// result of the last batch is unknown. What is live or open is kept: vjobs that have not ended,
	// or have a copy or an image left, their events, running plans, calls without a result. The use
	// of ended vjobs stays known, and no id is given again.
	Prune(ctx context.Context, h journal.Horizon) iter.Seq2[journal.Pruned, error]
}
