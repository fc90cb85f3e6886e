package scheduler

import (
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// Order is what a user or an administrator asks of one vjob after its submission.
type Order string

// The orders.
const (
	OrderHold    Order = "hold"    // a ready vjob is not chosen until released
	OrderRelease Order = "release" // takes a hold back
	OrderSuspend Order = "suspend" // a running vjob is suspended, and held
	OrderResume  Order = "resume"  // a suspended and held vjob may run again
	OrderDelete  Order = "delete"  // the vjob ends; its copies and images are removed
)

// Order carries out what a user asks of a vjob. It fails with ErrNotFound or
// ErrConflict and then changes nothing.
func (c *Core) Order(now time.Time, id cluster.VJobID, order Order, by string) error {
	c.now = now
	r, ok := c.exec.Job(id)
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	state, held := r.Job.State, r.Job.Held
	refuse := func(why string) error {
		return fmt.Errorf("vjob %s is %s: %s: %w", id, state, why, cluster.ErrConflict)
	}
	switch order {
	case OrderDelete:
		return c.exec.Clear(now, id, gang.ThenTerminate, "deleted by "+by)
	case OrderHold:
		if !state.Ready() {
			return refuse("only one that waits can be held; suspend it instead")
		}
		return c.exec.Hold(now, id, true, "held by "+by)
	case OrderRelease:
		if !held {
			return refuse("it is not held")
		}
		return c.exec.Hold(now, id, false, "released by "+by)
	case OrderSuspend:
		if state.Ready() || state.Terminal() || state == cluster.Stopping {
			return refuse("only one that runs can be suspended")
		}
		return c.exec.Hold(now, id, true, "suspended by "+by)
	case OrderResume:
		if !held {
			return refuse("nobody has suspended or held it; it runs when its turn comes")
		}
		return c.exec.Hold(now, id, false, "resumed by "+by)
	default:
		return cluster.BadField("order", string(order), "hold, release, suspend, resume or delete")
	}
}

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
