//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// builtin is a node that libvirt itself simulates in this process, test:///default: its
// machines are real to the driver, and nothing is started. It supports neither jobs nor saves
// of paused machines; tests/lab tests those.
type builtin struct {
	*testing.T
	*Driver
	conn *libvirt.Connect
}

const builtinURI = "test:///default"

// newBuiltin drives that host as h1 and h2, with settings that may be changed.
func newBuiltin(t *testing.T, changes ...func(*Config)) *builtin {
	t.Helper()
	cfg := validConfig()
	cfg.Hosts = []Host{{Node: "h1", URI: builtinURI}, {Node: "h2", URI: builtinURI}}
	for _, change := range changes {
		change(&cfg)
	}
	cfg.ImageDir, cfg.ConsoleDir, cfg.SeedDir = t.TempDir(), t.TempDir(), t.TempDir()
	cfg.Installation = "this"
	if _, err := InitStore(t.Context(), cfg, false); err != nil {
		t.Fatal(err)
	}
	d, err := New(cfg, slog.New(slog.DiscardHandler))
	if _, missing := libvirt.GetVersion(); missing != nil && errors.Is(err, cluster.ErrUnavailable) {
		t.Skip("no libvirt here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	conn, err := libvirt.NewConnect(builtinURI)
	if err != nil {
		t.Fatal(err)
	}
	b := &builtin{t, d, conn}
	t.Cleanup(func() {
		release(conn)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// quiet drives the host as well, and does nothing by itself.
func (b *builtin) quiet() *node {
	d := &Driver{cfg: b.cfg, log: b.log}
	h := newNode(b.cfg.Hosts[0], d)
	b.Cleanup(func() {
		h.close()
		d.running.Wait()
	})
	return h
}

// describe is how the driver would describe a machine; change may spoil it.
func (b *builtin) describe(vm cluster.VMID, change func(*libvirtxml.Domain)) string {
	b.Helper()
	full, err := b.cfg.domain(vm, hypervisor.Stamp{Incarnation: 3, Epoch: 5}, 0, hypervisor.Machine{
		Members: 1, Reserved: cluster.Resources{CPU: 2000, Memory: 64}, Payload: cluster.Payload{Image: "counter"},
	})
	if err != nil {
		b.Fatal(err)
	}
	d := &libvirtxml.Domain{
		Type: "test", Name: full.Name, UUID: full.UUID, Metadata: full.Metadata, Memory: full.Memory, VCPU: full.VCPU,
		OS: &libvirtxml.DomainOS{Type: &libvirtxml.DomainOSType{Type: "hvm"}},
	}
	if change != nil {
		change(d)
	}
	text, err := d.Marshal()
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// create makes a machine run that is described so.
func (b *builtin) create(vm cluster.VMID, change func(*libvirtxml.Domain)) *libvirt.Domain {
	b.Helper()
	dom, err := b.conn.DomainCreateXML(b.describe(vm, change), 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = dom.Destroy()
		_ = dom.Free()
	})
	return dom
}

func (b *builtin) do(verb hypervisor.Verb, vm cluster.VMID) error {
	_, err := b.Do(b.Context(), hypervisor.Call{
		Op: 1, Verb: verb, VM: vm, Node: "h1", Image: hypervisor.ImageID{VM: vm, Generation: 1, Attempt: 1},
	})
	return err
}

func (b *builtin) look() hypervisor.View {
	b.Helper()
	view, err := b.Look(b.Context(), "h1")
	if err != nil {
		b.Fatal(err)
	}
	return view
}

// state is how a look shows a VM; "" for not at all.
func (b *builtin) state(vm cluster.VMID) string {
	b.Helper()
	view := b.look()
	c, ok := view.Copy(vm)
	if !ok {
		return ""
	}
	return c.State.String()
}

// Short calls reach the machine of their VM, and fail as they should without one.
func TestShortCalls(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7, Rank: 2}
	b.create(vm, nil)
	for _, c := range []struct {
		verb  hypervisor.Verb
		fails error
		then  string
	}{
		{hypervisor.Pause, nil, "paused"},
		{hypervisor.Shutdown, hypervisor.ErrRefused, "paused"}, // it cannot hear it
		{hypervisor.Pause, hypervisor.ErrRefused, "paused"},
		{hypervisor.Unpause, nil, "running"},
		{hypervisor.Unpause, hypervisor.ErrRefused, "running"},
		{hypervisor.Save, hypervisor.ErrRefused, "running"}, // libvirt would let it go on after a failure
		{hypervisor.Destroy, nil, ""},
		{hypervisor.Pause, hypervisor.ErrNoSuchVM, ""},
		{hypervisor.Shutdown, hypervisor.ErrNoSuchVM, ""},
		{hypervisor.Abort, hypervisor.ErrNoSuchVM, ""},
		{hypervisor.Save, hypervisor.ErrNoSuchVM, ""},
		{hypervisor.Tune, hypervisor.ErrNoSuchVM, ""},
	} {
		err := b.do(c.verb, vm)
		if !errors.Is(err, c.fails) {
			t.Errorf("%s: %v, want %v", c.verb, err, c.fails)
		}
		if c.verb == hypervisor.Save && c.then == "running" && !strings.Contains(err.Error(), "only a paused copy") {
			t.Errorf("%s: %v", c.verb, err)
		}
		if got := b.state(vm); got != c.then {
			t.Errorf("after %s it is %q, want %q", c.verb, got, c.then)
		}
	}
}

// A guest that runs shuts down when it is asked to.
func TestShutdown(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	b.create(vm, nil)
	if err := b.do(hypervisor.Shutdown, vm); err != nil || b.state(vm) != "" {
		t.Errorf("%v, and it is %q", err, b.state(vm))
	}
}

// A machine with the name of one of ours, but without our mark or with that of another cluster,
// is listed as unmanaged and left alone.
func TestUnmanagedMachinesAreLeftAlone(t *testing.T) {
	b := newBuiltin(t)
	for vm, change := range map[cluster.VMID]func(*libvirtxml.Domain){
		{VJob: 8}: func(d *libvirtxml.Domain) { d.UUID = machineUUID("another", cluster.VMID{VJob: 8}) },
		{VJob: 9}: func(d *libvirtxml.Domain) {
			d.UUID, d.Metadata = machineUUID("another", cluster.VMID{VJob: 9}), nil
		},
	} {
		dom := b.create(vm, change)
		for _, verb := range []hypervisor.Verb{hypervisor.Pause, hypervisor.Destroy, hypervisor.Shutdown, hypervisor.Abort, hypervisor.Save} {
			if err := b.do(verb, vm); !errors.Is(err, hypervisor.ErrNoSuchVM) {
				t.Errorf("%s of an unmanaged machine: %v", verb, err)
			}
		}
		if state, _, err := dom.GetState(); err != nil || state != libvirt.DOMAIN_RUNNING {
			t.Errorf("the unmanaged machine %s: %v, %v", vm, state, err)
		}
	}
	b.create(cluster.VMID{VJob: 7}, nil)
	view := b.look()
	if got, want := strings.Join(view.Unmanaged, " "), "test vjob-8-0 vjob-9-0"; got != want {
		t.Errorf("unmanaged machines %q, want %q", got, want)
	}
	if len(view.Copies) != 1 || view.Copies[0].VM.VJob != 7 {
		t.Errorf("copies %+v, want that of vjob 7", view.Copies)
	}
}

// A look shows what the mark says; a job that the host tells nothing of is unknown.
func TestLookShowsTheMark(t *testing.T) {
	b := newBuiltin(t)
	first, second := cluster.VMID{VJob: 7}, cluster.VMID{VJob: 7, Rank: 1}
	b.create(second, nil)
	b.create(first, nil)
	view := b.look()
	if len(view.Copies) != 2 || view.Copies[0].VM != first || view.Copies[1].VM != second || view.Node != "h1" {
		t.Fatalf("%+v", view)
	}
	c := view.Copies[0]
	if c.Stamp != (hypervisor.Stamp{Incarnation: 3, Epoch: 5}) || c.Size.Memory != 64 || c.Job != hypervisor.JobUnknown || c.Lock || c.Cap != 0 {
		t.Errorf("%+v", c)
	}
	if err := b.do(hypervisor.Abort, first); !errors.Is(err, hypervisor.ErrRefused) {
		t.Errorf("the abort of a job of which nothing is known: %v", err)
	}
}

// The end of a guest is heard, and the looks that follow show how it ended; what was
// destroyed did not end by itself.
func TestEndingsAreHeard(t *testing.T) {
	b := newBuiltin(t)
	ends, destroyed := cluster.VMID{VJob: 7}, cluster.VMID{VJob: 7, Rank: 1}
	guest := b.create(ends, nil)
	b.create(destroyed, nil)
	b.look()
	b.reg()
	if err := b.do(hypervisor.Destroy, destroyed); err != nil {
		t.Fatal(err)
	}
	if err := guest.Shutdown(); err != nil {
		t.Fatal(err)
	}
	list := b.endings()
	want := hypervisor.Ending{VM: ends, Stamp: hypervisor.Stamp{Incarnation: 3, Epoch: 5}, Cause: hypervisor.CauseShutdown, Exit: cluster.UnknownExit, At: list[0].At}
	if len(list) != 1 || list[0] != want {
		t.Errorf("endings %+v, want %+v", list, want)
	}
}

// endings waits until a look tells of one.
func (b *builtin) endings() []hypervisor.Ending {
	b.Helper()
	patience := time.After(10 * time.Second)
	for {
		if list := b.look().Endings; len(list) > 0 {
			return list
		}
		select {
		case <-b.Hints(): // something has changed
		case <-patience:
			b.Fatal("the end of a guest was not heard")
		}
	}
}

// reg waits until the driver receives events of h1: it sends a hint when it does.
func (b *builtin) reg() {
	b.Helper()
	patience := time.After(10 * time.Second)
	for {
		select {
		case node := <-b.Hints():
			if node == "h1" {
				return
			}
		case <-patience:
			b.Fatal("nothing is heard")
		}
	}
}
