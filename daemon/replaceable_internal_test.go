package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"vjob/cluster"
	"vjob/hypervisor"
)

// slowDriver answers calls when it is let go.
type slowDriver struct {
	hypervisor.Driver
	release chan struct{}
	hints   chan cluster.NodeID
	closed  atomic.Bool
}

func newSlowDriver() *slowDriver {
	return &slowDriver{release: make(chan struct{}), hints: make(chan cluster.NodeID)}
}

func (d *slowDriver) Do(context.Context, hypervisor.Call) (hypervisor.Receipt, error) {
	<-d.release
	if d.closed.Load() {
		return hypervisor.Receipt{}, errors.New("the driver was closed during a call")
	}
	return hypervisor.Receipt{}, nil
}

func (d *slowDriver) Attach(context.Context, cluster.VMID, cluster.NodeID) (io.ReadWriteCloser, error) {
	near, far := net.Pipe()
	_ = far.Close()
	return near, nil
}

func (d *slowDriver) Hints() <-chan cluster.NodeID { return d.hints }

func (d *slowDriver) Close() error {
	d.closed.Store(true)
	return nil
}

// A driver that was replaced is closed once its calls and consoles have ended, not before; hints come from the present one.
func TestADriverIsReplacedWhileItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newSlowDriver(), newSlowDriver()
		r := newReplaceable(first)
		called := make(chan error, 1)
		go func() {
			_, err := r.Do(t.Context(), hypervisor.Call{})
			called <- err
		}()
		console, err := r.Attach(t.Context(), cluster.VMID{}, "n1")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.retire(r.swap(second), slog.New(slog.DiscardHandler))
		synctest.Wait()
		second.hints <- "n2"
		if node := <-r.Hints(); node != "n2" {
			t.Errorf("a hint of %s", node)
		}
		close(first.release)
		if err := <-called; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if first.closed.Load() {
			t.Error("the first driver is closed while a console is open")
		}
		for range 2 { // closing twice is harmless
			_ = console.Close()
		}
		synctest.Wait()
		if !first.closed.Load() || second.closed.Load() {
			t.Errorf("closed: the first %t, the second %t", first.closed.Load(), second.closed.Load())
		}
		close(second.release)
		if _, err := r.Do(t.Context(), hypervisor.Call{}); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil || !second.closed.Load() {
			t.Errorf("close: %v", err)
		}
	})
}
