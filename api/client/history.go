package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
)

// Plans is the latest plans.
func (c *historyClient) Plans(ctx context.Context, limit int) (wire.PlanList, error) {
	query := url.Values{}
	setNumber(query, "limit", int64(limit))
	return get[wire.PlanList](ctx, c.connection, "/v1/plans", query)
}

// Plan is one plan with its actions.
func (c *historyClient) Plan(ctx context.Context, id int64) (wire.Plan, error) {
	return get[wire.Plan](ctx, c.connection, "/v1/plans/"+strconv.FormatInt(id, 10), nil)
}

// EventQuery narrows a list or a stream of events. Zero fields do not narrow.
type EventQuery struct {
	After   int64 // only events with a larger Seq
	VJob    int64
	Array   int64  // only events of the vjobs of this array
	Indexes string // with Array: only of those at these places, such as 2,5-9
	Kinds   []string
	Limit   int // lists only; 0 is the server's default
	// Latest gives the last Limit events instead of the first, still oldest
	// first. A stream then begins with what comes from now on.
	Latest bool
}

func (q EventQuery) values() url.Values {
	v := url.Values{}
	setNumber(v, "after", q.After)
	setNumber(v, "vjob", q.VJob)
	setNumber(v, "array", q.Array)
	setText(v, "index", q.Indexes)
	if len(q.Kinds) > 0 {
		v["kind"] = q.Kinds
	}
	setNumber(v, "limit", int64(q.Limit))
	setTrue(v, "latest", q.Latest)
	return v
}

// Events lists events, oldest first.
func (c *historyClient) Events(ctx context.Context, q EventQuery) (wire.EventList, error) {
	return get[wire.EventList](ctx, c.connection, "/v1/events", q.values())
}

// Follow streams events as they happen, from q.After on. A connection that is
// lost is made again and goes on where it stood, without end; the walk ends when
// the context does, without an error, and at an error that trying again will
// not mend.
func (c *historyClient) Follow(ctx context.Context, q EventQuery) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		q.Limit = 0
		for wait := c.backoff; ; wait = min(2*wait, 10*time.Second) {
			seen, more, err := c.stream(ctx, &q, yield)
			if !more || ctx.Err() != nil {
				return
			}
			if err != nil && !transient(err) {
				yield(wire.Event{}, err)
				return
			}
			if seen {
				wait = c.backoff
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
		}
	}
}

// transient reports whether the error may be gone at the next try.
func transient(err error) bool {
	return errors.Is(err, cluster.ErrUnavailable) || errors.Is(err, cluster.ErrTooMany)
}

// stream reads one connection to its end. seen tells whether anything arrived,
// more whether the consumer wants to go on; q is moved on with every event.
func (c *historyClient) stream(ctx context.Context, q *EventQuery, yield func(wire.Event, error) bool) (seen, more bool, err error) {
	r := request{
		method: http.MethodGet, path: "/v1/events", query: q.values(), repeatable: true,
		header: http.Header{"Accept": {"text/event-stream"}},
	}
	res, err := c.open(ctx, r)
	if err != nil {
		return false, true, err
	}
	defer res.Body.Close()
	err = readStream(res.Body, func(id int64, data string) error {
		seen = true
		if id > 0 {
			q.After, q.Latest = id, false
		}
		if data == "" {
			return nil
		}
		var e wire.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("%w: %w", errDecode, err)
		}
		if !yield(e, nil) {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return seen, false, nil
	}
	if errors.Is(err, errDecode) {
		return seen, true, err
	}
	return seen, true, nil // a broken connection is made again
}

// What ends the reading of a stream from this side.
var (
	errStop   = errors.New("the consumer has enough")
	errDecode = errors.New("decode an event")
)

// readStream parses server-sent events: it calls message at the end of each one,
// with its id (0 when it has none) and data.
func readStream(r io.Reader, message func(id int64, data string) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), 1<<20)
	var id int64
	var data []string
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id, _ = strconv.ParseInt(value, 10, 64)
		case "data":
			data = append(data, value)
		case "":
			if lines.Text() != "" {
				continue // a comment: the server's heartbeat
			}
			if id > 0 || len(data) > 0 {
				if err := message(id, strings.Join(data, "\n")); err != nil {
					return err
				}
			}
			id, data = 0, nil
		}
	}
	return lines.Err()
}
