//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"fmt"
	"sync"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// trunk is the lines to one host for one kind of work, each of which carries one call
// at a time. libvirt lets calls share a connection, but when one breaks under two of
// them its client hangs in the second for ever, or, before libvirt 10.4, writes to
// memory that is no longer its own and crashes us (CVE-2024-4418); Debian 12 has 9.0.
// TestConnectionsBreak in tests/lab shows it.
type trunk struct {
	slots   chan struct{}   // calls that may be under way at once
	running *sync.WaitGroup // goroutines of the driver
	lines   []*line

	mu   sync.Mutex
	idle []*line // a stack: while calls are few, few lines are open
}

func newTrunk(uri string, lines int, t Timeouts, running *sync.WaitGroup) *trunk {
	r := &trunk{slots: make(chan struct{}, lines), running: running}
	for range lines {
		r.lines = append(r.lines, newLine(uri, t, running))
	}
	r.idle = append(r.idle, r.lines...)
	return r
}

// take gets a line for one call, which ends with put.
func (r *trunk) take(ctx context.Context) (*line, error) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: earlier calls to the host have not ended", hypervisor.ErrTimeout)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	top := len(r.idle) - 1
	l := r.idle[top]
	r.idle = r.idle[:top]
	return l, nil
}

func (r *trunk) put(l *line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, l)
	<-r.slots
}

func (r *trunk) close() {
	for _, l := range r.lines {
		l.close()
	}
}

// ask runs f on a line of the trunk and waits for it or for the context, whichever ends
// first. Once begun, f runs to its end in any case: cgo knows no context.
func ask[T any](ctx context.Context, r *trunk, f func(*libvirt.Connect) (T, error)) (T, error) {
	var none T
	l, err := r.take(ctx)
	if err != nil {
		return none, err
	}
	conn, err := l.acquire(ctx)
	if err == nil && ctx.Err() != nil {
		release(conn)
		err = fmt.Errorf("%w: %w", hypervisor.ErrTimeout, ctx.Err())
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
	r.running.Go(func() {
		defer r.put(l)
		defer release(conn)
		value, err := f(conn)
		answered <- answer{value, translate(err)}
	})
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		return none, fmt.Errorf("%w: the call goes on", hypervisor.ErrTimeout)
	}
}
