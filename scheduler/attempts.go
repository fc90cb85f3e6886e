package scheduler

import (
	"context"
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// past asks the store for ended vjobs that others depend on. After an error the core is loaded
// anew, with that knowledge.
func (l *Loop) past(ctx context.Context, after []cluster.Dependency) ([]journal.EndedVJob, error) {
	if len(after) == 0 {
		return nil, nil
	}
	past, err := l.store.Past(context.WithoutCancel(ctx), after)
	if err != nil {
		return nil, fmt.Errorf("look up dependencies: %w", err)
	}
	return past, nil
}

// again passes the next attempts of failed vjobs to the core. It reports whether there are any, or
// whether the core must be loaded anew to know them.
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
