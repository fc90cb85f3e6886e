//go:build libvirt_dlopen

package lab_test

import (
	"sync"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/tests/lab"
)

// A gang of three is suspended and resumed on other hosts, where each guest continues with the
// next number. Then it migrates live.
func TestGang(t *testing.T) {
	t.Parallel()
	b := start(t, lab.Options{Locks: true})
	hosts := b.lab.Hosts()
	var gang []cluster.VMID
	for rank := range hosts {
		gang = append(gang, vm(rank))
	}
	each := func(f func(rank int, id cluster.VMID)) {
		var all sync.WaitGroup
		for rank, id := range gang {
			all.Go(func() { f(rank, id) })
		}
		all.Wait()
	}
	next := func(rank, by int) cluster.NodeID { return hosts[(rank+by)%len(hosts)] }

	each(func(rank int, id cluster.VMID) { b.boot(id, hosts[rank]) })
	each(func(_ int, id cluster.VMID) { b.counts(id, 5) })
	begun := time.Now()
	for rank, id := range gang {
		b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: id, Node: hosts[rank]})
	}
	t.Logf("pausing %d guests one after another took %s", len(gang), time.Since(begun))

	sums := make([]string, len(gang))
	each(func(rank int, id cluster.VMID) { sums[rank] = b.saved(id, hosts[rank], image(id, 1)) })
	stood := make([]int, len(gang))
	each(func(rank int, id cluster.VMID) {
		stood[rank] = len(b.lab.Counters(id))
		b.do(hypervisor.Call{
			Verb: hypervisor.Restore, VM: id, Node: next(rank, 1), Image: image(id, 1), Checksum: sums[rank], Attempt: 1,
		})
		if s := b.copyOn(id, next(rank, 1)); s != "paused" {
			t.Errorf("%s restored: %s", id, s)
		}
	})
	begun = time.Now()
	for rank, id := range gang {
		b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: id, Node: next(rank, 1)})
	}
	t.Logf("resuming %d guests one after another took %s", len(gang), time.Since(begun))
	each(func(rank int, id cluster.VMID) { b.counts(id, stood[rank]+3) })

	each(func(rank int, id cluster.VMID) {
		b.do(hypervisor.Call{Verb: hypervisor.Migrate, VM: id, Node: next(rank, 1), To: next(rank, 2)})
		if from, to := b.copyOn(id, next(rank, 1)), b.copyOn(id, next(rank, 2)); from != "none" || to != "running" {
			t.Errorf("%s migrated: %s at the source, %s at the destination", id, from, to)
		}
		b.counts(id, len(b.lab.Counters(id))+3)
		b.do(hypervisor.Call{Verb: hypervisor.Destroy, VM: id, Node: next(rank, 2)})
		b.whole(id)
	})
}
