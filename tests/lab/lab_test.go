//go:build libvirt_dlopen

package lab_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/libvirt"
	"vjob/tests/lab"
)

// patience is for machines that are busy with other things; nothing here is
// expected to take so long.
const patience = 2 * time.Minute

// labTest is a lab with a driver, and short words for what tests do with them.
type labTest struct {
	*testing.T
	lab    *lab.Lab
	driver *libvirt.Driver
}

func start(t *testing.T, opts lab.Options) labTest {
	t.Helper()
	l := lab.Start(t, opts)
	return labTest{t, l, l.Driver(nil)}
}

// do carries out a call that must succeed.
func (b labTest) do(call hypervisor.Call) hypervisor.Receipt {
	b.Helper()
	receipt, err := b.try(call)
	if err != nil {
		b.Fatal(err)
	}
	return receipt
}

func (b labTest) try(call hypervisor.Call) (hypervisor.Receipt, error) {
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	return b.driver.Do(ctx, call)
}

func vm(rank int) cluster.VMID { return cluster.VMID{VJob: 12, Rank: rank} }

// boot starts a guest that counts five times a second and holds some memory.
func (b labTest) boot(id cluster.VMID, node cluster.NodeID, words ...string) {
	b.Helper()
	b.do(hypervisor.Call{
		Verb: hypervisor.Boot, VM: id, Node: node, Stamp: hypervisor.Stamp{Incarnation: 1, Epoch: 7},
		Machine: &hypervisor.Machine{
			Name:     "count",
			Reserved: cluster.Resources{CPU: cluster.CPU, Memory: 32},
			Payload:  cluster.Payload{Image: lab.GuestImage, Command: append([]string{"tick=200", "fill=8"}, words...)},
		},
	})
}

// kill kills the QEMU of a VM.
func (b labTest) kill(id cluster.VMID, node cluster.NodeID) {
	b.Helper()
	if err := b.lab.KillGuest(node, id); err != nil {
		b.Fatal(err)
	}
}

func (b labTest) look(node cluster.NodeID) hypervisor.View {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	view, err := b.driver.Look(ctx, node)
	if err != nil {
		b.Fatal(err)
	}
	return view
}

// copyOn is the state of a VM's copy on a node, or "none".
func (b labTest) copyOn(id cluster.VMID, node cluster.NodeID) string {
	b.Helper()
	view := b.look(node)
	c, ok := view.Copy(id)
	if !ok {
		return "none"
	}
	return c.State.String()
}

// until polls a condition.
func (b labTest) until(what string, cond func() bool) {
	b.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// counts waits until a guest has counted at least n times.
func (b labTest) counts(id cluster.VMID, n int) []lab.Count {
	b.Helper()
	b.until(fmt.Sprintf("%s counts %d times", id, n), func() bool { return len(b.lab.Counters(id)) >= n })
	return b.lab.Counters(id)
}

// whole checks that the counts of a guest have no gap and no repetition.
func (b labTest) whole(id cluster.VMID) {
	b.Helper()
	if broken := lab.Broken(b.lab.Counters(id)); broken != "" {
		b.Errorf("%s: %s", id, broken)
	}
}

// saved saves a paused copy to an image and returns its checksum.
func (b labTest) saved(id cluster.VMID, node cluster.NodeID, image hypervisor.ImageID) string {
	b.Helper()
	b.do(hypervisor.Call{Verb: hypervisor.Save, VM: id, Node: node, Image: image})
	return b.do(hypervisor.Call{Verb: hypervisor.Seal, VM: id, Node: node, Image: image}).Checksum
}

func image(id cluster.VMID, attempt int) hypervisor.ImageID {
	return hypervisor.ImageID{VM: id, Generation: 1, Attempt: attempt}
}
