package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// A stream reads the log in batches, and rests in between so that a busy loop
// does not make every watcher read after every commit.
const (
	streamBatch = 500
	streamRest  = 50 * time.Millisecond
)

// eventStream sends events to one caller as they happen. Nothing is buffered for a slow reader: events
// are read from the log at the pace of the reader. A reader that takes nothing for long is cut off, and
// can continue later by Last-Event-ID.
type eventStream struct {
	*eventHandler
	c      *gin.Context
	out    *streamWriter
	filter journal.EventFilter // of the next batch
}

// run sends events until the stream has to end.
func (s *eventStream) run(caller Subject) error {
	if err := s.resume(); err != nil {
		return err
	}
	s.c.Header("Content-Type", "text/event-stream")
	s.c.Header("X-Accel-Buffering", "no")
	s.c.Status(http.StatusOK)
	s.out = s.streaming.writer(s.c, caller)
	if _, err := fmt.Fprintf(s.out, "retry: 1000\n\n"); err != nil {
		return err
	}
	pulse := time.NewTicker(s.streaming.heartbeat)
	defer pulse.Stop()
	for {
		news := s.news.next() // taken before reading, so that nothing is missed
		full, err := s.batch()
		if err != nil {
			return err
		}
		if full {
			news = nil
		}
		if ok, err := s.pause(pulse, news, full); !ok {
			return err
		}
	}
}

// resume sets the first event of the stream.
func (s *eventStream) resume() error {
	filter := &s.filter
	if id := s.c.GetHeader("Last-Event-ID"); id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			return cluster.BadField("Last-Event-ID", id, "the id of an event")
		}
		filter.After, filter.Latest = n, false
	}
	if filter.Latest {
		last, err := s.events.Events(s.c.Request.Context(), journal.EventFilter{
			Owner: filter.Owner, VJob: filter.VJob, Array: filter.Array, Indexes: filter.Indexes, Latest: true, Limit: 1,
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
func (s *eventStream) batch() (full bool, err error) {
	events, err := s.events.Events(s.c.Request.Context(), s.filter)
	if err != nil || len(events) == 0 {
		return false, err
	}
	var text []byte
	for _, e := range events {
		data, err := json.Marshal(wireEvent(e, s.snapshot(), s.filter.Owner))
		if err != nil {
			return false, err
		}
		text = fmt.Appendf(text, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, data)
	}
	s.filter.After = events[len(events)-1].Seq
	_, err = s.out.Write(text)
	return len(events) == s.filter.Limit, err
}

// pause waits until there is reason to look again; ok is false when the stream
// has to end. With every pulse the caller's credentials are checked again.
func (s *eventStream) pause(pulse *time.Ticker, news <-chan struct{}, full bool) (ok bool, err error) {
	if !full {
		late := time.NewTimer(s.poll)
		defer late.Stop()
		select {
		case <-news:
		case <-late.C:
		case <-pulse.C:
			if err := s.out.checkCaller(); err != nil {
				return false, err
			}
			if _, err := fmt.Fprint(s.out, ": alive\n\n"); err != nil {
				return false, err
			}
			return true, nil
		case <-s.c.Request.Context().Done():
			return false, nil
		case <-s.streaming.stop:
			return false, nil
		}
	}
	rest := time.NewTimer(streamRest)
	defer rest.Stop()
	select {
	case <-rest.C:
		return true, nil
	case <-s.c.Request.Context().Done():
	case <-s.streaming.stop:
	}
	return false, nil
}

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
