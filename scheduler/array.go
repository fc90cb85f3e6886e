package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
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

// limitArrays bars the vjobs of arrays that would be more at once than their owners
// want. Those that have begun count until they have ended.
func (p *picture) limitArrays() {
	left := map[cluster.VJobID]int{}
	for i := range p.reports {
		r := &p.reports[i]
		if r.Job.AtOnce == 0 || r.Job.Array == 0 {
			continue
		}
		if _, known := left[r.Job.Array]; !known {
			left[r.Job.Array] = r.Job.AtOnce
		}
		if !waitsToBegin(r) {
			left[r.Job.Array]--
		}
	}
	if len(left) == 0 {
		return
	}
	for i := range p.reports {
		r := &p.reports[i]
		n, limited := left[r.Job.Array]
		if !limited || !waitsToBegin(r) || r.Job.Held || p.barred[r.Job.ID] != "" || p.aside[r.Job.ID] != "" {
			continue
		}
		if n <= 0 {
			p.barred[r.Job.ID] = fmt.Sprintf("array %s runs %d of its vjobs at once", r.Job.Array, r.Job.AtOnce)
			continue
		}
		left[r.Job.Array]--
	}
}

// waitsToBegin reports whether nothing was begun of a vjob.
func waitsToBegin(r *execute.Report) bool { return r.Job.State == cluster.Waiting && r.Idle }
