package scheduler

import (
	"context"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// past asks the store what became of vjobs that others wait for. When that fails the
// core is made anew, which knows.
func (l *Loop) past(ctx context.Context, after []cluster.Dependency) ([]journal.Past, error) {
	if len(after) == 0 {
		return nil, nil
	}
	past, err := l.store.Past(context.WithoutCancel(ctx), after)
	if err != nil {
		return nil, fmt.Errorf("look for those that are waited for: %w", err)
	}
	return past, nil
}

// again hands the next attempts of vjobs that failed to the core. It reports whether
// there are any, or the core has to be made anew to know of them.
func (l *Loop) again(ctx context.Context, core *Core) (more bool) {
	failed := core.Failed()
	if len(failed) == 0 {
		return false
	}
	jobs, err := l.store.Attempts(context.WithoutCancel(ctx), failed)
	if err != nil {
		l.stale = true
		return true
	}
	core.Again(l.now(), jobs...)
	return true
}
