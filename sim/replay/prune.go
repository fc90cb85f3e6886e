package replay

import (
	"context"
	"time"

	"vjob/ctxswitch/journal"
)

// retained is how long the store keeps events, calls, plans and charges. The recorder has
// already read them, and for long logs they would take gigabytes.
const retained = 24 * time.Hour

// prune deletes the history from the store from time to time.
func (r *run) prune(ctx context.Context) error {
	now := r.shell.Now()
	if now.Sub(r.pruned) < retained {
		return nil
	}
	r.pruned = now
	old := now.Add(-retained)
	for _, err := range r.store.Prune(ctx, journal.Horizon{Events: old, Plans: old, Charges: old}) {
		if err != nil {
			return err
		}
	}
	return nil
}
