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

// events answers GET /v1/events. The store narrows what users get to their own
// vjobs; a vjob that they may not see is not found.
func (s *Server) events(c *gin.Context, caller Subject) error {
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
		kept, err := s.reader.VJob(c.Request.Context(), filter.VJob)
		if err != nil {
			return err
		}
		if err := authorise(caller, Read, Object{Kind: KindVJob, Owner: kept.Owner}); err != nil {
			return fmt.Errorf("vjob %d: %w", vjob, cluster.ErrNotFound)
		}
	}
	if wantsStream(c.Request) {
		return s.stream(c, caller, filter)
	}
	events, err := s.reader.Events(c.Request.Context(), filter)
	if err != nil {
		return err
	}
	list := wire.EventList{Events: wireEvents(events, s.snapshot(), filter.Owner), Last: after}
	if n := len(events); n > 0 {
		list.Last = events[n-1].Seq
	}
	return answer(c, http.StatusOK, list)
}

// stream sends events as they come. Nothing is buffered for a slow reader: it is
// read from the log at the pace at which it takes, and one that takes nothing for
// long is cut off and can go on later by Last-Event-ID.
func (s *Server) stream(c *gin.Context, caller Subject, filter journal.EventFilter) error {
	ctx := c.Request.Context()
	if err := s.resume(c, &filter); err != nil {
		return err
	}
	c.Header("Content-Type", "text/event-stream")
	c.Header("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	out := s.newStreamWriter(c, caller)
	if _, err := fmt.Fprintf(out, "retry: 1000\n\n"); err != nil {
		return err
	}
	pulse := time.NewTicker(s.heartbeat)
	defer pulse.Stop()
	for {
		news := s.newEvents.next() // taken before reading, so that nothing is missed
		full, err := s.batch(ctx, out, &filter)
		if err != nil {
			return err
		}
		if full {
			news = nil
		}
		if ok, err := s.pause(c, out, pulse, news, full); !ok {
			return err
		}
	}
}

// resume finds out where the stream begins.
func (s *Server) resume(c *gin.Context, filter *journal.EventFilter) error {
	if id := c.GetHeader("Last-Event-ID"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			return cluster.BadField("Last-Event-ID", id, "the id of an event")
		}
		filter.After, filter.Latest = n, false
	}
	if filter.Latest {
		last, err := s.reader.Events(c.Request.Context(), journal.EventFilter{
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
func (s *Server) batch(ctx context.Context, out *streamWriter, filter *journal.EventFilter) (full bool, err error) {
	events, err := s.reader.Events(ctx, *filter)
	if err != nil || len(events) == 0 {
		return false, err
	}
	var text []byte
	for _, e := range events {
		data, err := json.Marshal(wireEvent(e, s.snapshot(), filter.Owner))
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
func (s *Server) pause(c *gin.Context, out *streamWriter, pulse *time.Ticker, news <-chan struct{}, full bool) (ok bool, err error) {
	if !full {
		late := time.NewTimer(s.poll)
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
		case <-s.stop:
			return false, nil
		}
	}
	rest := time.NewTimer(streamRest)
	defer rest.Stop()
	select {
	case <-rest.C:
		return true, nil
	case <-c.Request.Context().Done():
	case <-s.stop:
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
