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

// line is one connection to one host, opened when it is needed and again after it
// broke. A host that refuses is asked again with growing pauses; one that hangs
// may hold up to maxStuck goroutines in the opening of connections, no more.
type line struct {
	uri      string
	timeouts Timeouts
	running  *sync.WaitGroup // goroutines of the driver
	alive    func(*libvirt.Connect) bool

	mu      sync.Mutex
	conn    *libvirt.Connect
	dialing chan struct{} // closed when the present try has ended; nil: none
	stuck   int           // tries given up that have not returned
	pause   time.Duration // before the next try
	next    time.Time     // when that may begin
	last    error         // why the last try failed
	closed  bool
}

const (
	maxStuck   = 3
	firstPause = 100 * time.Millisecond
)

var errClosed = errors.New("the driver is closed")

func newLine(uri string, t Timeouts, running *sync.WaitGroup) *line {
	return &line{uri: uri, timeouts: t, running: running, alive: alive}
}

// alive reports whether a connection is not known to be broken; the host is not asked.
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

// acquire returns the connection with a reference of its own, which the caller
// gives back with Close. While the host is down it fails at once or after the try
// that is under way.
func (l *line) acquire(ctx context.Context) (*libvirt.Connect, error) {
	for {
		conn, dialing, err := l.step()
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

func (l *line) step() (*libvirt.Connect, chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, fmt.Errorf("%w: %w", hypervisor.ErrUnreachable, errClosed)
	}
	if l.conn != nil {
		if l.alive(l.conn) {
			return l.conn, nil, l.conn.Ref()
		}
		l.drop()
	}
	if l.dialing == nil {
		if l.stuck >= maxStuck || time.Now().Before(l.next) {
			return nil, nil, fmt.Errorf("%w: %w", hypervisor.ErrUnreachable, l.last)
		}
		l.dial()
	}
	return nil, l.dialing, nil
}

// drop gives up the connection. Closing asks the daemon, so it may hang.
func (l *line) drop() {
	conn := l.conn
	l.conn = nil
	l.running.Go(func() { release(conn) })
}

// forget lets whoever comes next open the connection anew.
func (l *line) forget(conn *libvirt.Connect) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil && l.conn == conn {
		l.drop()
	}
}

// release gives a reference back. There is nothing to do about an error.
func release(conn *libvirt.Connect) { _, _ = conn.Close() }

// dial begins a try to connect.
func (l *line) dial() {
	dialing := make(chan struct{})
	l.dialing = dialing
	l.running.Go(func() {
		late := time.AfterFunc(l.timeouts.dial(), func() { l.giveUp(dialing) })
		defer late.Stop()
		conn, err := connect(l.uri, l.timeouts)
		l.dialed(dialing, conn, err)
	})
}

// giveUp lets those who wait for a try go on without it.
func (l *line) giveUp(dialing chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dialing == dialing {
		l.stuck++
		l.failed(fmt.Errorf("no answer within %s", l.timeouts.dial()))
		l.dialing = nil
		close(dialing)
	}
}

// dialed notes how a try has ended. A connection that is not wanted any more is released
// after the mutex: closing asks the daemon, so it may hang.
func (l *line) dialed(dialing chan struct{}, conn *libvirt.Connect, err error) {
	if !l.keep(dialing, conn, err) && err == nil {
		release(conn)
	}
}

// keep reports whether the line uses the connection of a try from now on.
func (l *line) keep(dialing chan struct{}, conn *libvirt.Connect, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dialing == dialing {
		l.dialing = nil
		defer close(dialing)
	} else {
		l.stuck--
	}
	switch {
	case err != nil:
		l.failed(err)
		return false
	case l.closed || l.conn != nil:
		return false
	}
	l.conn, l.pause, l.next = conn, 0, time.Time{}
	return true
}

func (l *line) failed(err error) {
	l.last = err
	if e := (libvirt.Error{}); errors.As(err, &e) {
		l.last = errors.New(e.Message) // without the numbers
	}
	l.pause = min(max(2*l.pause, firstPause), l.timeouts.redial())
	l.next = time.Now().Add(l.pause)
}

// close lets the connection go; calls under way keep theirs until they end.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.conn != nil {
		l.drop()
	}
}
