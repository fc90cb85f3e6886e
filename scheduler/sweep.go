package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"

	"vjob/cluster"
)

// The first sweep comes some minutes after the start, for a daemon that is never
// up for long; and a sweep that takes very long is cut off.
const (
	sweepFirst = 5 * time.Minute
	sweepWait  = 10 * time.Minute
)

// addSweeps lets the timers sweep. It happens in their goroutines, since the loop
// has better to do than to wait for a file system; Shutdown waits for them, and
// the context makes that short.
func (l *Loop) addSweeps(ctx context.Context, timers gocron.Scheduler) error {
	if l.sweepEvery <= 0 {
		return nil
	}
	var busy atomic.Bool
	task := gocron.NewTask(func() {
		if busy.CompareAndSwap(false, true) {
			defer busy.Store(false)
			l.sweep(ctx)
		}
	})
	if l.sweepEvery > sweepFirst {
		if _, err := timers.NewJob(gocron.DurationJob(sweepFirst), task, gocron.WithLimitedRuns(1)); err != nil {
			return err
		}
	}
	_, err := timers.NewJob(gocron.DurationJob(l.sweepEvery), task)
	return err
}

// sweep lets the driver remove what is kept for vjobs that have ended. What goes
// wrong is told, and tried again the next time.
func (l *Loop) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	live, err := l.liveVJobs(ctx)
	if err == nil {
		err = l.driver.Sweep(ctx, live, l.keepConsoles)
	}
	if err != nil && ctx.Err() != context.Canceled {
		l.log.Warn("sweep incomplete", slog.Any("error", err))
	}
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
