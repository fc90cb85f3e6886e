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
	// The time that a guest sleeps counts in full, also if it only waits for its emulator to run: on a
	// machine that is busy with other things not every measurement is exact.
	both := func(when string) {
		b.Helper()
		var demand [2]cluster.MilliCPU
		b.until("both demand a processor "+when, func() bool {
			view := b.look(node)
			for rank := range 2 {
				c, _ := view.Copy(vm(rank))
				demand[rank] = c.CPU
			}
			return min(demand[0], demand[1]) >= 900 && max(demand[0], demand[1]) <= 1100
		})
		t.Logf("demand %s: %s and %s CPU", when, demand[0], demand[1])
	}
	// get returns the CPU that each gets over a time, in processors.
	get := func(over time.Duration) (used [2]float64) {
		b.Helper()
		began, from := time.Now(), [2]time.Duration{b.cpuTime(vm(0), node), b.cpuTime(vm(1), node)}
		time.Sleep(over)
		for rank := range 2 {
			used[rank] = (b.cpuTime(vm(rank), node) - from[rank]).Seconds() / time.Since(began).Seconds()
		}
		return used
	}
	used := get(5 * time.Second)
	t.Logf("used: %.2f and %.2f CPU", used[0], used[1])
	if all := used[0] + used[1]; all > 1.1 {
		t.Errorf("both together get %.2f processors, and share one", all)
	}
	both("with equal weights")
	if !lab.CanCap() {
		t.Skip("this machine has no control groups of version 1 for CPU: weights are not known to hold")
	}
	for rank, weight := range []int{100, 300} {
		b.do(hypervisor.Call{Verb: hypervisor.Tune, VM: vm(rank), Node: node, Weight: weight})
		if got, err := b.lab.Shares(node, vm(rank)); got != weight || err != nil {
			t.Errorf("%s has weight %d, %v, want %d", vm(rank), got, err, weight)
		}
	}
	used = get(15 * time.Second)
	t.Logf("used with weights 100 and 300: %.2f and %.2f CPU", used[0], used[1])
	if ratio := used[1] / used[0]; ratio < 2.2 || ratio > 4 {
		t.Errorf("with three times the weight the VM gets %.1f times the CPU", ratio)
	}
	both("with different weights")
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
				var c hypervisor.Copy
				b.until("a look has an answer about it", func() bool { // until then its description stands for its weight
					view := b.look(node)
					c, _ = view.Copy(vm(0))
					return c.Job != hypervisor.JobUnknown
				})
				if c.State != state || c.Weight != 0 || c.Cap != 0 {
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
