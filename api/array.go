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
	"vjob/scheduler"
)

// maxParameter is the most bytes of the parameter of one vjob.
const maxParameter = 16 << 10

// parameters are those of an array, one for each of its vjobs; none is no array.
func parameters(w *wire.Submission, most int) ([]string, error) {
	bound := fmt.Sprintf("at most %d vjobs in one array", most)
	err := firstOf(
		check(w.Array >= 0, "array", w.Array, "the number of vjobs, 1 or more"),
		check(w.Array <= most, "array", w.Array, bound),
		check(len(w.Parameters) <= most, "parameters", len(w.Parameters), bound),
		check(w.Array == 0 || len(w.Parameters) == 0 || w.Array == len(w.Parameters), "array", w.Array,
			fmt.Sprintf("the number of parameters, %d, or 0: they are counted", len(w.Parameters))),
		check(w.MaxConcurrent == 0 || w.Array > 0 || len(w.Parameters) > 0, "at_once", w.MaxConcurrent, "an array as well"),
	)
	if err != nil {
		return nil, err
	}
	if len(w.Parameters) == 0 && w.Array > 0 {
		return make([]string, w.Array), nil
	}
	for i, text := range w.Parameters {
		field := fmt.Sprintf("parameters[%d]", i)
		if len(text) > maxParameter || !printable(text, "\t") {
			return nil, cluster.BadField(field, text, fmt.Sprintf("printable text of at most %d bytes", maxParameter))
		}
		var bad *cluster.FieldError
		if _, err := cluster.Words(text); errors.As(err, &bad) {
			return nil, cluster.Renamed(field, bad)
		}
	}
	return w.Parameters, nil
}

// array is one row that stands for an array which the path names and the subject may
// touch.
func (s *Server) array(ctx context.Context, caller Subject, verb Verb, id cluster.VJobID) (journal.Row, error) {
	rows, _, err := s.reader.VJobs(ctx, journal.Filter{Array: id, Fold: true, Limit: 1})
	if err != nil {
		return journal.Row{}, err
	}
	if len(rows) == 0 || !Can(caller, verb, Object{Kind: KindVJob, Owner: rows[0].Owner}) {
		return journal.Row{}, fmt.Errorf("array %s: %w", id, cluster.ErrNotFound)
	}
	return rows[0], nil
}

// wireMembers shows an array in short.
func wireMembers(f *journal.Fold) *wire.Members {
	if f == nil {
		return nil
	}
	m := &wire.Members{First: f.First, Last: f.Last, States: map[string]int{}}
	for state, n := range f.States {
		m.States[state.String()] = n
	}
	return m
}

// orderArray gives an order to all vjobs of the array that the path names.
func (s *Server) orderArray(c *gin.Context, caller Subject, order scheduler.Order) error {
	array, err := pathVJob(c)
	if err != nil {
		return err
	}
	row, err := s.array(c.Request.Context(), caller, Change, array)
	if err != nil {
		return err
	}
	if err := s.scheduler.OrderArray(c.Request.Context(), array, order, caller.Name); err != nil {
		return err
	}
	// The order is given; that it cannot be read back is no reason to fail it.
	if fresh, err := s.array(c.Request.Context(), caller, Change, array); err == nil {
		row = fresh
	}
	return answer(c, http.StatusAccepted, wireVJob(&row, s.snapshot(), caller.Viewer()))
}
