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
		b.until("the host can be looked at again", func() bool { return b.tryLook(node) == nil })
	}
	if s := b.copyOn(vm(0), node); s != "paused" {
		t.Errorf("after all that, the VM is %s", s)
	}
}

// callAll begins calls of all kinds, a little apart. How they end is theirs, but they do.
func (b bench) callAll(node cluster.NodeID) *sync.WaitGroup {
	var calls sync.WaitGroup
	begin := func(call func() error) {
		calls.Go(func() {
			if err := call(); errors.Is(err, hypervisor.ErrTimeout) {
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
		begin(func() error { return b.tryLook(node) })
		time.Sleep(5 * time.Millisecond)
	}
	return &calls
}

func (b bench) tryLook(node cluster.NodeID) error {
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	_, err := b.driver.Look(ctx, node)
	return err
}
