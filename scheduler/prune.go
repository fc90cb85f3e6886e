package scheduler

import (
	"context"
	"log/slog"

	"vjob/journal"
)

// prune deletes the history that is old enough. The store does it in batches, each
// a short write among those of the loop and of submissions. The core need not know:
// what it speaks of is live or open. Should it speak of something else, its commit
// is refused, and it is made anew.
func (l *Loop) prune(ctx context.Context) (err error) {
	var sum journal.Pruned
	horizon := l.retention.Horizon(l.now())
	horizon.Charges = l.now().Add(-l.settings.Arranged().Memory())
	for done, wrong := range l.store.Prune(ctx, horizon) {
		sum, err = sum.Plus(done), wrong
	}
	if sum != (journal.Pruned{}) {
		l.log.Info("old history deleted", slog.Int("events", sum.Events), slog.Int("calls", sum.Calls),
			slog.Int("plans", sum.Plans), slog.Int("vjobs", sum.VJobs),
			slog.Int("charges", sum.Charges))
	}
	return err
}
