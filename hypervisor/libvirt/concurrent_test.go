//go:build linux && (amd64 || arm64)

package libvirt

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// interruptions are functions by prefixes of system calls. Each runs once, before the first call
// with its prefix.
type interruptions map[string]func()

// during runs an operation with interruptions.
func (b *faultBench) during(steps interruptions, operation func()) {
	b.Helper()
	left := maps.Clone(steps)
	watch(b.T, b.dir, func(call string) fault {
		for prefix, step := range left {
			if strings.HasPrefix(call, prefix) {
				step()
				delete(left, prefix)
			}
		}
		return fault{}
	}, operation)
	for call := range left {
		b.Errorf("it does not call %s", call)
	}
}

// An attempt that is revoked while it gets its link has none when both have ended,
// whichever is first.
func TestRevokedMeanwhile(t *testing.T) {
	const link, unlink = "link images/h1/12.3.g1.a1.r2", "unlink images/h1/12.3.g1.a1.r2"
	b := newFaultBench(t)
	revoke := func() { b.must(b.store.revoke(first, 2)) }
	mark := func() { b.must(note(b.path, 'x', "2")) } // the first half of a revocation
	for name, steps := range map[string]interruptions{
		"revoked before it has a link": {link: revoke},
		"removed by the attempt":       {link: mark},
		"removed by the revocation":    {link: mark, unlink: revoke},
	} {
		var got string
		var err error
		b.during(steps, func() { got, err = b.store.linkForAttempt(b.path, 2) })
		if !errors.Is(err, errRevoked) || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if left := b.names(); left != "h1:12.3.g1.a1 h1:x2" {
			t.Errorf("%s: left is %s", name, left)
		}
		b.must(os.Remove(b.path + ".x2"))
	}
}

// A listing passes over an image that is discarded meanwhile; one that it cannot read
// fails it.
func TestListedMeanwhile(t *testing.T) {
	b := newFaultBench(t)
	other := hypervisor.ImageID{VM: first.VM, Generation: 2, Attempt: 1}
	write(t, b.store.path("h1", other), saveFile(magicComplete))
	var store hypervisor.Store
	var err error
	b.during(interruptions{"open images/h1/12.3.g1.a1": func() { b.must(b.store.discard(first)) }}, func() { store, err = b.store.list() })
	if err != nil || len(store.Images) != 1 || store.Images[0].ID != other {
		t.Errorf("images %v, %v", store.Images, err)
	}
}

// Notes that another call has removed meanwhile are no fault.
func TestDiscardedTwiceAtOnce(t *testing.T) {
	b := newFaultBench(t)
	seal(t, b.store)
	for _, call := range []string{"unlink images/h1/12.3.g1.a1", "unlink images/h1/12.3.g1.a1.s"} {
		var err error
		b.during(interruptions{call: func() { b.must(b.store.discard(first)) }}, func() { err = b.store.discard(first) })
		if left := b.names(); err != nil || left != "" {
			t.Errorf("before %s: %v, left is %s", call, err, left)
		}
		write(t, b.path, saveFile(magicComplete))
		seal(t, b.store)
	}
}

// After a sync that failed, the kernel holds what it could not write as if it were written:
// the next seal has to read what the disk has.
func TestSealAfterAFailedSync(t *testing.T) {
	b := newFaultBench(t)
	var calls []string
	var err error
	watch(t, b.dir, func(call string) fault {
		calls = append(calls, call)
		if call == "sync images/h1/12.3.g1.a1" {
			return fault{errno: syscall.EIO}
		}
		return fault{}
	}, func() { _, err = b.store.seal(t.Context(), first) })
	if last := calls[len(calls)-1]; !errors.Is(err, hypervisor.ErrNoImage) || last != "forget images/h1/12.3.g1.a1" {
		t.Errorf("%v, and the last call is %s", err, last)
	}
	if left := b.names(); left != "h1:12.3.g1.a1" {
		t.Errorf("left is %s", left)
	}
	seal(t, b.store)
}

// The notes of an image go only after its removal is durable, also where an earlier discard
// has removed it and could not sync that.
func TestDiscardIsDurableBeforeItsNotes(t *testing.T) {
	b := newFaultBench(t)
	b.must(b.store.revoke(first, 1))
	var err error
	watch(t, b.dir, func(call string) fault {
		if call == "sync images/h1" {
			return fault{errno: syscall.EIO}
		}
		return fault{}
	}, func() { err = b.store.discard(first) })
	if left := b.names(); err == nil || left != "h1:x1" {
		t.Fatalf("a discard without a sync: %v, left is %s", err, left)
	}
	synced := false
	b.during(interruptions{
		"sync images/h1": func() { synced = true },
		"unlink images/h1/12.3.g1.a1.x1": func() {
			if !synced {
				t.Error("the note goes before the sync")
			}
		},
	}, func() { err = b.store.discard(first) })
	if left := b.names(); err != nil || left != "" {
		t.Errorf("a discard that is repeated: %v, left is %s", err, left)
	}
}

// What a sweep wants to remove may be gone, and an image may come after its listing.
func TestSweptMeanwhile(t *testing.T) {
	b := newFaultBench(t)
	late := hypervisor.ImageID{VM: cluster.VMID{VJob: 2}, Generation: 1, Attempt: 1}
	s := sweep{cfg: b.cfg, store: b.store, now: time.Now().Add(2 * week), live: func(cluster.VJobID) bool { return false }}
	console, vm := b.cfg.consolePath(late.VM), "consoles/2.0.console"
	for _, call := range []string{"stat " + vm, "unlink " + vm} {
		write(t, console, nil)
		var err error
		b.during(interruptions{call: func() { b.must(os.Remove(console)) }}, func() { err = s.run(t.Context()) })
		if err != nil {
			t.Errorf("%s is gone before %s: %v", vm, call, err)
		}
	}
	path := b.store.path("h1", late)
	write(t, path+".x3", nil)
	b.during(interruptions{"stat images/h1/2.0.g1.a1": func() { write(t, path, saveFile(magicComplete)) }}, func() { b.must(s.run(t.Context())) })
	if _, err := os.Stat(path + ".x3"); err != nil {
		t.Errorf("the note of an image that came meanwhile: %v", err)
	}
}

// What is written after the end of its context gets no name.
func TestWrittenTooLate(t *testing.T) {
	b := newFaultBench(t)
	before := b.state()
	ctx, cancel := context.WithCancel(t.Context())
	var err error
	b.during(interruptions{"sync seeds/": cancel}, func() {
		err = createOverlay(ctx, b.cfg.overlayPath(first.VM, hypervisor.Stamp{}), b.cfg.Images[0].Disk, "raw")
	})
	if !errors.Is(err, context.Canceled) || !finished(b.state(), before) {
		t.Errorf("%v, and the files are %v", err, b.state())
	}
}

// An overlay and a seed are for the driver's user alone, and so are notes.
func TestModes(t *testing.T) {
	b := newFaultBench(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	seal(t, b.store)
	stamp := hypervisor.Stamp{Incarnation: 1}
	b.must(b.cfg.prepare(t.Context(), first.VM, stamp, cluster.Payload{Image: "disk"}))
	sum, err := notes(b.path, 's')
	b.must(err)
	for _, path := range []string{
		b.path + ".s" + sum[0], b.cfg.overlayPath(first.VM, stamp), b.cfg.seedPath(first.VM, stamp), b.cfg.Lease.leasePath(first.VM),
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
