//go:build libvirt_dlopen

package lab_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/tests/lab"
)

// A cap is what a guest gets at most: under a tenth of a CPU, a guest that would use a
// whole one gets less than that of the time that passed, and more when the cap is lifted.
func TestCapHolds(t *testing.T) {
	t.Parallel()
	if !lab.CanCap() {
		t.Skip("this machine has no control groups of version 1 for CPU: caps are not known to hold")
	}
	b := start(t, lab.Options{Hosts: 1})
	node := b.lab.Hosts()[0]
	b.boot(vm(0), node, "spin=1")
	b.counts(vm(0), 3)
	// used is the CPU time that the guest gets until it has got so much, per second.
	used := func(until time.Duration) float64 {
		from, begun := b.cpuTime(vm(0), node), time.Now()
		b.until("the guest has used "+until.String(), func() bool { return b.cpuTime(vm(0), node)-from >= until })
		return (b.cpuTime(vm(0), node) - from).Seconds() / time.Since(begun).Seconds()
	}
	const most = cluster.CPU / 10
	b.do(hypervisor.Call{Verb: hypervisor.Tune, VM: vm(0), Node: node, Cap: most})
	used(300 * time.Millisecond) // what ran free is not held at once
	capped := used(500 * time.Millisecond)
	b.do(hypervisor.Call{Verb: hypervisor.Tune, VM: vm(0), Node: node})
	free := used(2 * time.Second)
	t.Logf("under a cap of %s CPU the guest got %.3f, without %.3f", most, capped, free)
	if capped > 0.12 { // libvirt counts the emulator's threads, which are capped as well
		t.Errorf("a guest capped at %s CPU got %.3f", most, capped)
	}
	if free < 1.5*capped {
		t.Errorf("without its cap the guest got %.3f CPU, with it %.3f", free, capped)
	}
}

// cpuTime is what a VM has used of CPU.
func (b labTest) cpuTime(id cluster.VMID, node cluster.NodeID) time.Duration {
	b.Helper()
	view := b.look(node)
	c, ok := view.Copy(id)
	if !ok {
		b.Fatalf("%s is not on %s", id, node)
	}
	return c.CPUTime
}
