package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
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
		kept, err := h.inPath(c, caller, Change)
		if err != nil {
			return err
		}
		if err := h.scheduler.Order(c.Request.Context(), kept.ID, order, caller.Name); err != nil {
			return err
		}
		// The order is given; that it cannot be read back is no reason to fail it.
		if fresh, err := h.vjobs.VJob(c.Request.Context(), kept.ID); err == nil {
			kept = fresh
		}
		return answer(c, http.StatusAccepted, wireVJob(&kept.Row, h.snapshot(), caller.Viewer()))
	}
}

// orderArray gives an order to all vjobs of the array that the path names.
func (h *vjobHandler) orderArray(c *gin.Context, caller Subject, order scheduler.Order) error {
	array, err := pathVJob(c)
	if err != nil {
		return err
	}
	row, err := h.array(c.Request.Context(), caller, Change, array)
	if err != nil {
		return err
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
	return answer(c, http.StatusAccepted, wireVJob(&kept.Row, h.snapshot(), caller.Viewer()))
}
