package housekeeping

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"vjob/ctxswitch/journal"
)

// Pruner deletes history in batches of short writes. The store implements it.
type Pruner interface {
	Prune(ctx context.Context, h journal.Horizon) iter.Seq2[journal.Pruned, error]
}

// Prune deletes history older than the horizon at that time. The loop need not know: it refers only
// to what is live or open. Otherwise its commit fails, and it loads anew.
func Prune(store Pruner, horizon func() journal.Horizon, every time.Duration, log *slog.Logger) Task {
	return Task{Name: "prune", Every: every, Do: func(ctx context.Context) (err error) {
		var sum journal.Pruned
		for done, wrong := range store.Prune(ctx, horizon()) {
			sum, err = sum.Plus(done), wrong
		}
		if sum != (journal.Pruned{}) {
			log.Info("old history deleted", slog.Int("events", sum.Events), slog.Int("calls", sum.Calls),
				slog.Int("plans", sum.Plans), slog.Int("vjobs", sum.VJobs), slog.Int("charges", sum.Charges))
		}
		return err
	}}
}
