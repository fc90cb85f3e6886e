package replay

import (
	"cmp"
	"context"

	"vjob/ctxswitch/journal"
	"vjob/db"
)

// forgetful is a store that drops the history: it keeps what later submissions and attempts depend on, which is how
// vjobs end and which wait for others. The recorder reads the rest of each step. The scheduler of a replay never
// starts again, so it needs no gangs, intents or accounts either.
type forgetful struct {
	*db.DB
	failed error // of the first commit that failed: the replay cannot go on from what is kept
}

// Commit writes the part of a step that is kept.
func (f *forgetful) Commit(ctx context.Context, step journal.Step) error {
	err := f.DB.Commit(ctx, journal.Step{
		Reshape: step.Reshape, VJobs: step.VJobs, Freed: step.Freed, Again: step.Again, Spans: step.Spans, Moved: step.Moved, MoveModes: step.MoveModes,
	})
	f.failed = cmp.Or(f.failed, err)
	return err
}
