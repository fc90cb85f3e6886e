//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// trunk is the lines to one host for one kind of work, each of which carries one call
// at a time. libvirt lets calls share a connection, but when one breaks under two of
// them its client hangs in the second for ever, or, before libvirt 10.4, writes to
// memory that is no longer its own and crashes us (CVE-2024-4418); Debian 12 has 9.0.
// TestConnectionsBreak in tests/lab shows it. libvirt's own probes are such second calls:
// see probeCalls.
type trunk struct {
	slots chan struct{} // calls that may be under way at once
	fresh func() *line

	mu     sync.Mutex
	idle   []*line         // a stack: while calls are few, few lines are open
	calls  map[*line]*call // those under way
	closed bool
}

// call is one that the host was asked.
type call struct {
	begun time.Time
	lost  chan struct{} // closed when nobody shall wait for it any more
}

func newTrunk(uri string, lines int, t Timeouts, running *sync.WaitGroup) *trunk {
	r := &trunk{slots: make(chan struct{}, lines), calls: map[*line]*call{}}
	r.fresh = func() *line { return newLine(uri, t, running) }
	for range lines {
		r.idle = append(r.idle, r.fresh())
	}
	return r
}

// take gets a line for one call, which ends with put.
func (r *trunk) take(ctx context.Context) (*line, error) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, errQueued
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	top := len(r.idle) - 1
	l := r.idle[top]
	r.idle = r.idle[:top]
	return l, nil
}

// put gives back a line on which no call was begun.
func (r *trunk) put(l *line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.back(l)
}

func (r *trunk) back(l *line) {
	if r.closed {
		l.close()
	}
	r.idle = append(r.idle, l)
	<-r.slots
}

// begin notes that a call begins on a line.
func (r *trunk) begin(l *line) *call {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &call{time.Now(), make(chan struct{})}
	r.calls[l] = c
	return c
}

// end gives back the line of a call. One that was given up has been replaced.
func (r *trunk) end(l *line, c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[l] != c {
		l.close()
		return
	}
	delete(r.calls, l)
	r.back(l)
}

// giveUp is for a host that has been silent since some time: nobody waits any more for
// the calls that were begun before, and others get lines in their place. They end when
// the host comes back, or when the kernel finds that it does not; until then each holds
// a thread.
func (r *trunk) giveUp(since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l, c := range r.calls {
		if c.begun.Before(since) {
			close(c.lost)
			delete(r.calls, l)
			r.idle = append(r.idle, r.fresh())
			<-r.slots
		}
	}
}

func (r *trunk) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, l := range r.idle {
		l.close()
	}
}

// errQueued: the call was not sent.
var errQueued = fmt.Errorf("%w: earlier calls to it have not ended", hypervisor.ErrUnreachable)

// errLost: the host is gone. Whether it has taken the call is unknown.
var errLost = fmt.Errorf("%w: it does not answer any more: %w", hypervisor.ErrUnreachable, hypervisor.ErrTimeout)

// change makes a call that creates or changes something, unless its context has ended:
// what comes before the call may have taken long, and its caller has gone on. If the
// connection breaks during the call, the host may have taken it, or take it yet.
func change(ctx context.Context, call func() error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: it was not sent", hypervisor.ErrTimeout)
	}
	err := translate(call())
	if errors.Is(err, hypervisor.ErrUnreachable) {
		err = fmt.Errorf("%w: %w", err, hypervisor.ErrTimeout)
	}
	return err
}

// ask runs f on a line of the trunk and waits for it, for the context or until the host
// is given up, whichever comes first. Once begun, f runs to its end in any case: cgo
// knows no context.
func ask[T any](ctx context.Context, r *trunk, f func(*libvirt.Connect) (T, error)) (T, error) {
	var none T
	l, err := r.take(ctx)
	if err != nil {
		return none, err
	}
	conn, err := l.acquire(ctx)
	if err == nil && ctx.Err() != nil {
		release(conn)
		err = fmt.Errorf("%w: it was reached too late", hypervisor.ErrUnreachable) // nothing was sent
	}
	if err != nil {
		r.put(l)
		return none, err
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	c := r.begin(l)
	l.running.Go(func() {
		defer r.end(l, c)
		defer release(conn)
		value, err := f(conn)
		answered <- answer{value, translate(err)}
	})
	select {
	case a := <-answered:
		return a.value, a.err
	case <-c.lost:
		return none, errLost
	case <-ctx.Done():
		return none, fmt.Errorf("%w: the call goes on", hypervisor.ErrTimeout)
	}
}
