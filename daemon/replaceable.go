package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// driverChange gives a driver other settings: apply, then done, or undo and drop. A driver that stays as it is has
// nothing to do.
type driverChange struct {
	apply func() error
	undo  func()
	done  func()
	drop  func()
}

// prepareDriver prepares the driver for other settings.
func (d *Daemon) prepareDriver(ctx context.Context, next *settings.Settings) (driverChange, error) {
	nothing := func() {}
	c := driverChange{apply: func() error { return nil }, undo: nothing, done: nothing, drop: nothing}
	switch driver := d.driver.(type) {
	case *simulated.Driver:
		before, err := simulatedSettings(&d.settings)
		if err != nil {
			return c, err
		}
		after, err := simulatedSettings(next)
		if err != nil {
			return c, err
		}
		c.apply = func() error { return driver.Reconfigure(after) }
		c.undo = func() {
			if err := driver.Reconfigure(before); err != nil {
				d.log.LogAttrs(ctx, slog.LevelError, "the simulated cluster keeps the new settings", slog.String("error", err.Error()))
			}
		}
	case *replaceable:
		if reflect.DeepEqual(libvirtConfig(&d.settings), libvirtConfig(next)) {
			return c, nil
		}
		installation, err := d.store.Installation(ctx)
		if err != nil {
			return c, err
		}
		fresh, err := newLibvirt(next, installation, d.log) //nolint:contextcheck // the driver lives on
		if err != nil {
			return c, err
		}
		var before *generation
		c.apply = func() error { before = driver.swap(fresh); return nil }
		c.undo = func() { fresh = driver.swap(before.Driver).Driver }
		c.done = func() { driver.retire(before, d.log) }
		c.drop = func() {
			if err := fresh.Close(); err != nil {
				d.log.LogAttrs(ctx, slog.LevelWarn, "close the unused driver", slog.String("error", err.Error()))
			}
		}
	}
	return c, nil
}

// replaceable is a driver that another one can replace while it is used. What began with one ends with it.
type replaceable struct {
	hints   chan cluster.NodeID
	retired sync.WaitGroup // drivers that are being closed

	mu      sync.RWMutex
	current *generation
}

// generation is a driver with its users.
type generation struct {
	hypervisor.Driver
	users sync.WaitGroup
	quit  chan struct{} // closed when its hints are no longer forwarded
}

var (
	_ hypervisor.Driver   = (*replaceable)(nil)
	_ hypervisor.Attacher = (*replaceable)(nil)
)

func newReplaceable(first hypervisor.Driver) *replaceable {
	r := &replaceable{hints: make(chan cluster.NodeID, 256)}
	r.swap(first)
	return r
}

// swap replaces the driver and returns the one before.
func (r *replaceable) swap(next hypervisor.Driver) (before *generation) {
	g := &generation{Driver: next, quit: make(chan struct{})}
	go r.forward(g)
	r.mu.Lock()
	before, r.current = r.current, g
	r.mu.Unlock()
	if before != nil {
		close(before.quit)
	}
	return before
}

// forward passes hints on, or drops them while there are too many: hints may get lost.
func (r *replaceable) forward(g *generation) {
	for {
		select {
		case <-g.quit:
			return
		case node := <-g.Hints():
			select {
			case r.hints <- node:
			default:
			}
		}
	}
}

// retire closes a driver once its last user has ended, and does not wait for that.
func (r *replaceable) retire(g *generation, log *slog.Logger) {
	r.retired.Go(func() {
		g.users.Wait()
		if err := g.Close(); err != nil {
			log.Warn("close the driver of the settings before", slog.Any("error", err))
		}
	})
}

// use returns the present driver. The caller ends its use.
func (r *replaceable) use() *generation {
	r.mu.RLock()
	defer r.mu.RUnlock()
	r.current.users.Add(1)
	return r.current
}

func (r *replaceable) Do(ctx context.Context, call hypervisor.Call) (hypervisor.Receipt, error) {
	g := r.use()
	defer g.users.Done()
	return g.Do(ctx, call)
}

func (r *replaceable) Look(ctx context.Context, node cluster.NodeID, missing ...hypervisor.Guest) (hypervisor.View, error) {
	g := r.use()
	defer g.users.Done()
	return g.Look(ctx, node, missing...)
}

func (r *replaceable) LookStore(ctx context.Context) (hypervisor.Store, error) {
	g := r.use()
	defer g.users.Done()
	return g.LookStore(ctx)
}

func (r *replaceable) Hints() <-chan cluster.NodeID { return r.hints }

func (r *replaceable) Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	g := r.use()
	defer g.users.Done()
	return g.Console(ctx, vm)
}

func (r *replaceable) Errors(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	g := r.use()
	defer g.users.Done()
	return g.Errors(ctx, vm)
}

func (r *replaceable) Sweep(ctx context.Context, live func(cluster.VJobID) bool, keepConsoles time.Duration) error {
	g := r.use()
	defer g.users.Done()
	return g.Sweep(ctx, live, keepConsoles)
}

// Attach opens the interactive console of a copy. The driver is in use until the console is closed.
func (r *replaceable) Attach(ctx context.Context, vm cluster.VMID, node cluster.NodeID) (io.ReadWriteCloser, error) {
	g := r.use()
	a, ok := g.Driver.(hypervisor.Attacher)
	if !ok {
		g.users.Done()
		return nil, fmt.Errorf("attach to %s: the driver has no consoles: %w", vm, hypervisor.ErrRefused)
	}
	console, err := a.Attach(ctx, vm, node)
	if err != nil {
		g.users.Done()
		return nil, err
	}
	return &heldConsole{ReadWriteCloser: console, release: sync.OnceFunc(g.users.Done)}, nil
}

// heldConsole is a console with a driver that is in use until it is closed.
type heldConsole struct {
	io.ReadWriteCloser
	release func()
}

func (c *heldConsole) Close() error {
	defer c.release()
	return c.ReadWriteCloser.Close()
}

// Close closes the driver, and waits for those that were replaced.
func (r *replaceable) Close() error {
	r.mu.RLock()
	g := r.current
	r.mu.RUnlock()
	close(g.quit)
	err := g.Close()
	r.retired.Wait()
	return err
}
