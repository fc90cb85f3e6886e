package replay

import (
	"context"
	"time"

	"vjob/ctxswitch/journal"
)

// remembered is for how long events, calls, plans and charges are kept. Nobody reads them: the recorder has what it wants of each step. Of long logs they would be gigabytes.
const remembered = 24 * time.Hour

// forget has the store forget them, now and then.
func (r *run) forget(ctx context.Context) error {
	now := r.shell.Now()
	if now.Sub(r.pruned) < remembered {
		return nil
	}
	r.pruned = now
	old := now.Add(-remembered)
	for _, err := range r.store.Prune(ctx, journal.Horizon{Events: old, Plans: old, Charges: old}) {
		if err != nil {
			return err
		}
	}
	return nil
}
