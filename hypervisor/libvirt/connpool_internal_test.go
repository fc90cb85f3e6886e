//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A call that is given up frees its slot, once; its connection is never used again.
func TestPoolGivesUp(t *testing.T) {
	var running sync.WaitGroup
	r := newConnPool("test:///default", 2, Timeouts{}, &running)
	take := func() *connection {
		t.Helper()
		l, err := r.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	full := func() bool {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		l, err := r.take(ctx)
		if err == nil {
			r.put(l)
		}
		return err != nil && len(r.slots) == cap(r.slots)
	}
	old, idle := take(), take()
	gone := r.begin(old)
	r.put(idle)
	r.giveUp(gone.begun) // not begun before that
	select {
	case <-gone.lost:
		t.Fatal("a call was given up at the instant of its begin")
	default:
	}
	r.giveUp(gone.begun.Add(time.Nanosecond))
	select {
	case <-gone.lost:
	default:
		t.Fatal("an old call was not given up")
	}
	a, b := take(), take()
	if a == old || b == old || !full() {
		t.Error("the connection of a call that was given up is reused, or there are more than two connections")
	}
	ca, cb := r.begin(a), r.begin(b)
	r.end(old, gone) // it ends after all
	if !old.closed || !full() {
		t.Error("the end of a call that was given up made room once more")
	}
	r.end(a, ca)
	r.close()
	r.end(b, cb)
	if !a.closed || !b.closed || len(r.slots) != 0 {
		t.Errorf("after close: connections closed %t, %t, %d slots taken", a.closed, b.closed, len(r.slots))
	}
}

// A call that has ended is not given up any more, and its connection serves the next one.
func TestPoolForgetsEndedCalls(t *testing.T) {
	var running sync.WaitGroup
	r := newConnPool("test:///default", 1, Timeouts{}, &running)
	first, err := r.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := r.begin(first)
	r.end(first, c)
	again, err := r.take(t.Context())
	if err != nil || again != first || again.closed {
		t.Fatalf("the connection of a call that has ended is not used again: %v", err)
	}
	r.giveUp(c.begun.Add(time.Nanosecond))
	select {
	case <-c.lost:
		t.Error("a call that has ended was given up")
	default:
	}
	if len(r.slots) != 1 || len(r.idle) != 0 {
		t.Errorf("%d slots are taken and %d connections idle, of one", len(r.slots), len(r.idle))
	}
	r.put(again)
}

// All idle connections are closed with their pool.
func TestPoolCloses(t *testing.T) {
	var running sync.WaitGroup
	r := newConnPool("test:///default", 2, Timeouts{}, &running)
	idle := slices.Clone(r.idle)
	r.close()
	for i, l := range idle {
		if !l.closed {
			t.Errorf("connection %d is open", i)
		}
	}
}

// A node that hangs holds few threads in the opening of consoles.
func TestAttachesAreBounded(t *testing.T) {
	d := &Driver{nodes: map[cluster.NodeID]*node{}}
	h := &node{attaching: make(chan struct{}, 1)}
	d.nodes["h1"] = h
	h.attaching <- struct{}{} // one that has not ended
	_, err := d.Attach(t.Context(), cluster.VMID{VJob: 1}, "h1")
	if !errors.Is(err, hypervisor.ErrUnreachable) || !strings.Contains(err.Error(), "1 consoles of its guests are being opened") {
		t.Errorf("one more console: %v", err)
	}
}
