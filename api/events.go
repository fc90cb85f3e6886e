package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// eventReader reads the log of events.
type eventReader interface {
	// Events lists events, oldest first.
	Events(ctx context.Context, f journal.EventFilter) ([]journal.Event, error)
}

// eventHandler answers requests for events, as a list or as a stream.
type eventHandler struct {
	events    eventReader
	tail      *eventTail
	finder    vjobFinder
	streaming *streaming
	news      *broadcast
	poll      time.Duration // the longest delay of an event without a broadcast
	snapshot  func() *scheduler.Snapshot
}

// mediaEvents is the media type of server-sent events.
const mediaEvents = "text/event-stream"

// list answers GET /v1/events. The store narrows what users get to their own
// vjobs; a vjob that they may not see is not found.
func (h *eventHandler) list(c *gin.Context, caller Subject) error {
	q := queryReader{c: c}
	filter := journal.EventFilter{Owner: caller.Viewer(), After: q.number("after", 0, 1<<62, 0), Limit: q.limit(defaultPage)}
	filter.Latest = q.flag("latest")
	filter.Array, filter.Indexes = cluster.VJobID(q.number("array", 1, 1<<62, 0)), q.indexes("index")
	for _, kind := range c.QueryArray("kind") {
		if !slices.Contains(journal.EventKinds(), kind) && q.err == nil {
			q.err = cluster.BadField("kind", kind, "one of "+strings.Join(journal.EventKinds(), ", "))
		}
		filter.Kinds = append(filter.Kinds, journal.EventKind(kind))
	}
	if q.err == nil && len(filter.Indexes) > 0 && filter.Array == 0 {
		q.err = cluster.Fault("index", "given without array, want the number of the array as well")
	}
	if q.err != nil {
		return q.err
	}
	if filter.Array != 0 {
		if _, err := h.finder.array(c.Request.Context(), caller, Read, filter.Array); err != nil {
			return err
		}
	}
	if word, given := c.GetQuery("vjob"); given {
		var err error
		if filter.VJob, err = h.finder.vjobOf(c.Request.Context(), caller, "vjob", word); err != nil {
			return err
		}
		if _, err := h.finder.find(c.Request.Context(), caller, filter.VJob, Read); err != nil {
			return err
		}
	}
	c.Header("Vary", "Accept")
	if accepts(c.Request, mediaEvents) {
		return (&eventStream{eventHandler: h, c: c, filter: filter}).run(caller)
	}
	last := filter.After
	if filter.Latest { // asked before the events are read, so that a reader that goes on from there misses none
		var err error
		if last, err = h.tail.last(c.Request.Context()); err != nil {
			return err
		}
	}
	events, err := h.events.Events(c.Request.Context(), filter)
	if err != nil {
		return err
	}
	list := wire.EventList{Events: wireEvents(events, h.snapshot(), filter.Owner), Last: last}
	if n := len(events); n > 0 {
		list.Last = max(last, events[n-1].Seq)
	}
	return answer(c, http.StatusOK, list)
}

func wireEvent(e journal.Event, now *scheduler.Snapshot, viewer string) wire.Event {
	return wire.Event{
		Cause: wireCause(e.Cause.For(viewer), viewer, now, e.VJob), Seq: e.Seq, At: e.At.UTC(), Kind: string(e.Kind), VJob: int64(e.VJob), VM: e.VM,
		Node: string(e.Node), Plan: int64(e.Plan), State: e.State, Text: Shown(e.TextFor(viewer), viewer, now, e.VJob),
	}
}

func wireEvents(events []journal.Event, now *scheduler.Snapshot, viewer string) []wire.Event {
	list := make([]wire.Event, len(events))
	for i, e := range events {
		list[i] = wireEvent(e, now, viewer)
	}
	return list
}
