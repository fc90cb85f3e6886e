//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

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

// A boot that the host refuses fails, and so does one on a node that cannot say what it can do.
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
	b.nodes["h1"].controlPool.close()
	if _, err := b.Do(t.Context(), call); !errors.Is(err, hypervisor.ErrUnreachable) || !strings.Contains(err.Error(), "whether KVM works") {
		t.Errorf("a boot on a node that cannot be asked: %v", err)
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
	b.reg()
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
	if want := (hypervisor.Ending{VM: vm, Stamp: hypervisor.Stamp{Incarnation: 2}, Cause: hypervisor.CauseShutdown, Exit: cluster.UnknownExit, At: list[0].At}); len(list) != 1 || list[0] != want {
		t.Errorf("endings %+v, want %+v", list, want)
	}
}

// The end of a machine is heard that has come to its host while no call was made.
func TestEndingsOfWhatHasAppeared(t *testing.T) {
	b := newBuiltin(t)
	b.reg()
	vm := cluster.VMID{VJob: 7}
	dom := b.create(vm, nil)
	id, err := dom.GetID()
	if err != nil {
		t.Fatal(err)
	}
	for listed := false; !listed; {
		b.reg()
		_, listed = b.nodes["h1"].cache.lookup(machineUUID(b.cfg.Cluster, vm), int(id))
	}
	if err := dom.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if list := b.endings(); len(list) != 1 || list[0].VM != vm || list[0].Cause != hypervisor.CauseShutdown {
		t.Errorf("endings %+v, want that of %s", list, vm)
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
	if _, err := b.Do(t.Context(), call); !errors.Is(err, hypervisor.ErrRefused) || !strings.Contains(err.Error(), "flags (0x4) in function testDomainRestoreFlags") {
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
	// This node saves nothing that is paused: the call reaches it, and leaves the name free.
	if err := b.do(hypervisor.Save, vm); !errors.Is(err, hypervisor.ErrRefused) || !strings.Contains(err.Error(), "testDomainSaveFlags") {
		t.Errorf("a save: %v", err)
	}
	if len(b.saving.held) != 0 {
		t.Error("the name of a save that has ended is still taken")
	}
	write(t, b.store.path("h1", image), nil)
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

// A call keeps nothing of the connection that it has used, whatever becomes of it.
func TestCallsLetGo(t *testing.T) {
	b := newBuiltin(t)
	var running sync.WaitGroup
	r := newConnPool(builtinURI, 1, b.cfg.Timeouts, &running)
	b.nodes["h1"].controlPool, b.nodes["h1"].bulkPool = r, r
	vm := cluster.VMID{VJob: 7}
	call := hypervisor.Call{
		Op: 1, Verb: hypervisor.Boot, VM: vm, Node: "h1",
		Machine: &hypervisor.Machine{Members: 1, Reserved: cluster.Resources{CPU: 1000, Memory: 64}, Payload: cluster.Payload{Image: "counter"}},
	}
	for _, want := range []error{nil, hypervisor.ErrExists} {
		if _, err := b.Do(t.Context(), call); !errors.Is(err, want) {
			t.Errorf("a boot: %v, want %v", err, want)
		}
	}
	for _, want := range []error{nil, hypervisor.ErrNoSuchVM} {
		if err := b.do(hypervisor.Destroy, vm); !errors.Is(err, want) {
			t.Errorf("its end: %v, want %v", err, want)
		}
	}
	conn, err := withConn(t.Context(), r, func(conn *libvirt.Connect) (*libvirt.Connect, error) { return conn, conn.Ref() })
	if err != nil {
		t.Fatal(err)
	}
	r.close()
	running.Wait()
	if left, err := conn.Close(); left != 0 || err != nil {
		t.Errorf("%d references to the connection are left, %v", left, err)
	}
}
