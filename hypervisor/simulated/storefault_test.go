package simulated_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

func TestForeignStore(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	sum := b.saved(id)
	b.paused(vm(2, 0))
	b.inject(simulated.Fault{Kind: simulated.StoreForeign, Node: "n2"}) // all nodes share it
	if s, err := b.LookStore(b.now); !errors.Is(err, hypervisor.ErrNoImage) {
		t.Errorf("a look shows %+v, error %v", s, err)
	}
	for _, c := range []hypervisor.Call{
		call(hypervisor.Seal, id, "n1"), call(hypervisor.Discard, id, "n1"), call(hypervisor.Revoke, id, "n1"),
		call(hypervisor.Save, vm(2, 0), "n1"), restore(id, "n3", sum, 1),
	} {
		b.do(c, hypervisor.ErrNoImage)
	}
	b.EndFault(b.now, "n2", simulated.StoreForeign)
	if got := b.do(call(hypervisor.Seal, id, "n1"), nil).Receipt; got.Checksum != sum || got.Incarnation != 1 {
		t.Errorf("receipt %+v, want checksum %s", got, sum)
	}
}

func TestFailingStore(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	sum := b.saved(id)
	b.inject(simulated.Fault{Kind: simulated.StoreFails, Node: "n1", For: time.Hour})
	failed := map[error]int{}
	for range 40 {
		r := b.reply(b.start(call(hypervisor.Seal, id, "n1")), time.Minute)
		for _, way := range []error{hypervisor.ErrNoImage, hypervisor.ErrNoSpace} {
			if errors.Is(r.Err, way) {
				failed[way]++
			}
		}
		if r.Err == nil && r.Receipt.Checksum != sum {
			t.Fatalf("receipt %+v", r.Receipt)
		}
		if _, err := b.LookStore(b.now); err != nil {
			failed[nil]++
		}
	}
	if len(failed) != 3 || failed[hypervisor.ErrNoImage] == 40 {
		t.Errorf("failed: %v", failed)
	}
	b.wait(time.Hour)
	b.do(call(hypervisor.Discard, id, "n1"), nil)
}

// A cached directory shows files that were deleted, and no new files.
func TestStaleStore(t *testing.T) {
	b := newManualCluster(t, nil)
	b.saved(vm(1, 0))
	b.inject(simulated.Fault{Kind: simulated.StoreStale, Node: "n1", For: 5 * time.Minute})
	b.saved(vm(2, 0))
	b.do(call(hypervisor.Discard, vm(1, 0), "n1"), nil)
	shows := func(want ...cluster.VMID) {
		t.Helper()
		s, err := b.LookStore(b.now)
		if err != nil || len(s.Images) != len(want) {
			t.Fatalf("store %+v, error %v, want %v", s, err, want)
		}
		for i, id := range want {
			if s.Images[i].ID.VM != id || !s.Images[i].Complete || s.Images[i].Written.IsZero() {
				t.Errorf("image %+v, want %s", s.Images[i], id)
			}
		}
	}
	shows(vm(1, 0))
	data, err := b.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	cfg := simulated.Config{Nodes: []simulated.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 1000, Memory: 4096}}}}
	if b.Cluster, err = simulated.Restore(cfg, data); err != nil {
		t.Fatal(err)
	}
	shows(vm(1, 0))
	b.wait(5 * time.Minute)
	shows(vm(2, 0))
}

func TestSlowStore(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	sum := b.saved(id)
	b.inject(simulated.Fault{Kind: simulated.StoreSlow, Node: "n1", For: time.Second})
	op := b.start(restore(id, "n1", sum, 1)) // else 45 s
	b.wait(5 * time.Minute)
	b.want(id, on("n1", "paused/restoring"))
	if r := b.reply(op, 3*time.Hour); r == nil || r.Err != nil {
		t.Fatalf("answer %+v", r)
	}
}
