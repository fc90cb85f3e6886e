package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/internal/revision"
	"vjob/scheduler"
)

// order returns the handler that gives an order to a vjob, or to all vjobs of an array.
func (h *vjobHandler) order(order scheduler.Order) Handler {
	return func(c *gin.Context, caller Subject) error {
		q := queryReader{c: c}
		array := q.flag("array")
		switch {
		case q.err != nil:
			return q.err
		case array:
			return h.orderArray(c, caller, order)
		}
		kept, err := h.liveInPath(c, caller)
		if err != nil {
			return err
		}
		if err := h.scheduler.Order(c.Request.Context(), kept.ID, order, caller.Name); err != nil {
			return h.endedMeanwhile(c.Request.Context(), caller, kept.ID, err)
		}
		// The order is given; that it cannot be read back is no reason to fail it.
		if fresh, err := h.vjobs.VJob(c.Request.Context(), kept.ID); err == nil {
			kept = fresh
		}
		return answerTagged(c, http.StatusAccepted, revision.OfVJob(kept.VJob), wireVJob(&kept.Row, h.snapshot(), caller.Viewer()))
	}
}

// orderArray gives an order to all vjobs of the array that the path names.
func (h *vjobHandler) orderArray(c *gin.Context, caller Subject, order scheduler.Order) error {
	array, err := h.arrayOf(c.Request.Context(), caller, "id", c.Param("id"))
	if err != nil {
		return err
	}
	row, err := h.array(c.Request.Context(), caller, Change, array)
	if err != nil {
		return err
	}
	if total, ended := members(row.Fold); total == ended {
		return &endedError{fmt.Sprintf("array %s: all of its %d vjobs have ended", array, total)}
	}
	if err := h.scheduler.OrderArray(c.Request.Context(), array, order, caller.Name); err != nil {
		return err
	}
	// The order is given; that it cannot be read back is no reason to fail it.
	if fresh, err := h.array(c.Request.Context(), caller, Change, array); err == nil {
		row = fresh
	}
	return answer(c, http.StatusAccepted, wireVJob(&row, h.snapshot(), caller.Viewer()))
}

// liveInPath finds the vjob of the path for a change, which is refused after its end.
func (h *vjobHandler) liveInPath(c *gin.Context, caller Subject) (journal.Kept, error) {
	kept, err := h.inPath(c, caller, Change)
	if err == nil && kept.State.Terminal() {
		err = h.ended(c.Request.Context(), &kept.Row, caller)
	}
	return kept, err
}

// ended returns the error of a change to a vjob that has ended, which says how and when.
func (h *vjobHandler) ended(ctx context.Context, row *journal.Row, caller Subject) error {
	if err := revision.Check(ctx, func() (string, revision.Revision) { return "vjob " + row.ID.String(), revision.OfVJob(row.VJob) }); err != nil {
		return err
	}
	w := wireVJob(row, h.snapshot(), caller.Viewer())
	return &endedError{fmt.Sprintf("vjob %s has ended (%s at %s): %s",
		row.ID, w.Outcome, row.Ended.UTC().Format("2006-01-02 15:04:05 UTC"), w.Reason)}
}

// endedError is a change to what has ended. It matches [cluster.ErrConflict].
type endedError struct{ text string }

// Error says what has ended, how and when.
func (e *endedError) Error() string { return e.text }

// Is reports whether the target is [cluster.ErrConflict].
func (e *endedError) Is(target error) bool { return target == cluster.ErrConflict }

// endedMeanwhile explains the error of a change: a vjob that the scheduler does not know any more has just ended.
func (h *vjobHandler) endedMeanwhile(ctx context.Context, caller Subject, id cluster.VJobID, err error) error {
	if !errors.Is(err, cluster.ErrNotFound) && !errors.Is(err, cluster.ErrChanged) {
		return err
	}
	if kept, failed := h.vjobs.VJob(ctx, id); failed == nil && kept.State.Terminal() {
		return h.ended(ctx, &kept.Row, caller)
	}
	return err
}

// members returns how many vjobs an array has, and how many of them have ended.
func members(f *journal.Fold) (total, ended int) {
	for state, n := range f.States {
		total += n
		if state.Terminal() {
			ended += n
		}
	}
	return total, ended
}

// restore answers POST /v1/vjobs/{id}/restore.
func (h *vjobHandler) restore(c *gin.Context, caller Subject) error {
	var order wire.RestoreOrder
	if err := readBody(c, &order); err != nil {
		return err
	}
	if order.Generation < 0 {
		return cluster.BadField("generation", order.Generation, "the number of a generation, or 0 for the newest")
	}
	kept, err := h.inPath(c, caller, Change)
	if err != nil {
		return err
	}
	if err := h.scheduler.Restore(c.Request.Context(), kept.ID, order.Generation, caller.Name); err != nil {
		return err
	}
	return answerTagged(c, http.StatusAccepted, revision.OfVJob(kept.VJob), wireVJob(&kept.Row, h.snapshot(), caller.Viewer()))
}
