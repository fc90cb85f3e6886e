package scheduler

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// The first sweep and the first prune come some minutes after the start, for a
// daemon that is never up for long; and one that takes very long is cut off.
const (
	choreFirst = 5 * time.Minute
	choreWait  = 10 * time.Minute
)

// addChore lets the timers do a chore now and then, never twice at once. It happens
// in their goroutines, since the loop has better to do than to wait for a file
// system; Shutdown waits for them, and the context makes that short. What goes
// wrong is told, and tried again the next time. 0 is never.
func (l *Loop) addChore(ctx context.Context, timers gocron.Scheduler, name string, every time.Duration, do func(context.Context) error) error {
	if every <= 0 {
		return nil
	}
	var busy atomic.Bool
	task := gocron.NewTask(func() {
		if !busy.CompareAndSwap(false, true) {
			return
		}
		defer busy.Store(false)
		ctx, cancel := context.WithTimeout(ctx, choreWait)
		defer cancel()
		if err := do(ctx); err != nil && ctx.Err() != context.Canceled {
			l.log.Warn("chore incomplete", slog.String("chore", name), slog.Any("error", err))
		}
	})
	if every > choreFirst {
		if _, err := timers.NewJob(gocron.DurationJob(choreFirst), task, gocron.WithLimitedRuns(1)); err != nil {
			return err
		}
	}
	_, err := timers.NewJob(gocron.DurationJob(every), task)
	return err
}
