//go:build libvirt_dlopen

package lab_test

import (
	"errors"
	"fmt"
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

// Two busy VMs on one processor demand two of them together, though they get only one. A VM of three
// times the weight, which its control group has, gets three times the CPU of the other.
func TestDemandAndWeightsUnderContention(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Hosts: 1})
	node := b.lab.Hosts()[0]
	for rank := range 2 {
		b.boot(vm(rank), node, "spin=1")
		b.counts(vm(rank), 3)
		if err := b.lab.Squeeze(node, vm(rank)); err != nil {
			t.Fatal(err)
		}
	}
	// measured reads both once they have been measured again: what each demands, and the CPU time
	// that each gets a second.
	measured := func(window time.Duration) (demand [2]cluster.MilliCPU, used [2]float64) {
		began, from := time.Now(), [2]time.Duration{b.cpuTime(vm(0), node), b.cpuTime(vm(1), node)}
		for time.Since(began) < window {
			time.Sleep(500 * time.Millisecond)
			view := b.look(node)
			for rank := range 2 {
				c, _ := view.Copy(vm(rank))
				demand[rank], used[rank] = c.CPU, (c.CPUTime-from[rank]).Seconds()/time.Since(began).Seconds()
			}
		}
		return demand, used
	}
	demand, used := measured(10 * time.Second)
	t.Logf("demand %s and %s CPU, used %.2f and %.2f", demand[0], demand[1], used[0], used[1])
	if all := used[0] + used[1]; all > 1.1 {
		t.Errorf("both together get %.2f processors, and share one", all)
	}
	if all := demand[0] + demand[1]; all < 1900 || all > 2100 {
		t.Errorf("both together demand %s CPU, want 2", all)
	}
	if !lab.CanCap() {
		t.Skip("this machine has no control groups of version 1 for CPU: weights are not known to hold")
	}
	for rank, weight := range []int{100, 300} {
		b.do(hypervisor.Call{Verb: hypervisor.Tune, VM: vm(rank), Node: node, Weight: weight})
		if got, err := b.lab.Shares(node, vm(rank)); got != weight || err != nil {
			t.Errorf("%s has weight %d, %v, want %d", vm(rank), got, err, weight)
		}
	}
	demand, used = measured(15 * time.Second)
	t.Logf("with weights 100 and 300: demand %s and %s CPU, used %.2f and %.2f", demand[0], demand[1], used[0], used[1])
	if ratio := used[1] / used[0]; ratio < 2.2 || ratio > 4 {
		t.Errorf("with three times the weight the VM gets %.1f times the CPU", ratio)
	}
	if all := demand[0] + demand[1]; all < 1800 || all > 2100 {
		t.Errorf("both together demand %s CPU, want 2", all)
	}
}

// A host without control groups for the CPU boots and restores a VM that is to have a weight, shows
// that it has none, and refuses to set it.
func TestWeightsWithoutControlGroups(t *testing.T) {
	t.Parallel()
	for _, controllers := range [][]string{{}, {"cpuacct"}} {
		t.Run(fmt.Sprintf("%d_controllers", len(controllers)), func(t *testing.T) {
			t.Parallel()
			b := start(t, lab.Options{Hosts: 1, Controllers: controllers})
			node := b.lab.Hosts()[0]
			shows := func(state hypervisor.CopyState) {
				t.Helper()
				view := b.look(node)
				if c, _ := view.Copy(vm(0)); c.State != state || c.Weight != 0 || c.Cap != 0 {
					t.Errorf("it is shown as %+v", c)
				}
			}
			b.do(hypervisor.Call{
				Verb: hypervisor.Boot, VM: vm(0), Node: node, Stamp: hypervisor.Stamp{Incarnation: 1, Epoch: 7}, Weight: 300,
				Machine: &hypervisor.Machine{
					Name: "count", Reserved: cluster.Resources{CPU: cluster.CPU, Memory: 32},
					Payload: cluster.Payload{Image: lab.GuestImage, Command: []string{"tick=200"}},
				},
			})
			b.counts(vm(0), 3)
			shows(hypervisor.CopyRunning)
			_, err := b.try(hypervisor.Call{Verb: hypervisor.Tune, VM: vm(0), Node: node, Weight: 300})
			if !errors.Is(err, hypervisor.ErrRefused) {
				t.Errorf("setting a weight: %v", err)
			}
			b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: vm(0), Node: node})
			sum := b.saved(vm(0), node, image(vm(0), 1))
			_, err = b.try(hypervisor.Call{
				Verb: hypervisor.Restore, VM: vm(0), Node: node, Image: image(vm(0), 1), Checksum: sum, Attempt: 1, Weight: 300,
			})
			t.Logf("restore: %v", err)
			shows(hypervisor.CopyPaused)
		})
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
