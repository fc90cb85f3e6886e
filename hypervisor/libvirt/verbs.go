//go:build libvirt_dlopen && cgo

package libvirt

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Do carries out one call.
func (d *Driver) Do(ctx context.Context, call hypervisor.Call) (hypervisor.Receipt, error) {
	receipt, err := d.do(ctx, call)
	switch {
	case err == nil:
		return receipt, nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		err = fmt.Errorf("%w: %w", hypervisor.ErrTimeout, err)
	}
	if call.Node == "" {
		return hypervisor.Receipt{}, fmt.Errorf("%s %s: %w", call.Verb, call.Image, err)
	}
	return hypervisor.Receipt{}, fmt.Errorf("%s %s on %s: %w", call.Verb, call.VM, call.Node, err)
}

func (d *Driver) do(ctx context.Context, call hypervisor.Call) (receipt hypervisor.Receipt, err error) {
	switch call.Verb {
	case hypervisor.Seal:
		return runFileOp(ctx, d.files, func() (hypervisor.Receipt, error) { return d.store.seal(ctx, call.Image) })
	case hypervisor.Revoke:
		err = d.files.do(ctx, func() error { return d.store.revoke(call.Image, call.Attempt) })
	case hypervisor.Discard:
		err = d.files.do(ctx, func() error { return d.store.discard(call.Image) })
	default: // verbs of a node
		var n *node
		if n, err = d.node(call.Node); err == nil {
			err = n.do(ctx, call)
		}
	}
	return receipt, err
}

// do carries out a call on the host.
func (n *node) do(ctx context.Context, call hypervisor.Call) error {
	switch call.Verb {
	case hypervisor.Boot:
		return n.boot(ctx, call)
	case hypervisor.Shutdown:
		return n.onMachine(ctx, n.controlPool, call.VM, func(dom *libvirt.Domain) error { return shutdown(ctx, dom) })
	case hypervisor.Destroy:
		// libvirt asks QEMU to end, waits up to ten seconds and then kills it.
		return n.changeMachine(ctx, call.VM, (*libvirt.Domain).Destroy)
	case hypervisor.Pause:
		return n.changeMachine(ctx, call.VM, (*libvirt.Domain).Suspend)
	case hypervisor.Unpause:
		return n.changeMachine(ctx, call.VM, (*libvirt.Domain).Resume)
	case hypervisor.Abort:
		return n.onMachine(ctx, n.controlPool, call.VM, func(dom *libvirt.Domain) error { return abort(ctx, dom) })
	case hypervisor.Tune:
		return n.tune(ctx, call)
	case hypervisor.Save:
		return n.save(ctx, call)
	case hypervisor.Restore:
		return n.restore(ctx, call)
	case hypervisor.Migrate:
		return n.migrate(ctx, call)
	default:
		return cluster.BadField("verb", uint8(call.Verb), "a hypervisor verb")
	}
}

// onMachine runs f on the machine of a VM.
func (n *node) onMachine(ctx context.Context, t *connPool, vm cluster.VMID, f func(*libvirt.Domain) error) error {
	_, err := withConn(ctx, t, func(conn *libvirt.Connect) (struct{}, error) {
		return struct{}{}, n.withMachine(conn, vm, f)
	})
	return err
}

// changeMachine makes one short call that changes the machine of a VM.
func (n *node) changeMachine(ctx context.Context, vm cluster.VMID, f func(*libvirt.Domain) error) error {
	return n.onMachine(ctx, n.controlPool, vm, func(dom *libvirt.Domain) error {
		return change(ctx, func() error { return f(dom) })
	})
}

// withMachine finds the machine of a VM and runs f on it. An unmanaged machine of its name is
// ErrNoSuchVM.
func (n *node) withMachine(conn *libvirt.Connect, vm cluster.VMID, f func(*libvirt.Domain) error) error {
	dom, err := conn.LookupDomainByName(cluster.GuestName(vm))
	if err != nil {
		return err
	}
	defer dom.Free() //nolint:errcheck // the reference is local
	if id, err := dom.GetUUIDString(); err != nil || id != machineUUID(n.driver.cfg.Cluster, vm) {
		return fmt.Errorf("%w: an unmanaged machine has its name", hypervisor.ErrNoSuchVM)
	}
	return f(dom)
}

// stoppable is the part of a [libvirt.Domain] that a shutdown uses.
type stoppable interface {
	GetState() (libvirt.DomainState, int, error)
	Shutdown() error
}

// shutdown presses the power button. A paused guest cannot react, and libvirt's error for it is
// that for a machine that is gone.
func shutdown(ctx context.Context, m stoppable) error {
	state, _, err := m.GetState()
	switch {
	case err != nil:
		return err
	case state == libvirt.DOMAIN_PAUSED:
		return fmt.Errorf("%w: it is paused", hypervisor.ErrRefused)
	}
	return change(ctx, m.Shutdown)
}

// boot creates a machine from scratch, with its files.
func (n *node) boot(ctx context.Context, call hypervisor.Call) error {
	cfg := n.config()
	if call.Machine == nil {
		return cluster.Fault("machine", "nothing to boot")
	}
	var err error
	if cfg.DomainType, err = n.domainType(ctx); err != nil {
		return err
	}
	printed, err := runFileOp(ctx, n.driver.files, func() (int64, error) { return cfg.printed(call.VM) })
	if err != nil {
		return err
	}
	domain, err := cfg.domain(call.VM, call.Stamp, printed, *call.Machine)
	if err != nil {
		return err
	}
	domain.CPUTune = cpuTune(tuning{call.Cap, call.Weight})
	text, err := domain.Marshal()
	if err != nil {
		return fmt.Errorf("description of the machine: %w", err)
	}
	domain.CPUTune = cpuTune(tuning{cap: call.Cap})
	unweighted, err := domain.Marshal()
	if err != nil {
		return fmt.Errorf("description of the machine: %w", err)
	}
	err = n.driver.files.do(ctx, func() error { return cfg.prepare(ctx, call.VM, call.Stamp, call.Machine.Payload) })
	if err != nil {
		return err
	}
	id, err := cfg.identify(text)
	if err != nil {
		return fmt.Errorf("description of the machine: %w", err)
	}
	_, err = withConn(ctx, n.bulkPool, func(conn *libvirt.Connect) (struct{}, error) {
		dom, err := conn.LookupDomainByName(domain.Name)
		if err == nil {
			return struct{}{}, cmp.Or(dom.Free(), hypervisor.ErrExists)
		}
		// A guest can end before the next look; then the cache has its identity, or the console tells the end.
		n.cache.expect(domain.UUID, id)
		started := lastGuest{Incarnation: call.Stamp.Incarnation, Printed: printed}
		if err := n.driver.files.do(ctx, func() error { return cfg.noteGuest(ctx, call.VM, started) }); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, change(ctx, func() error { return create(conn, text, unweighted) })
	})
	return err
}

// create creates a machine. On a host without control groups for the CPU, which refuses weights, it
// is created without one: the next look shows that, and the call that sets it gets the error.
func create(conn *libvirt.Connect, text, unweighted string) error {
	dom, err := conn.DomainCreateXML(text, 0)
	if hasCode(err, libvirt.ERR_CONFIG_UNSUPPORTED) && text != unweighted {
		dom, err = conn.DomainCreateXML(unweighted, 0)
	}
	if err != nil {
		return err
	}
	return dom.Free()
}

// savable is the part of a [libvirt.Domain] that a save uses.
type savable interface {
	GetState() (libvirt.DomainState, int, error)
	SaveFlags(path, xml string, flags libvirt.DomainSaveRestoreFlags) error
}

// save writes a paused copy to a name that was never used.
func (n *node) save(ctx context.Context, call hypervisor.Call) error {
	d := n.driver
	return n.onMachine(ctx, n.bulkPool, call.VM, func(dom *libvirt.Domain) error {
		if !d.saving.take(call.Image) {
			return fmt.Errorf("%w: image %s is being written", hypervisor.ErrExists, call.Image)
		}
		defer d.saving.free(call.Image)
		// Only now: before the claim another call may have written it.
		if err := d.files.do(ctx, func() error { return d.store.checkUnused(call.Image) }); err != nil {
			return err
		}
		return savePaused(ctx, dom, d.store.path(n.Node, call.Image))
	})
}

// savePaused writes a machine to a file, if it is paused.
func savePaused(ctx context.Context, m savable, path string) error {
	state, _, err := m.GetState()
	switch {
	case err != nil:
		return err
	case state != libvirt.DOMAIN_PAUSED:
		return fmt.Errorf("%w: only a paused copy is saved: libvirt lets a running one go on after a failure",
			hypervisor.ErrRefused)
	}
	return change(ctx, func() error { return m.SaveFlags(path, "", libvirt.DOMAIN_SAVE_PAUSED) })
}

// restore verifies an image and creates a paused copy from it. The copy has the cap and the weight
// with which it was saved, and gets those of the call before it can be unpaused.
func (n *node) restore(ctx context.Context, call hypervisor.Call) error {
	d, want := n.driver, tuning{call.Cap, call.Weight}
	path, err := runFileOp(ctx, d.files, func() (string, error) { return d.store.verify(ctx, call.Image, call.Checksum) })
	if err != nil {
		return err
	}
	_, err = withConn(ctx, n.bulkPool, func(conn *libvirt.Connect) (struct{}, error) {
		if err := d.store.load(ctx, conn, path, call.Attempt); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, n.withMachine(conn, call.VM, func(dom *libvirt.Domain) error { return ensureTuning(ctx, dom, want) })
	})
	return err
}

// loader is the part of a [libvirt.Connect] that a restore uses.
type loader interface {
	DomainRestoreFlags(path, xml string, flags libvirt.DomainSaveRestoreFlags) error
}

// load creates a paused copy from a verified image.
func (s *imageStore) load(ctx context.Context, host loader, path string, attempt int) error {
	link, err := s.linkForAttempt(path, attempt)
	if err != nil {
		return err
	}
	err = change(ctx, func() error { return host.DomainRestoreFlags(link, "", libvirt.DOMAIN_SAVE_PAUSED) })
	if errors.Is(err, hypervisor.ErrNoSuchVM) { // QEMU has ended before it could say why
		err = fmt.Errorf("%w: %v", hypervisor.ErrRefused, err) //nolint:errorlint // there was never a VM
	}
	// Without the link, a call that is still on its way on a broken connection fails.
	return cmp.Or(err, remove(link))
}
