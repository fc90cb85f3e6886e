package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	finder    vjobFinder
	streaming *streaming
	news      *broadcast
	poll      time.Duration // the longest delay of an event without a broadcast
	snapshot  func() *scheduler.Snapshot
}

// A stream reads the log in batches, and rests in between so that a busy loop
// does not make every watcher read after every commit.
const (
	streamBatch = 500
	streamRest  = 50 * time.Millisecond
)

// broadcast wakes any number of waiting goroutines.
type broadcast struct {
	mu      sync.Mutex
	waiting chan struct{}
}

func newBroadcast() *broadcast { return &broadcast{waiting: make(chan struct{})} }

// next returns a channel that the next call of notify closes.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.waiting)
	b.waiting = make(chan struct{})
}

// wantsStream reports whether the caller accepts server-sent events.
func wantsStream(r *http.Request) bool {
	return slices.ContainsFunc(r.Header.Values("Accept"), func(v string) bool {
		return strings.Contains(v, "text/event-stream")
	})
}

// list answers GET /v1/events. The store narrows what users get to their own
// vjobs; a vjob that they may not see is not found.
func (h *eventHandler) list(c *gin.Context, caller Subject) error {
	filter := journal.EventFilter{Owner: caller.Viewer()}
	after, err := queryNumber(c, "after", 0, 1<<62, 0)
	if err != nil {
		return err
	}
	limit, err := queryNumber(c, "limit", 1, maxPage, defaultPage)
	if err != nil {
		return err
	}
	vjob, err := queryNumber(c, "vjob", 1, 1<<62, 0)
	if err != nil {
		return err
	}
	if filter.Latest, err = queryTrue(c, "latest"); err != nil {
		return err
	}
	filter.After, filter.VJob, filter.Limit = after, cluster.VJobID(vjob), int(limit)
	if vjob != 0 {
		if _, err := h.finder.find(c.Request.Context(), caller, filter.VJob, Read); err != nil {
			return err
		}
	}
	if wantsStream(c.Request) {
		return h.stream(c, caller, filter)
	}
	events, err := h.events.Events(c.Request.Context(), filter)
	if err != nil {
		return err
	}
	list := wire.EventList{Events: wireEvents(events, h.snapshot(), filter.Owner), Last: after}
	if n := len(events); n > 0 {
		list.Last = events[n-1].Seq
	}
	return answer(c, http.StatusOK, list)
}

// stream sends events as they come. Nothing is buffered for a slow reader: it is
// read from the log at the pace at which it takes, and one that takes nothing for
// long is cut off and can go on later by Last-Event-ID.
func (h *eventHandler) stream(c *gin.Context, caller Subject, filter journal.EventFilter) error {
	ctx := c.Request.Context()
	if err := h.resume(c, &filter); err != nil {
		return err
	}
	c.Header("Content-Type", "text/event-stream")
	c.Header("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	out := h.streaming.writer(c, caller)
	if _, err := fmt.Fprintf(out, "retry: 1000\n\n"); err != nil {
		return err
	}
	pulse := time.NewTicker(h.streaming.heartbeat)
	defer pulse.Stop()
	for {
		news := h.news.next() // taken before reading, so that nothing is missed
		full, err := h.batch(ctx, out, &filter)
		if err != nil {
			return err
		}
		if full {
			news = nil
		}
		if ok, err := h.pause(c, out, pulse, news, full); !ok {
			return err
		}
	}
}

// resume finds out where the stream begins.
func (h *eventHandler) resume(c *gin.Context, filter *journal.EventFilter) error {
	if id := c.GetHeader("Last-Event-ID"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			return cluster.BadField("Last-Event-ID", id, "the id of an event")
		}
		filter.After, filter.Latest = n, false
	}
	if filter.Latest {
		last, err := h.events.Events(c.Request.Context(), journal.EventFilter{
			Owner: filter.Owner, VJob: filter.VJob, Latest: true, Limit: 1,
		})
		if err != nil {
			return err
		}
		for _, e := range last {
			filter.After = e.Seq
		}
	}
	filter.Latest, filter.Limit = false, streamBatch
	return nil
}

// batch sends what is new; full reports that there may be more.
func (h *eventHandler) batch(ctx context.Context, out *streamWriter, filter *journal.EventFilter) (full bool, err error) {
	events, err := h.events.Events(ctx, *filter)
	if err != nil || len(events) == 0 {
		return false, err
	}
	var text []byte
	for _, e := range events {
		data, err := json.Marshal(wireEvent(e, h.snapshot(), filter.Owner))
		if err != nil {
			return false, err
		}
		text = fmt.Appendf(text, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, data)
	}
	filter.After = events[len(events)-1].Seq
	_, err = out.Write(text)
	return len(events) == filter.Limit, err
}

// pause waits until there is reason to look again; ok is false when the stream
// has to end. With every pulse the caller's credentials are checked again.
func (h *eventHandler) pause(c *gin.Context, out *streamWriter, pulse *time.Ticker, news <-chan struct{}, full bool) (ok bool, err error) {
	if !full {
		late := time.NewTimer(h.poll)
		defer late.Stop()
		select {
		case <-news:
		case <-late.C:
		case <-pulse.C:
			if err := out.checkCaller(); err != nil {
				return false, err
			}
			if _, err := fmt.Fprint(out, ": alive\n\n"); err != nil {
				return false, err
			}
			return true, nil
		case <-c.Request.Context().Done():
			return false, nil
		case <-h.streaming.stop:
			return false, nil
		}
	}
	rest := time.NewTimer(streamRest)
	defer rest.Stop()
	select {
	case <-rest.C:
		return true, nil
	case <-c.Request.Context().Done():
	case <-h.streaming.stop:
	}
	return false, nil
}

func wireEvent(e journal.Event, now *scheduler.Snapshot, viewer string) wire.Event {
	return wire.Event{
		Cause: wireCause(e.Cause.For(viewer), viewer, now), Seq: e.Seq, At: e.At.UTC(), Kind: string(e.Kind), VJob: int64(e.VJob), VM: e.VM,
		Node: string(e.Node), Plan: int64(e.Plan), State: e.State, Text: Shown(e.TextFor(viewer), viewer, now),
	}
}

func wireEvents(events []journal.Event, now *scheduler.Snapshot, viewer string) []wire.Event {
	list := make([]wire.Event, len(events))
	for i, e := range events {
		list[i] = wireEvent(e, now, viewer)
	}
	return list
}
