//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// A connection is opened once, kept, and opened again when it was forgotten or
// has broken.
func TestLine(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	l := newConnection(builtinURI, newBuiltin(t).cfg.Timeouts, &running)
	acquire := func() *libvirt.Connect {
		t.Helper()
		conn, err := l.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	first := acquire()
	if acquire() != first {
		t.Error("a connection that lives is not used again")
	}
	l.forget(first)
	second := acquire()
	if second == first {
		t.Error("a connection that was forgotten is used again")
	}
	l.forget(first)
	if acquire() != second {
		t.Error("an old connection was forgotten, and a new one opened")
	}
	l.alive = func(conn *libvirt.Connect) bool { return conn != second }
	third := acquire()
	if third == second {
		t.Error("a connection that has broken is used again")
	}
	l.close()
	if _, err := l.acquire(t.Context()); !errors.Is(err, hypervisor.ErrUnreachable) || !errors.Is(err, errClosed) {
		t.Errorf("after close: %v", err)
	}
	running.Wait()
	for _, conn := range []*libvirt.Connect{first, second, third} {
		if conn != third {
			release(conn)
		}
		if left, err := conn.Close(); left != 0 || err != nil { // ours are given back
			t.Errorf("a broken connection is still referenced: %d, %v", left, err)
		}
	}
}

// An address that takes connections and says nothing is given up after a while.
func TestLineToAHostThatHangs(t *testing.T) {
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	defer running.Wait()
	cfg := newBuiltin(t).cfg
	cfg.Timeouts.DialSeconds = 1
	l := newConnection("qemu+tcp://"+silent.Addr().String()+"/system", cfg.Timeouts, &running)
	defer l.close()
	began := time.Now()
	if _, err := l.acquire(t.Context()); !errors.Is(err, hypervisor.ErrUnreachable) || !strings.Contains(err.Error(), "no answer within 1s") {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	hanging := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.stuck
	}
	if got := hanging(); got != 1 {
		t.Errorf("%d tries hang, want 1", got)
	}
	if err := silent.Close(); err != nil { // so the kernel ends the connection, and the try
		t.Fatal(err)
	}
	running.Wait()
	if got := hanging(); got != 0 {
		t.Errorf("%d tries hang after their end", got)
	}
}

// A node that refuses is asked again after growing pauses, and not before.
func TestLineWaits(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	l := newConnection("nothing:///here", newBuiltin(t).cfg.Timeouts, &running)
	defer l.close()
	for i, pause := range []time.Duration{firstPause, 2 * firstPause} {
		if _, err := l.acquire(t.Context()); !errors.Is(err, hypervisor.ErrUnreachable) || strings.Contains(err.Error(), "virError") {
			t.Fatalf("try %d: %v", i, err)
		}
		l.mu.Lock()
		again := time.Until(l.next)
		l.next = time.Now().Add(time.Hour)
		l.mu.Unlock()
		if again <= pause/2 || again > pause {
			t.Errorf("after try %d the next is in %s, want %s", i, again, pause)
		}
		if _, err := l.acquire(t.Context()); !errors.Is(err, hypervisor.ErrUnreachable) {
			t.Fatalf("before its time: %v", err)
		}
		l.mu.Lock()
		l.next = time.Now()
		l.mu.Unlock()
	}
}

// An address that hangs keeps few tries to connect; each that is given up makes room for
// another only when it ends, and what it brings then is not used.
func TestAttemptsThatHang(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	l := newConnection(builtinURI, newBuiltin(t).cfg.Timeouts, &running)
	var tries []chan struct{}
	hang := func() chan struct{} {
		dialing := make(chan struct{})
		l.mu.Lock()
		l.dialing, l.next = dialing, time.Time{}
		l.mu.Unlock()
		tries = append(tries, dialing)
		return dialing
	}
	for i := range maxStuck {
		l.next = time.Time{}
		if _, dialing, err := l.tryAcquire(); dialing == nil || err != nil {
			t.Fatalf("no try is begun beside %d that hang: %v", i, err)
		} else {
			<-dialing
			l.forget(l.conn)
		}
		dialing := hang()
		if _, got, err := l.tryAcquire(); got != dialing || err != nil {
			t.Fatalf("a second try is begun beside the first: %v", err)
		}
		l.giveUp(dialing)
		select {
		case <-dialing:
		default:
			t.Fatal("the end of a try that was given up is not announced")
		}
		if _, _, err := l.tryAcquire(); !errors.Is(err, hypervisor.ErrUnreachable) || !strings.Contains(err.Error(), "no answer within") {
			t.Fatalf("after a try that was given up: %v", err)
		}
	}
	l.next = time.Time{}
	if _, dialing, err := l.tryAcquire(); dialing != nil || err == nil {
		t.Fatalf("one more try was begun beside %d that hang", maxStuck)
	}
	l.giveUp(tries[0]) // it was given up before
	if l.stuck != maxStuck {
		t.Fatalf("%d tries hang, want %d", l.stuck, maxStuck)
	}

	late, err := libvirt.NewConnect(builtinURI)
	if err != nil {
		t.Fatal(err)
	}
	l.dialed(tries[0], late, nil)
	if l.conn != late || l.stuck != maxStuck-1 {
		t.Error("a late connection is not used although there is no other")
	}
	second, err := libvirt.NewConnect(builtinURI)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Ref(); err != nil {
		t.Fatal(err)
	}
	l.dialed(tries[1], second, nil)
	if l.conn != late || l.stuck != maxStuck-2 {
		t.Error("a second connection took the place of the first")
	}
	if left, err := second.Close(); left != 0 || err != nil {
		t.Errorf("%d references to a connection that is not used are left, %v", left, err)
	}
	l.close()
	third, err := libvirt.NewConnect(builtinURI)
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Ref(); err != nil {
		t.Fatal(err)
	}
	l.dialed(tries[2], third, nil)
	if left, err := third.Close(); left != 0 || err != nil || l.conn != nil {
		t.Errorf("%d references to a closed connection are left, %v", left, err)
	}
}
