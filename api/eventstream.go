package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// A stream sends events in batches, and rests in between so that a busy loop does not wake every watcher after every
// commit. The first event after a pause is sent at once.
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
	sent   time.Time           // when the last batch was sent; zero: none yet
}

// run sends events until the stream has to end.
func (s *eventStream) run(caller Subject) error {
	if err := s.resume(); err != nil {
		return err
	}
	s.c.Header("Content-Type", mediaEvents)
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
		last, err := s.tail.last(s.c.Request.Context())
		if err != nil {
			return err
		}
		filter.After = last
	}
	filter.Latest, filter.Limit = false, streamBatch
	return nil
}

// batch sends what is new; full reports that there may be more.
func (s *eventStream) batch() (full bool, err error) {
	events, upTo, err := s.tail.since(s.c.Request.Context(), s.filter)
	if s.filter.After = upTo; err != nil || len(events) == 0 {
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
	s.sent = s.streaming.now()
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
	rest := time.NewTimer(s.rest(s.streaming.now()))
	defer rest.Stop()
	select {
	case <-rest.C:
		return true, nil
	case <-s.c.Request.Context().Done():
	case <-s.streaming.stop:
	}
	return false, nil
}

// rest returns how long the stream rests before its next batch; 0 or less after a pause.
func (s *eventStream) rest(now time.Time) time.Duration { return s.sent.Add(streamRest).Sub(now) }
