//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// A query is answered, or given up in the way that tells whether it was sent; its connection
// serves the next one in any case.
func TestWithConn(t *testing.T) {
	b := newBuiltin(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	hang, going := make(chan struct{}), make(chan struct{})
	waits := func(*libvirt.Connect) (int, error) {
		close(going)
		<-hang
		return 7, nil
	}
	var running sync.WaitGroup
	r := newConnPool(builtinURI, 1, b.cfg.Timeouts, &running)
	var conn *libvirt.Connect // with a reference of ours
	t.Cleanup(func() {
		r.close()
		running.Wait()
		if left, err := conn.Close(); left != 0 || err != nil {
			t.Errorf("a call holds the connection that it has used: %d, %v", left, err)
		}
	})
	answer := func(*libvirt.Connect) (int, error) { return 5, nil }
	got, err := withConn(t.Context(), r, func(c *libvirt.Connect) (int, error) {
		conn = c
		return 5, c.Ref()
	})
	if got != 5 || err != nil {
		t.Fatalf("an answer: %d, %v", got, err)
	}
	_, err = withConn(t.Context(), r, func(conn *libvirt.Connect) (int, error) {
		_, err := conn.LookupDomainByName("nothing")
		return 0, err
	})
	if !errors.Is(err, hypervisor.ErrNoSuchVM) {
		t.Errorf("an error: %v", err)
	}
	for range 3 { // a connection is free as well, and select takes either
		called := false
		_, err = withConn(ended, r, func(*libvirt.Connect) (int, error) { called = true; return 0, nil })
		if called || !errors.Is(err, hypervisor.ErrUnreachable) || errors.Is(err, hypervisor.ErrTimeout) {
			t.Errorf("a query that comes too late was sent: %t, %v", called, err)
		}
	}

	// It is sent, and its context ends.
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-going
		stop()
	}()
	if _, err = withConn(ctx, r, waits); !errors.Is(err, hypervisor.ErrTimeout) || errors.Is(err, hypervisor.ErrUnreachable) {
		t.Errorf("a query without an answer: %v", err)
	}
	if _, err = withConn(ended, r, answer); !errors.Is(err, errQueued) {
		t.Errorf("a query behind one that goes on: %v", err)
	}
	close(hang)
	if got, err := withConn(t.Context(), r, answer); got != 5 || err != nil {
		t.Errorf("the query after it: %d, %v", got, err)
	}

	// It is sent, and its host is given up.
	hang, going = make(chan struct{}), make(chan struct{})
	go func() {
		<-going
		r.giveUp(time.Now().Add(time.Hour))
	}()
	if _, err = withConn(t.Context(), r, waits); !errors.Is(err, errLost) {
		t.Errorf("a query to a node that is given up: %v", err)
	}
	if got, err := withConn(t.Context(), r, answer); got != 5 || err != nil {
		t.Errorf("the query in its place: %d, %v", got, err)
	}
	close(hang)
}
