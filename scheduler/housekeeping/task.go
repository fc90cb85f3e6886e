// Package housekeeping runs periodic tasks beside the loop: it sweeps the remains of ended vjobs from
// the nodes and prunes old history from the store. Tasks run in goroutines of the timers. A failed
// task is logged and runs again the next time.
package housekeeping

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"
)

// The first run is some minutes after the start, for a daemon that never runs for long. A run that
// takes too long is cut off.
const (
	first   = 5 * time.Minute
	longest = 10 * time.Minute
)

// Task is a periodic task.
type Task struct {
	Name  string
	Every time.Duration // 0 is never
	Do    func(context.Context) error
}

// Add schedules a task, never twice at once. Shutdown of the timers waits for it, and the end of the
// context makes that short.
func (c *Task) Add(ctx context.Context, timers gocron.Scheduler, log *slog.Logger) error {
	if c.Every <= 0 {
		return nil
	}
	var busy atomic.Bool
	task := gocron.NewTask(func() {
		if !busy.CompareAndSwap(false, true) {
			return
		}
		defer busy.Store(false)
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		if err := c.Do(ctx); err != nil && ctx.Err() != context.Canceled {
			log.Warn("chore incomplete", slog.String("chore", c.Name), slog.Any("error", err))
		}
	})
	if c.Every > first {
		if _, err := timers.NewJob(gocron.DurationJob(first), task, gocron.WithLimitedRuns(1)); err != nil {
			return err
		}
	}
	_, err := timers.NewJob(gocron.DurationJob(c.Every), task)
	return err
}
