//go:build libvirt_dlopen && cgo

package libvirt

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// newWatched is a node that no goroutine watches yet, and what is logged of it.
func newWatched(cfg Config, uri string) (*node, *bytes.Buffer) {
	said := new(bytes.Buffer)
	d := &Driver{
		cfg: cfg, log: slog.New(slog.NewTextHandler(said, nil)),
		hints: make(chan cluster.NodeID, 100), stop: make(chan struct{}),
	}
	return newNode(Host{Node: "h1", URI: uri}, d), said
}

// A node that is down is logged once, and calls to it are given up after its silence. When
// it comes back it is inspected and listed, and each time that its connection breaks.
func TestWatch(t *testing.T) {
	b := newBuiltin(t) // so the loop runs
	b.create(cluster.VMID{VJob: 7}, nil)
	events := make(chan event, 100) // libvirt's loop may fill it
	synctest.Test(t, func(t *testing.T) {
		h, said := newWatched(b.cfg, "nothing:///here")
		h.listPool = newConnPool(builtinURI, listConns, b.cfg.Timeouts, &h.driver.running)
		var breaks atomic.Bool
		h.eventConn.alive = func(*libvirt.Connect) bool { return !breaks.CompareAndSwap(true, false) }
		h.events = events
		var calls []*pendingCall
		var end []func()
		lost := func() (n int) {
			for _, c := range calls {
				select {
				case <-c.lost:
					n++
				default:
				}
			}
			return n
		}
		for _, r := range h.pools() {
			l, err := r.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c := r.begin(l)
			calls, end = append(calls, c), append(end, func() { r.end(l, c) })
		}
		h.driver.running.Go(h.watch)
		time.Sleep(h.driver.cfg.Timeouts.silence())
		if n := lost(); n != 0 {
			t.Errorf("%d calls are given up before the host has been silent for long enough", n)
		}
		time.Sleep(2 * time.Second)
		if n := lost(); n != len(calls) {
			t.Errorf("%d calls to a node that is silent are given up, want %d", n, len(calls))
		}
		if len(h.driver.hints) != 0 || h.inspected.Load() != nil {
			t.Errorf("%d hints from a node that is down", len(h.driver.hints))
		}
		h.eventConn.mu.Lock()
		h.eventConn.uri = builtinURI
		h.eventConn.mu.Unlock()
		time.Sleep(h.driver.cfg.Timeouts.redial() + time.Second)
		synctest.Wait()
		if len(h.driver.hints) != 1 || h.inspected.Load() == nil || len(h.cache.machines) != 1 {
			t.Errorf("%d hints, %d machines, inspected %+v; want 1, 1 and an answer", len(h.driver.hints), len(h.cache.machines), h.inspected.Load())
		}
		breaks.Store(true)
		time.Sleep(501 * time.Millisecond)
		synctest.Wait()
		if len(h.driver.hints) != 3 { // it is lost, and there again
			t.Errorf("%d hints, want 3", len(h.driver.hints))
		}
		began := time.Now()
		close(h.driver.stop)
		h.close()
		for _, end := range end {
			end()
		}
		h.driver.running.Wait()
		if _, err := h.eventConn.acquire(t.Context()); !errors.Is(err, errClosed) {
			t.Errorf("a node that is closed hears: %v", err)
		}
		if time.Since(began) != 0 {
			t.Errorf("it is watched for %s more", time.Since(began))
		}
		var lines []string
		for line := range strings.Lines(said.String()) {
			if strings.Contains(line, "reachable") {
				lines = append(lines, line)
			}
		}
		if len(lines) != 2 || !strings.Contains(lines[0], `level=WARN msg="node unreachable" node=h1 error=`) || !strings.Contains(lines[1], `level=INFO msg="node reachable" node=h1`) {
			t.Errorf("it says %q", lines)
		}
	})
}

// That a host cannot be reached because the driver is closed is nothing to tell of.
func TestCloseIsNoFault(t *testing.T) {
	hangs, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, said := newWatched(newBuiltin(t).cfg, "qemu+tcp://"+hangs.Addr().String()+"/system")
	h.driver.running.Go(h.watch)
	conn, err := hangs.Accept()
	if err != nil {
		t.Fatal(err)
	}
	close(h.driver.stop)
	h.close()
	if err := errors.Join(conn.Close(), hangs.Close()); err != nil {
		t.Fatal(err)
	}
	h.driver.running.Wait()
	if said.Len() != 0 {
		t.Errorf("it says %q", said)
	}
}

// Nothing waits for a node that is down once the driver is closed.
func TestWatchEnds(t *testing.T) {
	b := newBuiltin(t)
	synctest.Test(t, func(t *testing.T) {
		h, said := newWatched(b.cfg, "nothing:///here")
		h.driver.running.Go(h.watch)
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		close(h.driver.stop)
		h.driver.running.Wait()
		if time.Since(began) != 0 || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("it is watched for %s more and says %q", time.Since(began), said)
		}
	})
}

// A registration holds its connection until it is taken back; without one the connection is
// given back at once, or when a node that was late has answered.
func TestRegistered(t *testing.T) {
	b := newBuiltin(t)
	broken := errors.New("broken")
	h, _ := newWatched(b.cfg, builtinURI)
	connected := func() *libvirt.Connect {
		t.Helper()
		conn, err := h.eventConn.acquire(t.Context())
		if err == nil {
			err = conn.Ref() // ours, to count
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	free := func(what string, conn *libvirt.Connect) {
		t.Helper()
		h.eventConn.forget(conn)
		h.driver.running.Wait()
		if left, err := conn.Close(); left != 0 || err != nil {
			t.Errorf("%s: %d references to the connection are left, %v", what, left, err)
		}
	}
	conn := connected()
	reg, err := h.awaitRegistration(t.Context(), conn, h.register)
	if err != nil || reg.conn != conn {
		t.Fatalf("%+v, %v", reg, err)
	}
	reg.cancel()
	free("after its end", conn)
	conn = connected()
	reg, err = h.awaitRegistration(t.Context(), conn, func(*libvirt.Connect) (*registration, error) { return nil, broken })
	if reg != nil || !errors.Is(err, broken) {
		t.Errorf("a node that refuses: %+v, %v", reg, err)
	}
	free("a host that refuses", conn)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, fails := range map[string]error{"late": nil, "late, and refuses": broken} {
		hang := make(chan struct{})
		conn = connected()
		reg, err = h.awaitRegistration(ended, conn, func(conn *libvirt.Connect) (*registration, error) {
			<-hang
			if fails != nil {
				return nil, fails
			}
			return h.register(conn)
		})
		if reg != nil || !errors.Is(err, hypervisor.ErrUnreachable) || !strings.Contains(err.Error(), "no answer within 10s") {
			t.Errorf("%s: %+v, %v", what, reg, err)
		}
		if h.eventConn.conn != nil {
			t.Errorf("%s: its connection is used again", what)
		}
		close(hang)
		free(what, conn)
	}
	h.close()
}

// Events for which there is no room are hints all the same.
func TestEventsWithoutRoom(t *testing.T) {
	b := newBuiltin(t)
	h, _ := newWatched(b.cfg, builtinURI)
	h.events = make(chan event)
	reg, err := h.subscribe()
	if err != nil {
		t.Fatal(err)
	}
	b.create(cluster.VMID{VJob: 7}, nil)
	select {
	case node := <-h.driver.hints:
		if node != "h1" {
			t.Errorf("a hint at %s", node)
		}
	case <-time.After(10 * time.Second):
		t.Error("an event without room is no hint")
	}
	reg.cancel()
	h.close()
	h.driver.running.Wait()
}
