package scheduler

import (
	"errors"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
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
	OrderRequeue Order = "requeue" // gives up what the vjob has done: it starts from scratch, and its images are kept for a while
	OrderDelete  Order = "delete"  // the vjob ends; its copies and images are removed
)

// Order carries out a request of a user for a vjob. It fails with ErrNotFound or ErrConflict and
// then changes nothing.
func (v *VJobs) Order(now time.Time, id cluster.VJobID, order Order, by string) error {
	r, ok := v.exec.Job(id)
	if !ok {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	state, held := r.Job.State, r.Job.Held
	refuse := func(why string) error {
		return fmt.Errorf("vjob %s %s: %s: %w", id, state.Clause(), why, cluster.ErrConflict)
	}
	switch order {
	case OrderDelete:
		if err := v.exec.Clear(now, id, gang.ThenTerminate, ordered("deleted", by)); err != nil {
			return err
		}
		if state == cluster.Waiting && r.Idle && r.Record.Incarnation == 0 {
			v.turnover = append(v.turnover, turnover{job: r.Job, left: true, at: v.exec.Changes()})
		}
		return nil
	case OrderHold:
		if !state.Ready() {
			return refuse("only a waiting vjob can be held; suspend it instead")
		}
		return v.exec.Hold(now, id, true, ordered("held", by))
	case OrderRelease:
		if !held {
			return refuse("it is not held")
		}
		return v.exec.Hold(now, id, false, ordered("released", by))
	case OrderSuspend:
		if state.Ready() || state.Terminal() || state == cluster.Stopping {
			return refuse("only a running vjob can be suspended")
		}
		return v.exec.Hold(now, id, true, ordered("suspended", by))
	case OrderResume:
		if !held {
			return refuse("it is not suspended or held by a user; it runs when its turn comes")
		}
		return v.exec.Hold(now, id, false, ordered("resumed", by))
	case OrderRequeue:
		if state == cluster.Waiting || state == cluster.Stopping || r.Job.Container {
			return refuse("only a vjob that has started can be queued again")
		}
		if err := v.exec.Clear(now, id, gang.ThenWait, ordered("queued again", by)); err != nil {
			return err
		}
		return v.exec.Hold(now, id, false, ordered("queued again", by))
	default:
		return cluster.BadField("order", string(order), "hold, release, suspend, resume, requeue or delete")
	}
}

// ordered returns the cause of a change that a user requested.
func ordered(what, by string) *cluster.Cause {
	return &cluster.Cause{Kind: cluster.CauseOrder, By: by, Text: what}
}

// orderStep is how many vjobs of an array one step of the loop handles: other requests come in
// between.
const orderStep = 500

// ArrayOrder is an order to every vjob of an array in progress, see [ArrayOrder.Step].
type ArrayOrder struct {
	Array cluster.VJobID
	Order Order
	By    string

	left    []cluster.VJobID // still to be ordered
	listed  bool             // left has been filled in
	done    int              // vjobs that have followed
	refusal error            // of a vjob to which the order does not apply
}

// Step carries out the next step of an order to an array, and reports whether more follow.
// vjobs to which the order does not apply are skipped. It fails with ErrNotFound if no vjob of the
// array is live, and with ErrConflict if the order applies to no vjob; then nothing has changed.
// Waiting vjobs come first, so that they cannot start between two steps of a deletion.
func (o *ArrayOrder) Step(v *VJobs, now time.Time) (more bool, err error) {
	if !o.listed {
		o.left, o.listed = o.members(v.exec.Jobs()), true
	}
	n := min(orderStep, len(o.left))
	for _, id := range o.left[:n] {
		switch err := v.Order(now, id, o.Order, o.By); {
		case err == nil:
			o.done++
		case errors.Is(err, cluster.ErrConflict):
			o.refusal = err
		case errors.Is(err, cluster.ErrNotFound): // it has ended since the first step
		default:
			return false, err
		}
	}
	o.left = o.left[n:]
	switch {
	case len(o.left) > 0:
		return true, nil
	case o.done > 0:
		return false, nil
	case o.refusal != nil:
		return false, fmt.Errorf("array %s: %w", o.Array, o.refusal)
	}
	return false, fmt.Errorf("array %s, with a vjob that has not ended: %w", o.Array, cluster.ErrNotFound)
}

// members returns the live vjobs of an array, waiting ones first.
func (o *ArrayOrder) members(vjobs []execute.Report) (waiting []cluster.VJobID) {
	var others []cluster.VJobID
	for _, r := range vjobs {
		switch {
		case r.Job.Array != o.Array:
		case r.Job.State.Ready():
			waiting = append(waiting, r.Job.ID)
		default:
			others = append(others, r.Job.ID)
		}
	}
	return append(waiting, others...)
}
