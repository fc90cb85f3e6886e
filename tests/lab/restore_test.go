//go:build libvirt_dlopen

package lab_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/libvirt"
	"vjob/tests/lab"
)

// suspended boots a guest on a node, suspends it, and returns how to restore it.
func (b labTest) suspended(id cluster.VMID, node cluster.NodeID) hypervisor.Call {
	b.Helper()
	b.boot(id, node)
	b.counts(id, 3)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: id, Node: node})
	return hypervisor.Call{Verb: hypervisor.Restore, VM: id, Image: image(id, 1), Checksum: b.saved(id, node, image(id, 1))}
}

// resumes restores a guest and checks that it continues where it was suspended.
func (b labTest) resumes(restore hypervisor.Call) {
	b.Helper()
	stood := len(b.lab.Counters(restore.VM))
	b.do(restore)
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: restore.VM, Node: restore.Node})
	b.counts(restore.VM, stood+3)
	b.whole(restore.VM)
}

// A node that does not load an image says nothing of the image: another node loads it.
func TestRefusedImage(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2, SlowImages: true})
	h1, h2 := b.lab.Hosts()[0], b.lab.Hosts()[1]
	restore := b.suspended(vm(0), h1)
	refused := func(what string, attempt int) {
		t.Helper()
		restore.Node, restore.Attempt = h2, attempt
		_, err := b.try(restore)
		if err == nil || errors.Is(err, hypervisor.ErrBadImage) {
			t.Errorf("restore on a node %s: %v", what, err)
		}
		t.Logf("%s: %v", what, err)
	}
	b.lab.OtherRelease(h2, "pc-i440fx-6.2")
	refused("with another machine type", 1)
	b.lab.OtherRelease(h2, "")
	b.lab.Images.LimitReads(h2, 0, 100)
	refused("with I/O errors", 2)
	store, err := b.driver.LookStore(t.Context())
	if saved, ok := store.Find(image(vm(0), 1)); err != nil || !ok || !saved.Complete || saved.Written.IsZero() {
		t.Errorf("the image after two refusals: %+v, %v", saved, err)
	}
	restore.Node, restore.Attempt = h1, 3
	b.resumes(restore)
}

// While its image is read a copy is not whole, whatever becomes of the reader.
func TestHalfRestored(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2, SlowImages: true})
	h1, h2 := b.lab.Hosts()[0], b.lab.Hosts()[1]
	restore := b.suspended(vm(0), h1)
	restore.Node = h2
	b.lab.Images.LimitReads(h2, 1024, 0) // ten seconds or so

	begin := func(attempt int) <-chan error {
		t.Helper()
		call, ended := restore, make(chan error, 1)
		call.Attempt = attempt
		go func() {
			_, err := b.try(call)
			ended <- err
		}()
		b.until("the restore is under way", func() bool { return b.jobOn(h2) == "paused restoring" })
		return ended
	}
	// A daemon that is killed in the middle leaves nothing that looks whole.
	ended := begin(1)
	b.lab.KillDaemon(h2)
	if err := <-ended; !errors.Is(err, hypervisor.ErrTimeout) || !errors.Is(err, hypervisor.ErrUnreachable) {
		t.Errorf("restore, daemon killed: %v", err)
	}
	b.lab.RestartDaemon(h2)
	b.until("the half copy is gone", func() bool {
		view, err := b.driver.Look(t.Context(), h2)
		c, there := view.Copy(vm(0))
		if there && c.Job == hypervisor.JobNone {
			t.Fatalf("half a copy passes for a whole one: %+v", c)
		}
		return err == nil && !there
	})
	// One that is called off is destroyed, though libvirt aborts no restore.
	ended = begin(2)
	b.do(hypervisor.Call{Verb: hypervisor.Abort, VM: vm(0), Node: h2})
	if err := <-ended; err == nil {
		t.Error("a restore that was called off ended well")
	}
	b.until("the copy is gone", func() bool { return b.copyOn(vm(0), h2) == "none" })
	// A slow one is whole at its end, and not before, also for a scheduler that was started
	// in its middle.
	ended = begin(3)
	b.driver = b.lab.Driver(nil)
	for done := false; !done; time.Sleep(20 * time.Millisecond) {
		switch job := b.jobOn(h2); job {
		case "paused none":
			done = true
		case "paused restoring", "paused unknown": // the latter at its end, before libvirt answers
		default:
			t.Fatalf("during the restore: %s", job)
		}
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("the copy looks whole, and its restore does not end")
	}
	_, err := b.try(hypervisor.Call{Verb: hypervisor.Abort, VM: vm(0), Node: h2})
	b.is("abort of nothing", err, nil)
	stood := len(b.lab.Counters(vm(0)))
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(0), Node: h2})
	b.counts(vm(0), stood+3)
	b.whole(vm(0))
}

// jobOn is the state and job of the copy of the first VM on a node, or "none".
func (b labTest) jobOn(node cluster.NodeID) string {
	b.Helper()
	view := b.look(node)
	c, ok := view.Copy(vm(0))
	if !ok {
		return "none"
	}
	return c.State.String() + " " + c.Job.String()
}

// A store that is not mounted is not an empty one.
func TestStoreNotMounted(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 1})
	host := b.lab.Hosts()[0]
	restore := b.suspended(vm(0), host)
	restore.Node, restore.Attempt = host, 1
	b.boot(vm(1), host)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(1), Node: host})

	b.lab.Images.Unmount()
	driver := b.lab.Driver(func(c *libvirt.Config) { c.Installation = "lab" }) // it starts without the store
	store, err := driver.LookStore(t.Context())
	if !errors.Is(err, hypervisor.ErrNoImage) || len(store.Images) != 0 {
		t.Errorf("a store that is not mounted: %+v, %v", store, err)
	}
	for _, call := range []hypervisor.Call{
		{Verb: hypervisor.Seal, VM: vm(0), Image: image(vm(0), 1)},
		{Verb: hypervisor.Revoke, VM: vm(0), Image: image(vm(0), 1), Attempt: 1},
		{Verb: hypervisor.Discard, VM: vm(0), Image: image(vm(0), 1)},
		{Verb: hypervisor.Save, VM: vm(1), Node: host, Image: image(vm(1), 1)},
		restore,
	} {
		_, err := driver.Do(t.Context(), call)
		b.is(call.Verb.String()+" without the store", err, hypervisor.ErrNoImage)
	}
	left, err := os.ReadDir(b.lab.Config().ImageDir)
	if err != nil || len(left) != 0 {
		t.Errorf("in the empty mount point: %v, %v", left, err)
	}
	b.lab.Images.Mount()
	b.resumes(restore)
}

// A copy that comes in and is aborted is destroyed; its source keeps the guest.
func TestAbortedWhileComingIn(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2, Locks: true})
	b.driver = b.lab.Driver(func(c *libvirt.Config) { c.MigrationMiBps = 1 })
	h1, h2 := b.lab.Hosts()[0], b.lab.Hosts()[1]
	b.boot(vm(0), h1)
	b.counts(vm(0), 3)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: h1})
	ended := make(chan error, 1)
	go func() {
		_, err := b.try(hypervisor.Call{Verb: hypervisor.Migrate, VM: vm(0), Node: h1, To: h2})
		ended <- err
	}()
	b.until("the copy comes in", func() bool { return b.jobOn(h2) == "paused incoming" })
	b.do(hypervisor.Call{Verb: hypervisor.Abort, VM: vm(0), Node: h2})
	if err := <-ended; err == nil {
		t.Error("the migration ended well, and its destination was destroyed")
	}
	b.until("the source alone has it", func() bool { return b.jobOn(h2) == "none" && b.jobOn(h1) == "paused none" })
	stood := len(b.lab.Counters(vm(0)))
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(0), Node: h1})
	b.counts(vm(0), stood+3)
	b.whole(vm(0))
}

// Without domain_type guests run, whether or not /dev/kvm works here.
func TestAutoDomainType(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 1})
	b.driver = b.lab.Driver(func(c *libvirt.Config) { c.DomainType = "" })
	b.boot(vm(0), b.lab.Hosts()[0])
	b.counts(vm(0), 3)
	view := b.look(b.lab.Hosts()[0])
	if c, ok := view.Copy(vm(0)); !ok || c.Size != (cluster.Resources{CPU: cluster.CPU, Memory: 32}) {
		t.Errorf("its size: %+v", c)
	}
}
