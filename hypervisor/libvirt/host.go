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

// host is one node. It has lines for each kind of work, so that long calls and calls to
// guests that hang do not keep us from looking.
type host struct {
	Host
	driver *Driver

	control *trunk // short calls: pause, destroy, abort …
	bulk    *trunk // long calls: boot, save, restore, migrate
	eyes    *trunk // listings
	jobs    *trunk // questions for jobs that are under way: QEMU may not answer
	ears    *line  // events; and by it we notice that the host is gone

	opening chan struct{} // one for each line to a guest that is being opened: a host that hangs keeps a thread for it

	events chan event // from libvirt's loop, which must never wait, to listen
	seen   memory
	accel  acceleration

	inspected atomic.Pointer[inspection] // nil: not yet
}

// How many calls of a kind a host gets at once.
const (
	controls  = 4
	bulks     = 4
	looks     = 2
	questions = 3
	openings  = 4
)

func newHost(h Host, d *Driver) *host {
	trunk := func(lines int) *trunk { return newTrunk(h.URI, lines, d.cfg.Timeouts, &d.running) }
	return &host{
		Host: h, driver: d,
		control: trunk(controls), bulk: trunk(bulks), eyes: trunk(looks), jobs: trunk(questions),
		ears:    newLine(h.URI, d.cfg.Timeouts, &d.running),
		opening: make(chan struct{}, openings),
		events:  make(chan event, 1024),
		seen:    newMemory(),
	}
}

func (h *host) trunks() []*trunk { return []*trunk{h.control, h.bulk, h.eyes, h.jobs} }

// close lets all connections go; calls under way keep theirs until they end.
func (h *host) close() {
	for _, t := range h.trunks() {
		t.close()
	}
	h.ears.close()
}

// event is a lifecycle event, copied out of libvirt's callback.
type event struct {
	uuid   string
	kind   libvirt.DomainEventType
	detail int
}

// watch keeps a connection with events to the host for as long as the driver is
// open: connect, register, look, wait until the connection breaks, again.
func (h *host) watch() {
	log := h.driver.log.With(slog.String("node", string(h.Node)))
	up := true // so that a host that is down from the start is told once
	for h.open() {
		heard, err := h.hear()
		if err != nil {
			if up && h.open() {
				log.LogAttrs(context.Background(), slog.LevelWarn, "node unreachable", slog.String("error", err.Error()))
			}
			up = false
			for _, t := range h.trunks() {
				t.giveUp(time.Now().Add(-h.driver.cfg.Timeouts.silence()))
			}
			h.wait(time.Second)
			continue
		}
		if !up {
			log.LogAttrs(context.Background(), slog.LevelInfo, "node reachable")
		}
		up = true
		probe(heard.conn, h.driver.cfg.Timeouts) // not before: no call waits from now on
		h.inspect()
		// First the events, then the listing: what happens in between is in both.
		h.relook()
		h.untilLost(heard.conn)
		h.driver.hint(h.Node)
		heard.cancel()
	}
}

// hear opens the line for events. A host that does not answer in time is left alone, and
// its late answer is not wanted any more.
func (h *host) hear() (*registration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), h.driver.cfg.Timeouts.dial())
	defer cancel()
	conn, err := h.ears.acquire(ctx)
	if err != nil {
		return nil, err
	}
	return h.registered(ctx, conn, h.register)
}

// registered waits for a registration. The connection is given back with that, or without.
func (h *host) registered(ctx context.Context, conn *libvirt.Connect, register func(*libvirt.Connect) (*registration, error)) (*registration, error) {
	type answer struct {
		heard *registration
		err   error
	}
	answered := make(chan answer, 1)
	h.driver.running.Go(func() {
		heard, err := register(conn)
		if err != nil {
			release(conn)
		}
		answered <- answer{heard, err}
	})
	select {
	case a := <-answered:
		return a.heard, a.err
	case <-ctx.Done():
		h.ears.forget(conn)
		h.driver.running.Go(func() {
			if a := <-answered; a.err == nil {
				a.heard.cancel()
			}
		})
		return nil, fmt.Errorf("%w: no answer within %s", hypervisor.ErrUnreachable, h.driver.cfg.Timeouts.dial())
	}
}

func (h *host) open() bool {
	select {
	case <-h.driver.stop:
		return false
	default:
		return true
	}
}

func (h *host) wait(d time.Duration) {
	select {
	case <-h.driver.stop:
	case <-time.After(d):
	}
}

// relook lists the host, to know its machines, and tells that it should be looked at.
func (h *host) relook() {
	ctx, cancel := context.WithTimeout(context.Background(), h.driver.cfg.Timeouts.dial())
	defer cancel()
	_, _ = h.look(ctx) // whoever takes the hint will see the error
	h.driver.hint(h.Node)
}

// untilLost waits for the connection to break. It asks, which costs no call to the host;
// libvirt would call back, but registering that is one more call that can break.
func (h *host) untilLost(conn *libvirt.Connect) {
	ask := time.Tick(500 * time.Millisecond)
	for {
		select {
		case <-h.driver.stop:
			return
		case <-ask:
			if !h.ears.alive(conn) {
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

func (h *host) register(conn *libvirt.Connect) (*registration, error) {
	id, err := conn.DomainEventLifecycleRegister(nil, func(_ *libvirt.Connect, dom *libvirt.Domain, e *libvirt.DomainEventLifecycle) {
		uuid, err := dom.GetUUIDString()
		if err != nil {
			return
		}
		select {
		case h.events <- event{uuid, e.Event, e.Detail}:
		default: // nobody keeps up: the ending is lost, and hints stay true
			h.driver.hint(h.Node)
		}
	})
	if err != nil {
		return nil, err
	}
	return &registration{conn, id}, nil
}

// cancel takes the callback back and lets the connection go; one closed with callbacks on
// it has crashed programs. On a dead connection it fails, which changes nothing.
func (r *registration) cancel() {
	stopProbing(r.conn)
	_ = r.conn.DomainEventDeregister(r.lifecycle)
	release(r.conn)
}

// listen turns events into hints and endings.
func (h *host) listen() {
	for {
		select {
		case <-h.driver.stop:
			return
		case e := <-h.events:
			if h.seen.note(e, time.Now()) {
				h.relook() // a machine that we do not know: whose is it?
			}
			h.driver.hint(h.Node)
		}
	}
}
