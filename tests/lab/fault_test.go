//go:build libvirt_dlopen

package lab_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/libvirt"
	"vjob/tests/lab"
)

// What is saved stays what it was, or is refused.
func TestImages(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2})
	h1, h2 := b.lab.Hosts()[0], b.lab.Hosts()[1]
	b.boot(vm(0), h1)
	b.counts(vm(0), 3)
	_, err := b.try(hypervisor.Call{Verb: hypervisor.Save, VM: vm(0), Node: h1, Image: image(vm(0), 1)})
	b.is("save of a running copy", err, hypervisor.ErrRefused)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: h1})

	b.lab.Images.Fill(2)
	_, err = b.try(hypervisor.Call{Verb: hypervisor.Save, VM: vm(0), Node: h1, Image: image(vm(0), 1)})
	b.is("save on a full disk", err, hypervisor.ErrNoSpace)
	if s := b.copyOn(vm(0), h1); s != "paused" {
		t.Errorf("after a save that found the disk full the copy is %s", s)
	}
	b.lab.Images.Empty()

	sum := b.saved(vm(0), h1, image(vm(0), 2))
	_, err = b.try(hypervisor.Call{Verb: hypervisor.Save, VM: vm(0), Node: h1, Image: image(vm(0), 2)})
	b.is("save of nothing", err, hypervisor.ErrNoSuchVM)
	store, err := b.driver.LookStore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	saved, ok := store.Find(image(vm(0), 2))
	if !ok || !saved.Complete || saved.Node != h1 || store.Free[h1].Pool != store.Free[h2].Pool {
		t.Errorf("store: %+v", store)
	}

	restore := hypervisor.Call{Verb: hypervisor.Restore, VM: vm(0), Node: h2, Image: image(vm(0), 2), Checksum: sum, Attempt: 2}
	b.do(hypervisor.Call{Verb: hypervisor.Revoke, VM: vm(0), Image: image(vm(0), 2), Attempt: 2})
	_, err = b.try(restore)
	b.is("restore by a revoked attempt", err, hypervisor.ErrRefused)
	restore.Attempt, restore.Checksum = 3, "sha256:0"
	_, err = b.try(restore)
	b.is("restore of a changed image", err, hypervisor.ErrBadImage)
	restore.Checksum = sum

	// The host that saved it loses power; the image is there for the others.
	b.lab.PowerOff(h1)
	b.until("the dead host is unreachable", func() bool { _, err := b.driver.Look(t.Context(), h1); return err != nil })
	b.do(restore)
	_, err = b.try(restore)
	b.is("restore beside a copy", err, hypervisor.ErrExists)
	stood := len(b.lab.Counters(vm(0)))
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(0), Node: h2})
	b.counts(vm(0), stood+3)
	b.whole(vm(0))

	b.do(hypervisor.Call{Verb: hypervisor.Discard, VM: vm(0), Image: image(vm(0), 2)})
	restore.Attempt = 4
	_, err = b.try(restore)
	b.is("restore of nothing", err, hypervisor.ErrNoImage)
	b.lab.PowerOn(h1)
	b.until("the host is back and empty", func() bool {
		view, err := b.driver.Look(t.Context(), h1)
		return err == nil && len(view.Copies) == 0
	})
}

func (b labTest) is(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s: %v, not %v", what, err, want)
	}
}

// A guest that ends is either done or crashed. Unmanaged machines are ignored.
func TestEndings(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 1})
	host := b.lab.Hosts()[0]
	b.boot(vm(0), host, "run=2")
	b.boot(vm(1), host)
	b.boot(vm(2), host)
	stranger := b.lab.Strange(host)
	b.counts(vm(1), 2)
	b.kill(vm(1), host)
	b.do(hypervisor.Call{Verb: hypervisor.Shutdown, VM: vm(2), Node: host})
	want := map[cluster.VMID]hypervisor.Cause{
		vm(0): hypervisor.CauseShutdown, vm(1): hypervisor.CauseCrashed, vm(2): hypervisor.CauseShutdown,
	}
	b.until("three guests have ended", func() bool { return len(b.look(host).Endings) == len(want) })
	view := b.look(host)
	for _, e := range view.Endings {
		if e.Cause != want[e.VM] || e.Stamp != (hypervisor.Stamp{Incarnation: 1, Epoch: 7}) {
			t.Errorf("ending %+v", e)
		}
	}
	if len(view.Copies) != 0 || len(view.Unmanaged) != 1 || view.Unmanaged[0] != stranger {
		t.Errorf("left: %+v", view)
	}
	for _, verb := range []hypervisor.Verb{hypervisor.Pause, hypervisor.Destroy, hypervisor.Abort} {
		_, err := b.try(hypervisor.Call{Verb: verb, VM: vm(0), Node: host})
		b.is(verb.String()+" of nothing", err, hypervisor.ErrNoSuchVM)
	}

	// A daemon that dies takes no guest along; what ends meanwhile has no cause.
	b.boot(vm(3), host)
	b.boot(vm(4), host)
	b.lab.KillDaemon(host)
	b.kill(vm(4), host)
	b.lab.RestartDaemon(host)
	b.until("the daemon is back", func() bool { _, err := b.driver.Look(t.Context(), host); return err == nil })
	b.until("it has found out what ended", func() bool { return b.copyOn(vm(4), host) == "none" })
	if three := b.copyOn(vm(3), host); three != "running" {
		t.Errorf("after a restart of the daemon: %s", three)
	}
	b.until("events come again", func() bool {
		b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(3), Node: host})
		b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(3), Node: host})
		select {
		case <-b.driver.Hints():
			return true
		default:
			return false
		}
	})
}

// A VM that boots from disk gets its own overlay and its seed, and moves with them.
func TestDisk(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2})
	h1, h2 := b.lab.Hosts()[0], b.lab.Hosts()[1]
	b.do(hypervisor.Call{
		Verb: hypervisor.Boot, VM: vm(0), Node: h1, Stamp: hypervisor.Stamp{Incarnation: 1},
		Machine: &hypervisor.Machine{
			Reserved: cluster.Resources{CPU: 500, Memory: 32},
			Payload:  cluster.Payload{Image: lab.DiskImage, Script: "#!/bin/sh\necho '</domain>' & reboot\n"},
		},
	})
	printed := func() int {
		console, err := b.driver.Console(t.Context(), vm(0))
		if err != nil {
			return 0
		}
		defer console.Close()
		text, err := io.ReadAll(console)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "DISK")
	}
	b.until("it boots from its disk", func() bool { return printed() > 0 })
	view := b.look(h1)
	if c, _ := view.Copy(vm(0)); !c.Lock {
		t.Error("a copy with a disk does not show its lock")
	}
	b.do(hypervisor.Call{Verb: hypervisor.Migrate, VM: vm(0), Node: h1, To: h2})
	before := printed()
	b.until("it goes on elsewhere", func() bool { return printed() > before })
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: h2})
	sum := b.saved(vm(0), h2, image(vm(0), 1))
	b.do(hypervisor.Call{Verb: hypervisor.Restore, VM: vm(0), Node: h1, Image: image(vm(0), 1), Checksum: sum, Attempt: 1})
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(0), Node: h1})
	before = printed()
	b.until("it goes on after a save", func() bool { return printed() > before })
}

// A failed restore or a broken image is not the ending of a guest.
func TestBrokenImage(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 1})
	host := b.lab.Hosts()[0]
	b.boot(vm(0), host)
	b.counts(vm(0), 2)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: host})
	b.do(hypervisor.Call{Verb: hypervisor.Save, VM: vm(0), Node: host, Image: image(vm(0), 1)})
	path := b.lab.Config().ImageDir + "/" + string(host) + "/" + image(vm(0), 1).String()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	// The image is truncated, and the call has the checksum of the rest.
	sum := b.do(hypervisor.Call{Verb: hypervisor.Seal, VM: vm(0), Image: image(vm(0), 1)}).Checksum
	_, err = b.try(hypervisor.Call{Verb: hypervisor.Restore, VM: vm(0), Node: host, Image: image(vm(0), 1), Checksum: sum, Attempt: 1})
	b.is("restore of half an image", err, hypervisor.ErrRefused) // for all that QEMU can tell
	view := b.look(host)
	if len(view.Copies) != 0 || len(view.Endings) != 0 {
		t.Errorf("after a failed restore: %+v", view)
	}
	if err := os.WriteFile(path, []byte("LibvirtQemudPart"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = b.try(hypervisor.Call{Verb: hypervisor.Seal, VM: vm(0), Image: image(vm(0), 1)})
	b.is("seal of an unfinished image", err, hypervisor.ErrBadImage)

	_, err = b.try(hypervisor.Call{
		Verb: hypervisor.Boot, VM: vm(1), Node: host,
		Machine: &hypervisor.Machine{Reserved: cluster.Resources{CPU: 1000, Memory: cluster.TiB}, Payload: cluster.Payload{Image: lab.GuestImage}},
	})
	b.is("boot of a machine that is too large", err, hypervisor.ErrNoMemory)
	_, err = libvirt.New(libvirt.Config{}, nil)
	b.is("no settings", err, cluster.ErrInvalid)
}

// A restore that waits in a frozen daemon is revoked: it never makes a copy.
func TestRevokedWhileFrozen(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2})
	h1, h2 := b.lab.Hosts()[0], b.lab.Hosts()[1]
	b.boot(vm(0), h1)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: h1})
	sum := b.saved(vm(0), h1, image(vm(0), 1))
	restore := hypervisor.Call{Verb: hypervisor.Restore, VM: vm(0), Node: h2, Image: image(vm(0), 1), Checksum: sum, Attempt: 1}
	b.boot(vm(1), h2) // so that the connection is there
	b.lab.Freeze(h2)
	failed := make(chan error, 1)
	go func() {
		_, err := b.try(restore)
		failed <- err
	}()
	link := filepath.Join(b.lab.Config().ImageDir, string(h1), image(vm(0), 1).String()+".r1")
	b.until("the restore is under way", func() bool { _, err := os.Stat(link); return err == nil })
	b.do(hypervisor.Call{Verb: hypervisor.Revoke, VM: vm(0), Image: image(vm(0), 1), Attempt: 1})
	b.lab.Thaw(h2)
	if err := <-failed; err == nil {
		t.Error("a revoked restore ended well")
	}
	b.until("the host is back", func() bool { _, err := b.driver.Look(t.Context(), h2); return err == nil })
	if s := b.copyOn(vm(0), h2); s != "none" {
		t.Errorf("a revoked restore made a copy: %s", s)
	}
	restore.Attempt, restore.Node = 2, h1
	b.do(restore)
}
