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

// connection is one connection to one node. It is opened on demand, and again after it broke.
// After a refusal it retries with growing pauses. While the node hangs, at most maxStuck
// goroutines are blocked in opening a connection.
type connection struct {
	uri      string
	timeouts Timeouts
	running  *sync.WaitGroup // goroutines of the driver
	alive    func(*libvirt.Connect) bool

	mu      sync.Mutex
	conn    *libvirt.Connect
	dialing chan struct{} // closed when the current attempt has ended; nil without an attempt
	stuck   int           // attempts that were given up and have not returned
	pause   time.Duration // before the next attempt
	next    time.Time     // when the next attempt may begin
	last    error         // of the last attempt
	closed  bool
}

const (
	maxStuck   = 3
	firstPause = 100 * time.Millisecond
)

var errClosed = errors.New("the driver is closed")

func newConnection(uri string, t Timeouts, running *sync.WaitGroup) *connection {
	return &connection{uri: uri, timeouts: t, running: running, alive: alive}
}

// alive reports whether a connection is not known to be broken. It makes no call to the node.
func alive(conn *libvirt.Connect) bool {
	is, _ := conn.IsAlive() // false with an error
	return is
}

// connect opens a connection that carries calls.
func connect(uri string, t Timeouts) (*libvirt.Connect, error) {
	conn, err := libvirt.NewConnect(uri)
	if err != nil {
		return nil, err
	}
	probeCalls(conn, uri, t)
	return conn, nil
}

// acquire returns the connection with a reference of its own, which the caller gives back with
// release. While the node is down it fails at once or after the current attempt.
func (c *connection) acquire(ctx context.Context) (*libvirt.Connect, error) {
	for {
		conn, dialing, err := c.tryAcquire()
		if conn != nil || err != nil {
			return conn, err
		}
		select {
		case <-dialing:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: still connecting", hypervisor.ErrUnreachable)
		}
	}
}

func (c *connection) tryAcquire() (*libvirt.Connect, chan struct{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, fmt.Errorf("%w: %w", hypervisor.ErrUnreachable, errClosed)
	}
	if c.conn != nil {
		if c.alive(c.conn) {
			return c.conn, nil, c.conn.Ref()
		}
		c.drop()
	}
	if c.dialing == nil {
		if c.stuck >= maxStuck || time.Now().Before(c.next) {
			return nil, nil, fmt.Errorf("%w: %w", hypervisor.ErrUnreachable, c.last)
		}
		c.dial()
	}
	return nil, c.dialing, nil
}

// drop closes the connection, in the background: closing calls the daemon and may hang.
func (c *connection) drop() {
	conn := c.conn
	c.conn = nil
	c.running.Go(func() { release(conn) })
}

// forget drops the connection if it is still this one, so that the next caller opens another.
func (c *connection) forget(conn *libvirt.Connect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil && c.conn == conn {
		c.drop()
	}
}

// release gives a reference back. An error changes nothing.
func release(conn *libvirt.Connect) { _, _ = conn.Close() }

// dial begins an attempt to connect.
func (c *connection) dial() {
	dialing := make(chan struct{})
	c.dialing = dialing
	c.running.Go(func() {
		late := time.AfterFunc(c.timeouts.dial(), func() { c.giveUp(dialing) })
		defer late.Stop()
		conn, err := connect(c.uri, c.timeouts)
		c.dialed(dialing, conn, err)
	})
}

// giveUp gives up an attempt that takes too long; callers that wait for it get an error.
func (c *connection) giveUp(dialing chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dialing == dialing {
		c.stuck++
		c.failed(fmt.Errorf("no answer within %s", c.timeouts.dial()))
		c.dialing = nil
		close(dialing)
	}
}

// dialed records the end of an attempt. A connection that is not needed any more is released
// without the mutex: closing calls the daemon and may hang.
func (c *connection) dialed(dialing chan struct{}, conn *libvirt.Connect, err error) {
	if !c.keep(dialing, conn, err) && err == nil {
		release(conn)
	}
}

// keep reports whether the connection of an attempt is used from now on.
func (c *connection) keep(dialing chan struct{}, conn *libvirt.Connect, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dialing == dialing {
		c.dialing = nil
		defer close(dialing)
	} else {
		c.stuck--
	}
	switch {
	case err != nil:
		c.failed(err)
		return false
	case c.closed || c.conn != nil:
		return false
	}
	c.conn, c.pause, c.next = conn, 0, time.Time{}
	return true
}

func (c *connection) failed(err error) {
	c.last = err
	if e := (libvirt.Error{}); errors.As(err, &e) {
		c.last = errors.New(e.Message) // without the numbers
	}
	c.pause = min(max(2*c.pause, firstPause), c.timeouts.redial())
	c.next = time.Now().Add(c.pause)
}

// close closes the connection; pending calls keep their references until they end.
func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.conn != nil {
		c.drop()
	}
}
