//go:build libvirt_dlopen

package lab_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/libvirt"
	"vjob/tests/lab"
)

// The last reply of a migration is lost. Without a lock a running VM then runs on
// both hosts, and nothing heals that; a paused one is there twice and harmless.
func TestCutMigrationWithoutLock(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2})
	src, dst := b.lab.Hosts()[0], b.lab.Hosts()[1]

	b.boot(vm(0), src)
	b.counts(vm(0), 3)
	dropped := b.lab.DropFinish(dst)
	_, err := b.try(hypervisor.Call{Verb: hypervisor.Migrate, VM: vm(0), Node: src, To: dst})
	<-dropped
	t.Logf("a live migration without its last reply: %v", err)
	if err == nil {
		t.Error("a migration succeeded although its last reply was lost")
	}
	b.until("both copies stand", func() bool {
		return b.copyOn(vm(0), src) == "running" && b.copyOn(vm(0), dst) == "running"
	})
	if broken := lab.Broken(b.counts(vm(0), len(b.lab.Counters(vm(0)))+10)); broken == "" {
		t.Error("two copies run and the console does not show it")
	}

	b.boot(vm(1), src)
	b.counts(vm(1), 3)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(1), Node: src})
	dropped = b.lab.DropFinish(dst)
	_, err = b.try(hypervisor.Call{Verb: hypervisor.Migrate, VM: vm(1), Node: src, To: dst})
	<-dropped
	t.Logf("a paused migration without its last reply: %v", err)
	b.until("both copies are paused", func() bool {
		return b.copyOn(vm(1), src) == "paused" && b.copyOn(vm(1), dst) == "paused"
	})
	stood := len(b.lab.Counters(vm(1)))
	b.do(hypervisor.Call{Verb: hypervisor.Destroy, VM: vm(1), Node: src})
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(1), Node: dst})
	b.counts(vm(1), stood+3)
	b.whole(vm(1))
}

// With a lease the source of a cut migration stays paused, and the same VM cannot
// be started twice.
func TestCutMigrationWithLock(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2, Locks: true})
	src, dst := b.lab.Hosts()[0], b.lab.Hosts()[1]
	b.boot(vm(0), src)
	b.counts(vm(0), 3)
	view := b.look(src)
	if c, _ := view.Copy(vm(0)); !c.Lock {
		t.Error("a copy with a lease does not show its lock")
	}
	if _, err := b.try(hypervisor.Call{
		Verb: hypervisor.Boot, VM: vm(0), Node: dst,
		Machine: &hypervisor.Machine{Reserved: cluster.Resources{CPU: 1000, Memory: 32}, Payload: cluster.Payload{Image: lab.GuestImage}},
	}); !errors.Is(err, hypervisor.ErrLocked) {
		t.Errorf("a second copy: %v", err)
	}

	dropped := b.lab.DropFinish(dst)
	_, err := b.try(hypervisor.Call{Verb: hypervisor.Migrate, VM: vm(0), Node: src, To: dst})
	<-dropped
	t.Logf("a live migration without its last reply: %v", err)
	b.until("only the destination runs", func() bool {
		return b.copyOn(vm(0), src) == "paused" && b.copyOn(vm(0), dst) == "running"
	})
	if _, err := b.try(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(0), Node: src}); !errors.Is(err, hypervisor.ErrLocked) {
		t.Errorf("the old copy goes on: %v", err)
	}
	b.do(hypervisor.Call{Verb: hypervisor.Destroy, VM: vm(0), Node: src})
	b.counts(vm(0), len(b.lab.Counters(vm(0)))+3)
	b.whole(vm(0))
}

// A migration is cut off in the middle, and one is aborted: the VM stays where it
// was.
func TestMigrationFails(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2})
	b.driver = b.lab.Driver(func(c *libvirt.Config) { c.MigrationMiBps = 1 })
	src, dst := b.lab.Hosts()[0], b.lab.Hosts()[1]
	b.boot(vm(0), src)
	b.counts(vm(0), 3)
	stays := func(what string, fault func()) {
		t.Helper()
		failed := make(chan error, 1)
		go func() {
			_, err := b.try(hypervisor.Call{Verb: hypervisor.Migrate, VM: vm(0), Node: src, To: dst})
			failed <- err
		}()
		b.until("both ends show the migration", func() bool {
			out, in := b.look(src), b.look(dst)
			from, _ := out.Copy(vm(0))
			to, _ := in.Copy(vm(0))
			return from.Job == hypervisor.JobOutgoing && to.Job == hypervisor.JobIncoming
		})
		fault()
		if err := <-failed; err == nil {
			t.Errorf("%s: the migration ended well", what)
		} else {
			t.Logf("%s: %v", what, err)
		}
		b.until(what+": the VM is where it was", func() bool {
			return b.copyOn(vm(0), src) == "running" && b.copyOn(vm(0), dst) == "none"
		})
	}
	stays("aborted", func() { b.do(hypervisor.Call{Verb: hypervisor.Abort, VM: vm(0), Node: src}) })
	stays("link cut", func() { b.lab.CutLink(dst) })
	b.lab.RestoreLink(dst)
	b.until("the hosts reach each other", func() bool {
		b.driver = b.lab.Driver(nil)
		_, err := b.try(hypervisor.Call{Verb: hypervisor.Migrate, VM: vm(0), Node: src, To: dst})
		return err == nil
	})
	b.counts(vm(0), len(b.lab.Counters(vm(0)))+3)
	b.whole(vm(0))
}

// A host with a frozen daemon delays no other host, and is seen again after the thaw.
func TestFrozenHost(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 2})
	frozen, other := b.lab.Hosts()[0], b.lab.Hosts()[1]
	b.boot(vm(0), frozen)
	b.boot(vm(1), other)
	b.lab.Freeze(frozen)
	calls := make(chan error, 8)
	for range cap(calls) {
		go func() {
			_, err := b.try(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: frozen})
			calls <- err
		}()
	}
	begun := time.Now()
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(1), Node: other})
	t.Logf("pause beside a frozen host: %s", time.Since(begun))
	for range cap(calls) {
		if err := <-calls; !errors.Is(err, hypervisor.ErrUnreachable) {
			t.Errorf("pause on a frozen host: %v", err)
		}
	}
	b.lab.Thaw(frozen)
	b.until("the host is back", func() bool {
		_, err := b.driver.Look(b.Context(), frozen)
		return err == nil
	})

	// A QEMU that hangs hides neither its host nor the other machines there.
	b.until("boot", func() bool { return b.copyOn(vm(0), frozen) != "none" })
	b.boot(vm(2), frozen)
	_, _ = b.try(hypervisor.Call{Verb: hypervisor.Unpause, VM: vm(0), Node: frozen})
	b.lab.SignalGuest(frozen, vm(0), syscall.SIGSTOP)
	hanging := make(chan error, 1)
	go func() {
		_, err := b.try(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: frozen})
		hanging <- err
	}()
	time.Sleep(200 * time.Millisecond) // for the call to reach the machine; nothing shows it
	for range 3 {
		begun = time.Now()
		view := b.look(frozen)
		t.Logf("look at a host with a machine that hangs: %s, %d copies", time.Since(begun), len(view.Copies))
		if len(view.Copies) != 2 {
			t.Errorf("copies: %v", view.Copies)
		}
	}
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(2), Node: frozen})
	b.do(hypervisor.Call{Verb: hypervisor.Destroy, VM: vm(0), Node: frozen})
	t.Logf("pause of a machine that hangs, after its end: %v", <-hanging)
}
