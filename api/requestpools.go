package api

import (
	"errors"
	"fmt"
	"net/http"

	"vjob/api/guard"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// requestClass is a class of requests with a concurrency limit of its own.
type requestClass uint8

const (
	requests  requestClass = iota // all others
	anonymous                     // of callers that need not be known
	streams                       // event streams
	logs                          // logs and consoles
	lists                         // lists that are streamed as lines
	backups
	forecasts // what-ifs, schedules and reports: the processor is busy with each
	unbounded // health checks, which cost nothing
)

// Pools that are no settings: few of such requests are ever in flight.
const (
	anonymousTotal, anonymousEach = 64, 8
	listsTotal, listsEach         = 64, 8
	backupsTotal, backupsEach     = 4, 2
)

// requestPool is the pool of a class, and what is in it in words.
type requestPool struct {
	*guard.Pool
	what string
}

// requestPools bounds the requests in flight, by class.
type requestPools []requestPool

// newRequestPools makes the pools of all classes; that of unbounded is nil.
func newRequestPools(l *Limits) requestPools {
	return requestPools{
		requests:  {guard.NewPool(l.Concurrent, l.PerCaller), "requests"},
		anonymous: {guard.NewPool(anonymousTotal, anonymousEach), "requests without credentials"},
		streams:   {guard.NewPool(l.Streams, l.StreamsPerCaller), "event streams"},
		logs:      {guard.NewPool(l.Streams, l.StreamsPerCaller), "logs and consoles"},
		lists:     {guard.NewPool(listsTotal, listsEach), "streamed lists"},
		backups:   {guard.NewPool(backupsTotal, backupsEach), "back-ups"},
		forecasts: {guard.NewPool(l.Forecasts, l.ForecastsPerCaller), "what-ifs, schedules and reports"},
		unbounded: {},
	}
}

// classOf returns the class of a request: events and lists are streams only if those are asked for.
func (e *Endpoint) classOf(r *http.Request) requestClass {
	switch {
	case e.class == streams && !accepts(r, mediaEvents):
		return requests
	case e.Lines && accepts(r, wire.MediaLines):
		return lists
	}
	return e.class
}

// enter takes a place in the pool of a class; leave gives it back.
func (all requestPools) enter(r *http.Request, in requestClass, caller Subject) (leave func(), err error) {
	p, holder := all[in], caller.Name
	if p.Pool == nil {
		return func() {}, nil
	}
	if holder == "" {
		holder = peerOf(r)
	}
	total, each := p.Sizes()
	err = p.Acquire(holder, caller.Role == journal.RoleAdmin)
	switch {
	case errors.Is(err, guard.ErrShare):
		return nil, fmt.Errorf("%s: %d of yours are in flight, the limit of one caller is %d: wait for one to end: %w", p.what, each, each, cluster.ErrTooMany)
	case err != nil:
		return nil, fmt.Errorf("%s: all %d places of the server are taken: try again in a second: %w", p.what, total, cluster.ErrUnavailable)
	}
	conn := connOf(r)
	conn.Hold()
	return func() {
		conn.Release()
		p.Release(holder)
	}, nil
}
