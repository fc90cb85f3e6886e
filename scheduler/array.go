package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
)

// OrderArray carries out what a user asks of every vjob of an array, and leaves those
// alone to which it does not apply. It fails with ErrNotFound when none lives, and with
// ErrConflict when it applies to none; then nothing has changed.
func (c *Core) OrderArray(now time.Time, array cluster.VJobID, order Order, by string) error {
	var refusal error
	done := 0
	for _, r := range c.exec.Jobs() {
		if r.Job.Array != array {
			continue
		}
		switch err := c.Order(now, r.Job.ID, order, by); {
		case err == nil:
			done++
		case errors.Is(err, cluster.ErrConflict):
			refusal = err
		default:
			return err
		}
	}
	switch {
	case done > 0:
		return nil
	case refusal != nil:
		return fmt.Errorf("array %s: %w", array, refusal)
	}
	return fmt.Errorf("array %s, with a vjob that has not ended: %w", array, cluster.ErrNotFound)
}

// OrderArray carries out what a user asks of every vjob of an array, in one step.
func (l *Loop) OrderArray(ctx context.Context, array cluster.VJobID, order Order, by string) error {
	return l.ask(ctx, func(c *Core) error { return c.OrderArray(l.now(), array, order, by) })
}
