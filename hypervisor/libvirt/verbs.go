//go:build libvirt_dlopen && cgo

package libvirt

import (
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
		return file(ctx, d.files, func() (hypervisor.Receipt, error) { return d.store.seal(ctx, call.Image) })
	case hypervisor.Revoke:
		err = d.files.do(ctx, func() error { return d.store.revoke(call.Image, call.Attempt) })
	case hypervisor.Discard:
		err = d.files.do(ctx, func() error { return d.store.discard(call.Image) })
	default: // the others happen on a node
		var h *host
		if h, err = d.host(call.Node); err == nil {
			err = h.do(ctx, call)
		}
	}
	return receipt, err
}

// do carries out a call on the host.
func (h *host) do(ctx context.Context, call hypervisor.Call) error {
	switch call.Verb {
	case hypervisor.Boot:
		return h.boot(ctx, call)
	case hypervisor.Shutdown:
		return h.onMachine(ctx, h.control, call.VM, func(dom *libvirt.Domain) error { return shutdown(ctx, dom) })
	case hypervisor.Destroy:
		// libvirt asks QEMU to end, waits up to ten seconds and then kills it.
		return h.changeMachine(ctx, call.VM, (*libvirt.Domain).Destroy)
	case hypervisor.Pause:
		return h.changeMachine(ctx, call.VM, (*libvirt.Domain).Suspend)
	case hypervisor.Unpause:
		return h.changeMachine(ctx, call.VM, (*libvirt.Domain).Resume)
	case hypervisor.Abort:
		return h.onMachine(ctx, h.control, call.VM, func(dom *libvirt.Domain) error { return abort(ctx, dom) })
	case hypervisor.Cap:
		return h.cap(ctx, call)
	case hypervisor.Save:
		return h.save(ctx, call)
	case hypervisor.Restore:
		return h.restore(ctx, call)
	case hypervisor.Migrate:
		return h.migrate(ctx, call)
	default:
		return cluster.BadField("verb", uint8(call.Verb), "a hypervisor verb")
	}
}

// onMachine does something to the machine of a VM.
func (h *host) onMachine(ctx context.Context, t *trunk, vm cluster.VMID, f func(*libvirt.Domain) error) error {
	_, err := ask(ctx, t, func(conn *libvirt.Connect) (struct{}, error) {
		return struct{}{}, h.withMachine(conn, vm, f)
	})
	return err
}

// changeMachine makes one short call that changes the machine of a VM.
func (h *host) changeMachine(ctx context.Context, vm cluster.VMID, f func(*libvirt.Domain) error) error {
	return h.onMachine(ctx, h.control, vm, func(dom *libvirt.Domain) error {
		return change(ctx, func() error { return f(dom) })
	})
}

// withMachine finds the machine of a VM. A stranger that bears its name is none.
func (h *host) withMachine(conn *libvirt.Connect, vm cluster.VMID, f func(*libvirt.Domain) error) error {
	dom, err := conn.LookupDomainByName(machineName(vm))
	if err != nil {
		return err
	}
	defer dom.Free() //nolint:errcheck // the reference is local
	if id, err := dom.GetUUIDString(); err != nil || id != machineUUID(h.driver.cfg.Cluster, vm) {
		return fmt.Errorf("%w: a stranger has its name", hypervisor.ErrNoSuchVM)
	}
	return f(dom)
}

// stoppable is what a shutdown needs of a machine: a [libvirt.Domain].
type stoppable interface {
	GetState() (libvirt.DomainState, int, error)
	Shutdown() error
}

// shutdown presses the power button. A paused guest cannot hear it, and libvirt
// says of it what it says of one that is gone.
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

// boot creates a machine from scratch, with the files that it needs.
func (h *host) boot(ctx context.Context, call hypervisor.Call) error {
	cfg := h.config()
	if call.Machine == nil {
		return cluster.BadField("machine", "nothing", "what to boot")
	}
	var err error
	if cfg.DomainType, err = h.domainType(ctx); err != nil {
		return err
	}
	domain, err := cfg.domain(call.VM, call.Stamp, *call.Machine)
	if err != nil {
		return err
	}
	domain.CPUTune = capped(call.Cap)
	text, err := domain.Marshal()
	if err != nil {
		return fmt.Errorf("description of the machine: %w", err)
	}
	err = h.driver.files.do(ctx, func() error { return cfg.prepare(ctx, call.VM, call.Stamp, call.Machine.Payload) })
	if err != nil {
		return err
	}
	who, err := cfg.identify(text)
	if err != nil {
		return fmt.Errorf("description of the machine: %w", err)
	}
	_, err = ask(ctx, h.bulk, func(conn *libvirt.Connect) (struct{}, error) {
		dom, err := conn.LookupDomainByName(domain.Name)
		if err == nil {
			return struct{}{}, joined(dom.Free(), hypervisor.ErrExists)
		}
		// A guest can end before anybody looks; then this is how its end is known.
		h.seen.expect(domain.UUID, who)
		return struct{}{}, change(ctx, func() error {
			dom, err := conn.DomainCreateXML(text, 0)
			if err != nil {
				return err
			}
			return dom.Free()
		})
	})
	return err
}

// savable is what a save needs of a machine: a [libvirt.Domain].
type savable interface {
	GetState() (libvirt.DomainState, int, error)
	SaveFlags(path, xml string, flags libvirt.DomainSaveRestoreFlags) error
}

// save writes a paused copy to a name that was never used.
func (h *host) save(ctx context.Context, call hypervisor.Call) error {
	d := h.driver
	return h.onMachine(ctx, h.bulk, call.VM, func(dom *libvirt.Domain) error {
		if !d.saving.take(call.Image) {
			return fmt.Errorf("%w: image %s is being written", hypervisor.ErrExists, call.Image)
		}
		defer d.saving.free(call.Image)
		// Not before: until now another call may have written it.
		if err := d.files.do(ctx, func() error { return d.store.unused(call.Image) }); err != nil {
			return err
		}
		return savePaused(ctx, dom, d.store.path(h.Node, call.Image))
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

// restore verifies an image and creates a paused copy from it. The copy comes with the
// cap that it was saved with, and gets its own before any call can let it go on.
func (h *host) restore(ctx context.Context, call hypervisor.Call) error {
	d := h.driver
	path, err := file(ctx, d.files, func() (string, error) { return d.store.verify(ctx, call.Image, call.Checksum) })
	if err != nil {
		return err
	}
	_, err = ask(ctx, h.bulk, func(conn *libvirt.Connect) (struct{}, error) {
		if err := d.store.load(ctx, conn, path, call.Attempt); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, h.withMachine(conn, call.VM, func(dom *libvirt.Domain) error { return recap(ctx, dom, call.Cap) })
	})
	return err
}

// loader is what a restore needs of a host: a [libvirt.Connect].
type loader interface {
	DomainRestoreFlags(path, xml string, flags libvirt.DomainSaveRestoreFlags) error
}

// load creates a paused copy from a verified image.
func (s *imageStore) load(ctx context.Context, host loader, path string, attempt int) error {
	link, err := s.license(path, attempt)
	if err != nil {
		return err
	}
	err = change(ctx, func() error { return host.DomainRestoreFlags(link, "", libvirt.DOMAIN_SAVE_PAUSED) })
	// A call that libvirt has not seen yet, on a connection that broke, now
	// comes too late.
	return joined(err, remove(link))
}
