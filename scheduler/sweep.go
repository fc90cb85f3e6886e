package scheduler

import (
	"context"
	"fmt"

	"vjob/cluster"
)

// sweep lets the driver remove what is kept for vjobs that have ended.
func (l *Loop) sweep(ctx context.Context) error {
	live, err := l.liveVJobs(ctx)
	if err != nil {
		return err
	}
	return l.driver.Sweep(ctx, live, l.keepConsoles)
}

// liveVJobs tells the vjobs that have not ended. It asks the loop, and so waits
// until the journal has been loaded and a commit has been made: the snapshot that
// follows holds nobody as ended whose end could still be lost with a commit that
// fails, as the core itself might. A vjob that the store accepts meanwhile, or
// has accepted and not yet told the loop, is missing from it. It counts as live
// all the same: nothing is made for a vjob before the loop knows it, and what is
// made from now on is younger than hypervisor.SweepAge, which no sweep touches.
func (l *Loop) liveVJobs(ctx context.Context) (func(cluster.VJobID) bool, error) {
	if err := l.ask(ctx, func(*Core) error { return nil }); err != nil {
		return nil, fmt.Errorf("list the live vjobs: %w", err)
	}
	known := l.snapshot.Load().VJobs
	return func(id cluster.VJobID) bool {
		status, ok := known[id]
		return ok && !status.State.Terminal()
	}, nil
}
