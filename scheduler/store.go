package scheduler

import (
	"context"
	"iter"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/admission"
)

// Store keeps what the loop must not forget. Package db implements it.
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
	// Known reports whether an owner has used a key for a vjob that is not forgotten.
	Known(ctx context.Context, owner, key string) (bool, error)
	// Past is what is known of those of the vjobs, or vjobs of arrays, that have ended,
	// and of the attempts that followed them.
	Past(ctx context.Context, on []cluster.Dependency) ([]journal.Past, error)
	// Attempts are the vjobs that the last steps wrote for those that failed.
	Attempts(ctx context.Context, of []cluster.VJobID) ([]*cluster.VJob, error)
	// Prune deletes what is older than the horizon. Each turn is a batch that has
	// been deleted for good, some hundreds of rows; whoever breaks off leaves the
	// rest. After an error there are no more, and what became of the last batch is
	// unknown. Nothing goes that is live or open: vjobs that have not ended, or have
	// a copy or an image left, their events, plans that run, calls without a result.
	// What ended vjobs have used stays known, and no number is given again.
	Prune(ctx context.Context, h journal.Horizon) iter.Seq2[journal.Pruned, error]
}
