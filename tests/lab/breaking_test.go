//go:build libvirt_dlopen

package lab_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/tests/lab"
)

// Connections break under calls, again and again: each call ends by itself, and the
// program lives. See trunk in hypervisor/libvirt.
func TestConnectionsBreak(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 1})
	node := b.lab.Hosts()[0]
	b.boot(vm(0), node)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: node}) // one that runs would obey a shutdown
	for round := range 6 {
		early := b.callAll(node)
		b.lab.Freeze(node)
		late := b.callAll(node)
		if round%3 != 1 { // else they wait until keepalive has counted
			b.lab.KillDaemon(node)
		}
		early.Wait()
		late.Wait()
		if round%3 == 1 {
			b.lab.KillDaemon(node)
		}
		b.lab.RestartDaemon(node)
		b.until("the host can be looked at again", func() bool {
			_, err := b.tryLook(node)
			return err == nil
		})
	}
	b.stillPaused(vm(0), node)
}

// A daemon that is silent for longer than libvirt waits with a probe: the calls that were
// under way end well, and so do those that come after them. See probeCalls in hypervisor/libvirt;
// the lab complains about calls on a connection that is probed.
func TestCallsOutlastProbes(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 1})
	node := b.lab.Hosts()[0]
	b.boot(vm(0), node)
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: node})
	for range 8 {
		b.lab.Freeze(node)
		long := b.callAll(node)
		time.Sleep(3 * time.Second) // a probe is sent after two, and the connection lost after eight
		b.lab.Thaw(node)
		long.Wait()
		for range 4 {
			b.callAll(node).Wait()
		}
	}
	b.stillPaused(vm(0), node)
}

// stillPaused looks until the driver has noticed which of its connections are broken.
func (b labTest) stillPaused(id cluster.VMID, node cluster.NodeID) {
	b.Helper()
	b.until(id.String()+" is seen paused", func() bool {
		view, err := b.tryLook(node)
		c, there := view.Copy(id)
		return err == nil && there && c.State == hypervisor.CopyPaused
	})
}

// callAll begins calls of all kinds, a little apart. How they end is theirs, but they do: a
// broken connection leaves open what became of a call, but ends it before its deadline.
func (b labTest) callAll(node cluster.NodeID) *sync.WaitGroup {
	var calls sync.WaitGroup
	begin := func(call func() error) {
		calls.Go(func() {
			if err := call(); errors.Is(err, hypervisor.ErrTimeout) && !errors.Is(err, hypervisor.ErrUnreachable) {
				b.Errorf("a call that has to end: %v", err)
			}
		})
	}
	for range 4 {
		for _, verb := range []hypervisor.Verb{hypervisor.Abort, hypervisor.Pause, hypervisor.Shutdown} {
			begin(func() error {
				_, err := b.try(hypervisor.Call{Verb: verb, VM: vm(0), Node: node})
				return err
			})
		}
		begin(func() error {
			_, err := b.tryLook(node)
			return err
		})
		time.Sleep(5 * time.Millisecond)
	}
	return &calls
}

func (b labTest) tryLook(node cluster.NodeID) (hypervisor.View, error) {
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	return b.driver.Look(ctx, node)
}
