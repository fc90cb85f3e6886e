//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// builtin is a host that libvirt itself simulates in this process, test:///default: its
// machines are real to every line of a driver, and nothing is started. It knows neither
// jobs nor saves of paused machines; tests/lab has those.
type builtin struct {
	*testing.T
	*Driver
	conn *libvirt.Connect
}

const builtinURI = "test:///default"

// newBuiltin drives that host as h1 and h2, with settings that may be changed.
func newBuiltin(t *testing.T, changes ...func(*Config)) *builtin {
	t.Helper()
	cfg := good()
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
	if errors.Is(err, cluster.ErrUnavailable) {
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

// create makes a machine run that the driver would describe so; change may spoil it.
func (b *builtin) create(vm cluster.VMID, change func(*libvirtxml.Domain)) *libvirt.Domain {
	b.Helper()
	full, err := b.cfg.domain(vm, hypervisor.Stamp{Incarnation: 3, Epoch: 5}, hypervisor.Machine{
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
	dom, err := b.conn.DomainCreateXML(text, 0)
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
		{hypervisor.Cap, hypervisor.ErrNoSuchVM, ""},
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

// A machine that bears the name of one of ours is left alone, and shown as a stranger, as
// one is that has no mark or that of another cluster.
func TestStrangersAreLeftAlone(t *testing.T) {
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
				t.Errorf("%s of a stranger: %v", verb, err)
			}
		}
		if state, _, err := dom.GetState(); err != nil || state != libvirt.DOMAIN_RUNNING {
			t.Errorf("the stranger %s: %v, %v", vm, state, err)
		}
	}
	b.create(cluster.VMID{VJob: 7}, nil)
	view := b.look()
	if got, want := strings.Join(view.Strangers, " "), "test vjob-8-0 vjob-9-0"; got != want {
		t.Errorf("strangers %q, want %q", got, want)
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
	for b.state(ends) == "" || b.state(destroyed) == "" {
		time.Sleep(time.Millisecond)
	}
	b.heard()
	if err := b.do(hypervisor.Destroy, destroyed); err != nil {
		t.Fatal(err)
	}
	if err := guest.Shutdown(); err != nil {
		t.Fatal(err)
	}
	list := b.endings()
	want := hypervisor.Ending{VM: ends, Stamp: hypervisor.Stamp{Incarnation: 3, Epoch: 5}, Cause: hypervisor.CauseShutdown, At: list[0].At}
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

// heard waits until the driver hears what happens on h1: it says so, once it does.
func (b *builtin) heard() {
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

// A boot creates what is described, with its cap, where no machine has that name yet.
func TestBoot(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7, Rank: 1}
	call := hypervisor.Call{
		Op: 1, Verb: hypervisor.Boot, VM: vm, Node: "h1", Stamp: hypervisor.Stamp{Incarnation: 2, Epoch: 4}, Cap: 500,
	}
	if _, err := b.Do(t.Context(), call); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("a boot of nothing: %v", err)
	}
	call.Machine = &hypervisor.Machine{
		Members: 2, Reserved: cluster.Resources{CPU: 1000, Memory: 96}, Payload: cluster.Payload{Image: "nothing"},
	}
	if _, err := b.Do(t.Context(), call); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("a boot of an image that is not in the catalogue: %v", err)
	}
	call.Machine.Payload.Image = "debian-12"
	if _, err := b.Do(t.Context(), call); err == nil || b.state(vm) != "" {
		t.Errorf("a boot without its disk: %v, and it is %q", err, b.state(vm))
	}
	call.Machine.Payload.Image = "counter"
	if _, err := b.Do(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.do(hypervisor.Destroy, vm) })
	view := b.look()
	c, _ := view.Copy(vm)
	if c.State != hypervisor.CopyRunning || c.Stamp != call.Stamp || c.Size != call.Machine.Reserved || c.Cap != call.Cap {
		t.Errorf("%+v", c)
	}
	again := call
	again.Stamp.Incarnation++
	if _, err := b.Do(t.Context(), again); !errors.Is(err, hypervisor.ErrExists) {
		t.Errorf("a boot beside a machine of that name: %v", err)
	}
	view = b.look()
	if c, _ := view.Copy(vm); c.Stamp != call.Stamp {
		t.Errorf("after that it is shown as %+v", c.Stamp)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	call.VM.Rank = 2
	if _, err := b.Do(ended, call); err == nil || b.state(call.VM) != "" {
		t.Errorf("a boot that comes too late: %v, and it is %q", err, b.state(call.VM))
	}
}

// A boot that the host refuses fails, and so does one on a host that cannot say what it can do.
func TestBootsThatFail(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	b.create(vm, func(d *libvirtxml.Domain) { d.Name, d.Metadata = "another", nil })
	call := hypervisor.Call{
		Op: 1, Verb: hypervisor.Boot, VM: vm, Node: "h1",
		Machine: &hypervisor.Machine{Members: 1, Reserved: cluster.Resources{CPU: 1000, Memory: 64}, Payload: cluster.Payload{Image: "counter"}},
	}
	if _, err := b.Do(t.Context(), call); !errors.Is(err, hypervisor.ErrRefused) && !errors.Is(err, hypervisor.ErrExists) {
		t.Errorf("a boot that the host refuses: %v", err)
	}
	b = newBuiltin(t, func(c *Config) { c.DomainType = typeAuto })
	b.hosts["h1"].control.close()
	if _, err := b.Do(t.Context(), call); !errors.Is(err, hypervisor.ErrUnreachable) || !strings.Contains(err.Error(), "whether KVM works") {
		t.Errorf("a boot on a host that cannot be asked: %v", err)
	}
}

// Calls on the store fail with it, and name the image.
func TestCallsOnAStoreThatIsGone(t *testing.T) {
	b := newBuiltin(t)
	image := hypervisor.ImageID{VM: cluster.VMID{VJob: 7}, Generation: 1, Attempt: 1}
	if err := os.RemoveAll(b.store.nodeDir("h1")); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []hypervisor.Verb{hypervisor.Seal, hypervisor.Revoke, hypervisor.Discard} {
		_, err := b.Do(t.Context(), hypervisor.Call{Op: 1, Verb: verb, Image: image, Attempt: 1})
		if want := verb.String() + " 7.0.g1.a1: "; !errors.Is(err, hypervisor.ErrNoImage) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The end of a guest that no look has shown is heard as well.
func TestEndingsOfWhatWasNotSeen(t *testing.T) {
	b := newBuiltin(t)
	b.heard()
	vm := cluster.VMID{VJob: 7}
	_, err := b.Do(t.Context(), hypervisor.Call{
		Op: 1, Verb: hypervisor.Boot, VM: vm, Node: "h1", Stamp: hypervisor.Stamp{Incarnation: 2},
		Machine: &hypervisor.Machine{Members: 1, Reserved: cluster.Resources{CPU: 1000, Memory: 64}, Payload: cluster.Payload{Image: "counter"}},
	})
	if err == nil {
		err = b.do(hypervisor.Shutdown, vm)
	}
	if err != nil {
		t.Fatal(err)
	}
	list := b.endings()
	if want := (hypervisor.Ending{VM: vm, Stamp: hypervisor.Stamp{Incarnation: 2}, Cause: hypervisor.CauseShutdown, At: list[0].At}); len(list) != 1 || list[0] != want {
		t.Errorf("endings %+v, want %+v", list, want)
	}
}

// An image is verified, and asked for under a link of its own that is gone afterwards. This
// host loads none, so the call shows how far it came.
func TestRestoreAsksForALink(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	image := hypervisor.ImageID{VM: vm, Generation: 1, Attempt: 1}
	path := b.store.path("h1", image)
	write(t, path, saveFile(magicComplete))
	receipt, err := b.Do(t.Context(), hypervisor.Call{Op: 1, Verb: hypervisor.Seal, Image: image})
	if err != nil {
		t.Fatal(err)
	}
	call := hypervisor.Call{Op: 2, Verb: hypervisor.Restore, VM: vm, Node: "h1", Image: image, Checksum: receipt.Checksum, Attempt: 1}
	if _, err := b.Do(t.Context(), call); !errors.Is(err, hypervisor.ErrRefused) || !strings.Contains(err.Error(), "testDomainRestoreFlags") {
		t.Errorf("a restore: %v", err)
	}
	links, err := filepath.Glob(path + ".r*")
	if err != nil || len(links) != 0 {
		t.Errorf("links %v, %v", links, err)
	}
	if _, err := b.Do(t.Context(), hypervisor.Call{Op: 3, Verb: hypervisor.Revoke, Image: image, Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Do(t.Context(), call); !errors.Is(err, errRevoked) {
		t.Errorf("a restore that was revoked: %v", err)
	}
	call.Attempt = 2
	call.Checksum = checksumPrefix + strings.Repeat("0", 64)
	if _, err := b.Do(t.Context(), call); !errors.Is(err, hypervisor.ErrBadImage) {
		t.Errorf("a restore of what was not sealed: %v", err)
	}
}

// A copy is saved only to a name that was never used and that no other call is writing to.
func TestNamesAreUsedOnce(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	image := hypervisor.ImageID{VM: vm, Generation: 1, Attempt: 1}
	dom := b.create(vm, nil)
	if err := b.do(hypervisor.Pause, vm); err != nil {
		t.Fatal(err)
	}
	if !b.saving.take(image) {
		t.Fatal("an image is being written, and no call was made")
	}
	if err := b.do(hypervisor.Save, vm); !errors.Is(err, hypervisor.ErrExists) || !strings.Contains(err.Error(), "is being written") {
		t.Errorf("a save beside another: %v", err)
	}
	b.saving.free(image)
	// This host saves nothing that is paused: the call reaches it, and leaves the name free.
	if err := b.do(hypervisor.Save, vm); !errors.Is(err, hypervisor.ErrRefused) || !strings.Contains(err.Error(), "testDomainSaveFlags") {
		t.Errorf("a save: %v", err)
	}
	if len(b.saving.held) != 0 {
		t.Error("the name of a save that has ended is still taken")
	}
	if err := os.WriteFile(b.store.path("h1", image), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.do(hypervisor.Save, vm); !errors.Is(err, hypervisor.ErrExists) || strings.Contains(err.Error(), "is being written") {
		t.Errorf("a save over another image: %v", err)
	}
	if state, _, err := dom.GetState(); err != nil || state != libvirt.DOMAIN_PAUSED {
		t.Errorf("after all that: %v, %v", state, err)
	}
}

// Calls name a node that is known, and a migration another one.
func TestCallsNameTheirNodes(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	b.create(vm, nil)
	for _, c := range []struct {
		name  string
		call  hypervisor.Call
		fails error
	}{
		{"a node that is not known", hypervisor.Call{Verb: hypervisor.Pause, Node: "h9"}, cluster.ErrNotFound},
		{"a migration to such a node", hypervisor.Call{Verb: hypervisor.Migrate, Node: "h1", To: "h9"}, cluster.ErrNotFound},
		{"a migration to where it is", hypervisor.Call{Verb: hypervisor.Migrate, Node: "h1", To: "h1"}, cluster.ErrInvalid},
		{"no verb", hypervisor.Call{Verb: 99, Node: "h1"}, cluster.ErrInvalid},
	} {
		c.call.Op, c.call.VM = 1, vm
		if _, err := b.Do(t.Context(), c.call); !errors.Is(err, c.fails) || errors.Is(err, hypervisor.ErrTimeout) {
			t.Errorf("%s: %v, want %v", c.name, err, c.fails)
		}
	}
	if _, err := b.Look(t.Context(), "h9"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("a look at a node that is not known: %v", err)
	}
}

// A question is answered, or given up in the way that tells whether it was sent; its line
// serves the next one in any case.
func TestAsk(t *testing.T) {
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
	r := newTrunk(builtinURI, 1, b.cfg.Timeouts, &running)
	var conn *libvirt.Connect // with a reference of ours
	t.Cleanup(func() {
		r.close()
		running.Wait()
		if left, err := conn.Close(); left != 0 || err != nil {
			t.Errorf("a call holds the connection that it has used: %d, %v", left, err)
		}
	})
	answer := func(*libvirt.Connect) (int, error) { return 5, nil }
	got, err := ask(t.Context(), r, func(c *libvirt.Connect) (int, error) {
		conn = c
		return 5, c.Ref()
	})
	if got != 5 || err != nil {
		t.Fatalf("an answer: %d, %v", got, err)
	}
	_, err = ask(t.Context(), r, func(conn *libvirt.Connect) (int, error) {
		_, err := conn.LookupDomainByName("nothing")
		return 0, err
	})
	if !errors.Is(err, hypervisor.ErrNoSuchVM) {
		t.Errorf("an error: %v", err)
	}
	for range 3 { // a line is free as well, and select takes either
		called := false
		_, err = ask(ended, r, func(*libvirt.Connect) (int, error) { called = true; return 0, nil })
		if called || !errors.Is(err, hypervisor.ErrUnreachable) || errors.Is(err, hypervisor.ErrTimeout) {
			t.Errorf("a question that comes too late was sent: %t, %v", called, err)
		}
	}

	// It is sent, and its context ends.
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-going
		stop()
	}()
	if _, err = ask(ctx, r, waits); !errors.Is(err, hypervisor.ErrTimeout) || errors.Is(err, hypervisor.ErrUnreachable) {
		t.Errorf("a question without an answer: %v", err)
	}
	if _, err = ask(ended, r, answer); !errors.Is(err, errQueued) {
		t.Errorf("a question behind one that goes on: %v", err)
	}
	close(hang)
	if got, err := ask(t.Context(), r, answer); got != 5 || err != nil {
		t.Errorf("the question after it: %d, %v", got, err)
	}

	// It is sent, and its host is given up.
	hang, going = make(chan struct{}), make(chan struct{})
	go func() {
		<-going
		r.giveUp(time.Now().Add(time.Hour))
	}()
	if _, err = ask(t.Context(), r, waits); !errors.Is(err, errLost) {
		t.Errorf("a question to a host that is given up: %v", err)
	}
	if got, err := ask(t.Context(), r, answer); got != 5 || err != nil {
		t.Errorf("the question in its place: %d, %v", got, err)
	}
	close(hang)
}

// A line opens its connection once, keeps it, and opens another when that is forgotten.
func TestLine(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	l := newLine(builtinURI, newBuiltin(t).cfg.Timeouts, &running)
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
	l.close()
	if _, err := l.acquire(t.Context()); !errors.Is(err, hypervisor.ErrUnreachable) || !errors.Is(err, errClosed) {
		t.Errorf("a line that is closed: %v", err)
	}
	running.Wait()
	for _, conn := range []*libvirt.Connect{first, second} {
		release(conn)
		if left, err := conn.Close(); left != 0 || err != nil { // both of ours are given back
			t.Errorf("the line holds a connection that it uses no more: %d, %v", left, err)
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
	l := newLine("qemu+tcp://"+silent.Addr().String()+"/system", cfg.Timeouts, &running)
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

// A host that refuses is asked again after growing pauses, and not before.
func TestLineWaits(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	l := newLine("nothing:///here", newBuiltin(t).cfg.Timeouts, &running)
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
func TestTriesThatHang(t *testing.T) {
	var running sync.WaitGroup
	defer running.Wait()
	l := newLine(builtinURI, newBuiltin(t).cfg.Timeouts, &running)
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
		if _, dialing, err := l.step(); dialing == nil || err != nil {
			t.Fatalf("no try is begun beside %d that hang: %v", i, err)
		} else {
			<-dialing
			l.forget(l.conn)
		}
		dialing := hang()
		if _, got, err := l.step(); got != dialing || err != nil {
			t.Fatalf("a second try is begun beside the first: %v", err)
		}
		l.giveUp(dialing)
		select {
		case <-dialing:
		default:
			t.Fatal("the end of a try that was given up is not announced")
		}
		if _, _, err := l.step(); !errors.Is(err, hypervisor.ErrUnreachable) || !strings.Contains(err.Error(), "no answer within") {
			t.Fatalf("after a try that was given up: %v", err)
		}
	}
	l.next = time.Time{}
	if _, dialing, err := l.step(); dialing != nil || err == nil {
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
	if l.dialed(tries[0], late, nil); l.conn != late || l.stuck != maxStuck-1 {
		t.Error("a connection that comes late is not used although the line has no other")
	}
	second, err := libvirt.NewConnect(builtinURI)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Ref(); err != nil {
		t.Fatal(err)
	}
	if l.dialed(tries[1], second, nil); l.conn != late || l.stuck != maxStuck-2 {
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
		t.Errorf("%d references to a connection of a line that is closed are left, %v", left, err)
	}
}
