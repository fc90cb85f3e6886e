// Package housekeeping is what is done now and then beside the loop: what is kept for vjobs that
// have ended is swept away on the nodes, and old history is pruned from the store. A chore
// happens in a goroutine of the timers, since the loop has better to do than to wait for a
// file system. What goes wrong is told, and tried again the next time.
//
// It refuses to know what is decided; what is live it is told.
package housekeeping

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
	first   = 5 * time.Minute
	longest = 10 * time.Minute
)

// Task is one of them.
type Task struct {
	Name  string
	Every time.Duration // 0 is never
	Do    func(context.Context) error
}

// Add lets the timers do a chore, never twice at once. Their Shutdown waits for it, and
// the end of the context makes that short.
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
