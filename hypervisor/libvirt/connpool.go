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

// connPool is a pool of connections to one node for one kind of work. Each connection carries
// one call at a time: libvirt lets calls share a connection, but if it breaks under two of
// them, the client hangs in the second for ever, or, before libvirt 10.4, writes to freed
// memory and crashes the process (CVE-2024-4418); Debian 12 has 9.0. TestConnectionsBreak in
// tests/lab shows it. libvirt's own keepalive probes are such second calls: see probeCalls.
type connPool struct {
	slots   chan struct{} // limits the pending calls
	newConn func() *connection

	mu     sync.Mutex
	idle   []*connection // a stack: while calls are few, few connections are open
	calls  map[*connection]*pendingCall
	closed bool
}

// pendingCall is a call that was sent to the node.
type pendingCall struct {
	begun time.Time
	lost  chan struct{} // closed when the call is given up
}

func newConnPool(uri string, conns int, t Timeouts, running *sync.WaitGroup) *connPool {
	p := &connPool{slots: make(chan struct{}, conns), calls: map[*connection]*pendingCall{}}
	p.newConn = func() *connection { return newConnection(uri, t, running) }
	for range conns {
		p.idle = append(p.idle, p.newConn())
	}
	return p
}

// take returns a connection for one call; put or end gives it back.
func (p *connPool) take(ctx context.Context) (*connection, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, errQueued
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	top := len(p.idle) - 1
	c := p.idle[top]
	p.idle = p.idle[:top]
	return c, nil
}

// put gives back a connection on which no call was begun.
func (p *connPool) put(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBack(c)
}

func (p *connPool) giveBack(c *connection) {
	if p.closed {
		c.close()
	}
	p.idle = append(p.idle, c)
	<-p.slots
}

// begin records that a call begins on a connection.
func (p *connPool) begin(c *connection) *pendingCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	call := &pendingCall{time.Now(), make(chan struct{})}
	p.calls[c] = call
	return call
}

// end gives back the connection of a call. The connection of a call that was given up is
// closed instead: it has been replaced.
func (p *connPool) end(c *connection, call *pendingCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[c] != call {
		c.close()
		return
	}
	delete(p.calls, c)
	p.giveBack(c)
}

// giveUp gives up the calls that began before an instant, since when the node has been silent:
// their callers get errLost, and new connections replace theirs. The calls end when the node
// comes back, or when the kernel finds the connection dead; until then each holds a thread.
func (p *connPool) giveUp(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c, call := range p.calls {
		if call.begun.Before(since) {
			close(call.lost)
			delete(p.calls, c)
			p.idle = append(p.idle, p.newConn())
			<-p.slots
		}
	}
}

func (p *connPool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.close()
	}
}

// errQueued is the error of a call that was not sent.
var errQueued = fmt.Errorf("%w: earlier calls to it have not ended", hypervisor.ErrUnreachable)

// errLost is the error of a call that was given up. Whether it took effect is unknown.
var errLost = fmt.Errorf("%w: it does not answer any more: %w", hypervisor.ErrUnreachable, hypervisor.ErrTimeout)

// change makes a call that creates or changes something, unless its context has ended: the
// steps before may have taken so long that the caller has gone. If the connection breaks
// during the call, the call may have taken effect, or may still do so.
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

// withConn runs f on a connection of the pool. It returns when f does, when the context ends or
// when the call is given up, whichever comes first. Once begun, f runs to its end in any case:
// cgo calls cannot be cancelled.
func withConn[T any](ctx context.Context, p *connPool, f func(*libvirt.Connect) (T, error)) (T, error) {
	var none T
	c, err := p.take(ctx)
	if err != nil {
		return none, err
	}
	conn, err := c.acquire(ctx)
	if err == nil && ctx.Err() != nil {
		release(conn)
		err = fmt.Errorf("%w: it was reached too late", hypervisor.ErrUnreachable) // the call was not sent
	}
	if err != nil {
		p.put(c)
		return none, err
	}
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	call := p.begin(c)
	c.running.Go(func() {
		defer p.end(c, call)
		defer release(conn)
		value, err := f(conn)
		answered <- answer{value, translate(err)}
	})
	select {
	case a := <-answered:
		return a.value, a.err
	case <-call.lost:
		return none, errLost
	case <-ctx.Done():
		return none, fmt.Errorf("%w: the call goes on", hypervisor.ErrTimeout)
	}
}
