//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// node is one node with its connections. Each kind of work has connections of its own, so that
// long calls and calls to guests that hang do not block looks.
type node struct {
	Host
	driver *Driver

	controlPool *connPool   // short calls: pause, destroy, abort …
	bulkPool    *connPool   // long calls: boot, save, restore, migrate
	listPool    *connPool   // listings
	jobPool     *connPool   // queries for jobs in progress: QEMU may not answer
	eventConn   *connection // events; it also shows whether the node is alive

	attaching chan struct{} // limits the consoles that are being opened: on a node that hangs each holds a thread

	events chan event // from libvirt's event loop, which must never wait, to listen
	cache  cache
	accel  kvmSupport

	inspected atomic.Pointer[inspection] // nil: not yet
	offer     atomic.Pointer[offer]      // nil: not yet
}

// How many concurrent calls of a kind a node gets.
const (
	controlConns = 4
	bulkConns    = 4
	listConns    = 2
	jobConns     = 3
	maxAttaching = 4
)

func newNode(h Host, d *Driver) *node {
	pool := func(conns int) *connPool { return newConnPool(h.URI, conns, d.cfg.Timeouts, &d.running) }
	return &node{
		Host: h, driver: d,
		controlPool: pool(controlConns), bulkPool: pool(bulkConns), listPool: pool(listConns), jobPool: pool(jobConns),
		eventConn: newConnection(h.URI, d.cfg.Timeouts, &d.running),
		attaching: make(chan struct{}, maxAttaching),
		events:    make(chan event, 1024),
		cache:     newCache(),
	}
}

func (n *node) pools() []*connPool {
	return []*connPool{n.controlPool, n.bulkPool, n.listPool, n.jobPool}
}

// close closes all connections; pending calls keep theirs until they end.
func (n *node) close() {
	for _, p := range n.pools() {
		p.close()
	}
	n.eventConn.close()
}

// event is a lifecycle event, copied from libvirt's callback.
type event struct {
	uuid   string
	kind   libvirt.DomainEventType
	detail int
}

// watch keeps a connection for events to the node for as long as the driver is open: it
// connects, registers, looks, waits until the connection breaks, and starts again.
func (n *node) watch() {
	log := n.driver.log.With(slog.String("node", string(n.Node)))
	up := true // so that a node that is down from the start is logged once
	for n.open() {
		reg, err := n.subscribe()
		if err != nil {
			if up && n.open() {
				log.LogAttrs(context.Background(), slog.LevelWarn, "node unreachable", slog.String("error", err.Error()))
			}
			up = false
			for _, p := range n.pools() {
				p.giveUp(time.Now().Add(-n.driver.cfg.Timeouts.silence()))
			}
			n.wait(time.Second)
			continue
		}
		if !up {
			log.LogAttrs(context.Background(), slog.LevelInfo, "node reachable")
		}
		up = true
		probe(reg.conn, n.driver.cfg.Timeouts) // only now: no call is pending on it any more
		n.inspect()
		n.probePlatforms()
		// First the events, then the listing, so that no change is missed in between.
		n.refresh()
		n.waitUntilLost(reg.conn)
		n.driver.hint(n.Node)
		reg.cancel()
	}
}

// subscribe opens the event connection and registers for events. If the node does not answer in
// time, its late answer is dropped.
func (n *node) subscribe() (*registration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), n.driver.cfg.Timeouts.dial())
	defer cancel()
	conn, err := n.eventConn.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return n.awaitRegistration(ctx, conn, n.register)
}

// awaitRegistration registers and waits for the result. The reference to the connection is
// given back in any case: by cancel of the registration, or on failure.
func (n *node) awaitRegistration(ctx context.Context, conn *libvirt.Connect, register func(*libvirt.Connect) (*registration, error)) (*registration, error) {
	type answer struct {
		reg *registration
		err error
	}
	answered := make(chan answer, 1)
	n.driver.running.Go(func() {
		reg, err := register(conn)
		if err != nil {
			release(conn)
		}
		answered <- answer{reg, err}
	})
	select {
	case a := <-answered:
		return a.reg, a.err
	case <-ctx.Done():
		n.eventConn.forget(conn)
		n.driver.running.Go(func() {
			if a := <-answered; a.err == nil {
				a.reg.cancel()
			}
		})
		return nil, fmt.Errorf("%w: no answer within %s", hypervisor.ErrUnreachable, n.driver.cfg.Timeouts.dial())
	}
}

func (n *node) open() bool {
	select {
	case <-n.driver.stop:
		return false
	default:
		return true
	}
}

func (n *node) wait(d time.Duration) {
	select {
	case <-n.driver.stop:
	case <-time.After(d):
	}
}

// refresh lists the node, to cache its machines, and sends a hint.
func (n *node) refresh() {
	ctx, cancel := context.WithTimeout(context.Background(), n.driver.cfg.Timeouts.dial())
	defer cancel()
	_, _ = n.look(ctx) // the look that follows the hint returns the error
	n.driver.hint(n.Node)
}

// waitUntilLost waits until the connection breaks. It polls, which makes no call to the node; a
// close callback of libvirt would have to be registered, one more call that can break.
func (n *node) waitUntilLost(conn *libvirt.Connect) {
	ask := time.Tick(500 * time.Millisecond)
	for {
		select {
		case <-n.driver.stop:
			return
		case <-ask:
			if !n.eventConn.alive(conn) {
				return
			}
		}
	}
}

// registration is our callback on one connection.
type registration struct {
	conn      *libvirt.Connect
	lifecycle int
}

func (n *node) register(conn *libvirt.Connect) (*registration, error) {
	id, err := conn.DomainEventLifecycleRegister(nil, func(_ *libvirt.Connect, dom *libvirt.Domain, e *libvirt.DomainEventLifecycle) {
		uuid, err := dom.GetUUIDString()
		if err != nil {
			return
		}
		select {
		case n.events <- event{uuid, e.Event, e.Detail}:
		default: // the queue is full: the ending is lost, and the hint still sent
			n.driver.hint(n.Node)
		}
	})
	if err != nil {
		return nil, err
	}
	return &registration{conn, id}, nil
}

// cancel removes the callback and releases the connection; closing a connection with callbacks
// has crashed programs. On a dead connection it fails, which changes nothing.
func (r *registration) cancel() {
	stopProbing(r.conn)
	_ = r.conn.DomainEventDeregister(r.lifecycle)
	release(r.conn)
}

// listen turns events into hints and endings.
func (n *node) listen() {
	for {
		select {
		case <-n.driver.stop:
			return
		case e := <-n.events:
			if n.cache.handleEvent(e, time.Now()) {
				n.refresh() // to identify an unknown machine
			}
			n.driver.hint(n.Node)
		}
	}
}
