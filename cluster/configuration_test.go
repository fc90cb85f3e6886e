package cluster_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"vjob/cluster"
	"vjob/tests/golden"
)

func vm(job cluster.VJobID, rank int) cluster.VMID { return cluster.VMID{VJob: job, Rank: rank} }

// example has a VM in every state, an overloaded node and one that is off.
func example() *cluster.Configuration {
	c := cluster.NewConfiguration(
		cluster.Node{ID: "n2", Capacity: cluster.Resources{CPU: 1000, Memory: 1024}},
		cluster.Node{ID: "n1", Capacity: cluster.Resources{CPU: 2000, Memory: 3686}, State: cluster.Draining},
		cluster.Node{ID: "n3", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}, State: cluster.Offline},
	)
	need := cluster.Resources{CPU: 1000, Memory: 512}
	c.SetRunning(vm(1, 1), need, "n1")
	c.SetRunning(vm(1, 0), need, "n1")
	c.SetRunning(vm(10, 0), need.Times(2), "n2")
	c.SetRunning(vm(2, 0), need, "n3")
	c.SetPaused(vm(5, 0), need, "n2")
	c.SetWaiting(vm(4, 0), need)
	c.SetSleeping(vm(3, 1), need, "")
	c.SetSleeping(vm(3, 0), need, "n1")
	return c
}

// TestText keeps the canonical text form and what is said of a configuration
// that is not viable.
func TestText(t *testing.T) {
	c := example()
	text := c.String()
	for _, v := range c.Violations() {
		text += "! " + v + "\n"
	}
	golden.Same(t, "testdata/configuration.golden", text)
}

func TestConfigurationAnswers(t *testing.T) {
	c := example()
	if s, ok := c.State(vm(3, 0)); !ok || s != cluster.VMSleeping || c.Place(vm(3, 0)) != "n1" {
		t.Errorf("3.0 is %s (%v) at %s", s, ok, c.Place(vm(3, 0)))
	}
	if _, ok := c.Host(vm(3, 0)); ok {
		t.Error("a sleeping VM has no host")
	}
	if _, ok := c.State(vm(9, 9)); ok || c.Place(vm(9, 9)) != "" || !c.Need(vm(9, 9)).IsZero() {
		t.Error("a VM that is not known has a state, a place or a need")
	}
	if _, ok := c.Host(vm(5, 0)); ok || c.Place(vm(5, 0)) != "n2" || c.Need(vm(5, 0)).CPU != 1000 {
		t.Errorf("5.0 stands still on %q and needs %s when it goes on", c.Place(vm(5, 0)), c.Need(vm(5, 0)))
	}
	if got := c.Free("n2"); got != (cluster.Resources{CPU: -1000, Memory: -512}) {
		t.Errorf("n2 has %s free", got)
	}
	if !c.Free("nowhere").IsZero() || !c.Used("nowhere").IsZero() || c.On("nowhere") != nil {
		t.Error("a node that is not known has something")
	}
	c.Remove(vm(1, 0))
	if got := c.On("n1"); !slices.Equal(got, []cluster.VMID{vm(1, 1)}) {
		t.Errorf("n1 hosts %v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a VM was placed on a node that is not known")
		}
	}()
	c.SetRunning(vm(1, 0), cluster.Resources{}, "nowhere")
}

// TestUsageIsKept compares the usage and the order, which are kept incrementally,
// with those made from scratch, after any sequence of changes; and what a clone does
// is nothing to its original, nor the other way round.
func TestUsageIsKept(t *testing.T) {
	nodes := []cluster.NodeID{"n1", "n2", "n3"}
	rapid.Check(t, func(t *rapid.T) {
		kept := map[*cluster.Configuration]string{} // as they were when they were left
		c := cluster.NewConfiguration(cluster.Node{ID: "n2"}, cluster.Node{ID: "n3"}, cluster.Node{ID: "n1"})
		known := map[cluster.VMID]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			id := vm(cluster.VJobID(rapid.IntRange(1, 3).Draw(t, "vjob")), rapid.IntRange(0, 2).Draw(t, "rank"))
			need := cluster.Resources{
				CPU: cluster.MilliCPU(rapid.IntRange(0, 2000).Draw(t, "cpu")), Memory: cluster.MiB(rapid.IntRange(1, 999).Draw(t, "memory")),
			}
			node := rapid.SampledFrom(nodes).Draw(t, "node")
			known[id] = true
			before, clone := c.String(), c.Clone()
			kept[clone] = before
			if rapid.Bool().Draw(t, "the clone goes on") {
				delete(kept, clone)
				kept[c], c = before, clone
			}
			switch rapid.IntRange(0, 7).Draw(t, "change") {
			case 0, 1:
				c.SetRunning(id, need, node)
			case 2:
				c.SetSleeping(id, need, node)
			case 3:
				c.SetWaiting(id, need)
			case 4:
				c.SetPaused(id, need, node)
			case 5:
				c.Remove(id)
				delete(known, id)
			case 6:
				delete(known, id)
				c.Remove(id)
				c.SetNode(cluster.Node{ID: node, Capacity: need})
				c.SetNode(cluster.Node{ID: node, Capacity: need.Times(2)})
			case 7:
				delete(known, id)
				c.Remove(id)
				c.SetNode(cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", rapid.IntRange(0, 9).Draw(t, "new node")))})
			}
			if want := slices.SortedFunc(maps.Keys(known), cluster.VMID.Compare); !slices.Equal(c.VMs(), want) {
				t.Fatalf("it has the VMs %v, want %v", c.VMs(), want)
			}
			for other, was := range kept {
				if other.String() != was {
					t.Fatalf("a change went through to another configuration:\n%s%s", was, other)
				}
				if c.Same(other) != (c.String() == was) || other.Same(c) != c.Same(other) {
					t.Fatalf("the same: %t and %t\n%s%s", c.Same(other), other.Same(c), was, c)
				}
			}
			if err := recount(c); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Copies of what is lent are made at the same time, and changed: the race detector sees what they share.
func TestCopiesAtTheSameTime(t *testing.T) {
	c, before := example(), example().String()
	c.Lend()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			d := c.Clone()
			d.Remove(vm(1, 0))
			d.SetNode(cluster.Node{ID: "n4"})
			d.SetRunning(vm(7, 0), cluster.Resources{CPU: 1}, "n4")
		})
	}
	all.Wait()
	if c.String() != before {
		t.Errorf("the original has changed:\n%s%s", before, c)
	}
}

// What a copy says of a node is nothing to a configuration that was lent and has changed since.
func TestACopyOfWhatHasChanged(t *testing.T) {
	c := example()
	c.Lend()
	c.SetNode(cluster.Node{ID: "n1", State: cluster.Online})
	c.Clone().SetNode(cluster.Node{ID: "n1", State: cluster.Down})
	if n, _ := c.Node("n1"); n.State != cluster.Online {
		t.Errorf("n1 is %s", n.State)
	}
}

// recount sums the usage up from the VMs alone.
func recount(c *cluster.Configuration) error {
	sum := map[cluster.NodeID]cluster.Resources{}
	on := map[cluster.NodeID][]cluster.VMID{}
	for _, id := range c.VMs() {
		host := c.Place(id)
		switch state, _ := c.State(id); state {
		case cluster.VMRunning:
			sum[host] = sum[host].Plus(c.Need(id))
			on[host] = append(on[host], id)
		case cluster.VMPaused:
			sum[host] = sum[host].Plus(cluster.Resources{Memory: c.Need(id).Memory})
			on[host] = append(on[host], id)
		default:
		}
	}
	for _, n := range c.Nodes() {
		if c.Used(n.ID) != sum[n.ID] || c.Free(n.ID) != n.Capacity.Minus(sum[n.ID]) || !slices.Equal(c.On(n.ID), on[n.ID]) {
			return fmt.Errorf("node %s: used %s by %v, recounted %s by %v", n.ID, c.Used(n.ID), c.On(n.ID), sum[n.ID], on[n.ID])
		}
	}
	return nil
}
