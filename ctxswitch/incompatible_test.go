package ctxswitch_test

import (
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch"
)

// TestIncompatibleNodes drains n1, where a VM of each vjob runs.
func TestIncompatibleNodes(t *testing.T) {
	t.Parallel()
	drained := func(nodes ...cluster.NodeID) ctxswitch.Problem {
		p := free()
		p.Current.SetNode(cluster.Node{ID: "n1", Capacity: cluster.Resources{CPU: 8000, Memory: 8192}, State: cluster.Draining})
		p.Incompatible = map[cluster.VMID][]cluster.NodeID{{VJob: 1}: nodes, {VJob: 2}: nodes}
		return p
	}
	p := drained("n2", "n3")
	plan, err := ctxswitch.Repacker{}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []cluster.VJobID{1, 2} {
		if at := plan.Target.Place(cluster.VMID{VJob: id}); at != "n4" {
			t.Errorf("VM %d.0 goes to %s, only n4 can run it", id, at)
		}
	}
	if faults := ctxswitch.Check(p, plan); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	l, err := ctxswitch.NewAllowedNodes(p)
	if err != nil || l.Allows(cluster.VMID{VJob: 1}, "n2") || !l.Allows(cluster.VMID{VJob: 1}, "n4") {
		t.Errorf("allowed nodes, %v", err)
	}
	plan, err = ctxswitch.Repacker{}.Plan(drained("n2", "n3", "n4"))
	if err != nil || !plan.Empty() {
		t.Errorf("no node can run the VMs of n1, they stay: %+v, %v", plan.Actions, err)
	}
}

// A packing for queues takes no node for a vjob in images that cannot run it.
func TestPackingKeepsOffIncompatibleNodes(t *testing.T) {
	t.Parallel()
	p := free()
	take := func(nodes ...cluster.NodeID) (bool, string, []cluster.NodeID) {
		vm := cluster.VMID{VJob: 1}
		p.Current.Remove(cluster.VMID{VJob: 1, Rank: 1})
		p.Current.SetSleeping(vm, cluster.Resources{CPU: 500, Memory: 512}, "n1")
		room := ctxswitch.NewPacking(ctxswitch.PackingInput{
			Current: p.Current, Incompatible: map[cluster.VMID][]cluster.NodeID{vm: nodes},
			Needs: map[cluster.VMID]cluster.Resources{vm: {CPU: 500, Memory: 512}},
		})
		ok, short := room.Take(1)
		return ok, short.String(), room.Places(1)
	}
	if ok, why, at := take("n1", "n2", "n3"); !ok || !slices.Equal(at, []cluster.NodeID{"n4"}) {
		t.Errorf("%v %s %v, want n4", ok, why, at)
	}
	p.Current.SetNode(cluster.Node{ID: "n4", Capacity: cluster.Resources{CPU: 100, Memory: 8192}})
	if ok, _, _ := take("n1", "n2", "n3"); ok {
		t.Error("taken, though n4 is full")
	}
}
