package execute_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Nodes are looked at in intervals: silent ones more often, those that rest as often as is
// said, and those that are down never. The store is looked at less often.
func TestLooksAreMadeInTime(t *testing.T) {
	l := world()
	l.Nodes = append(l.Nodes, cluster.Node{ID: "d"}, cluster.Node{ID: "e", State: cluster.Down})
	d := newHarness(t, settings(), l)
	d.dead["b"], d.dead["d"] = true, true
	d.settle()
	d.exec.PowerStates.Set(d.now, "c", 20*time.Second, 0)
	d.exec.PowerStates.Set(d.now, "d", 30*time.Second, 0)
	clear(d.watched)
	d.pass(time.Minute)
	want := map[cluster.NodeID]int{"a": 12, "b": 60, "c": 3, "d": 2, "": 2}
	if !maps.Equal(d.watched, want) {
		t.Errorf("looks in a minute: %v, want %v", d.watched, want)
	}
	d.flush()
	d.now = d.now.Add(time.Hour)
	for range 2 { // one look at a time
		d.exec.Tick(d.now)
		d.flush()
	}
	if len(d.looks) != 4 || !d.looking {
		t.Errorf("looks under way at once: %v", d.looks)
	}
	clear(d.watched)
	d.settle()
	if want := map[cluster.NodeID]int{"a": 1, "b": 1, "c": 1, "d": 1, "": 1}; !maps.Equal(d.watched, want) {
		t.Errorf("looks after an hour: %v, want %v", d.watched, want)
	}
}

// On a large cluster quiet nodes are looked at in turn, 500 a second, and one that does not answer as often as on a small one.
func TestLooksGoRoundALargeCluster(t *testing.T) {
	const nodes = 6000
	l := journal.Loaded{Epoch: 1, NextOp: 1, NextPlan: 1}
	for i := range nodes {
		l.Nodes = append(l.Nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%04d", i))})
	}
	d := newHarness(t, settings(), l)
	silent := l.Nodes[nodes-1].ID
	d.dead[silent] = true
	d.settle()
	clear(d.watched)
	d.pass(time.Minute)
	total := 0
	for _, n := range l.Nodes[:nodes-1] {
		seen := d.watched[n.ID]
		if total += seen; seen < 4 || seen > 6 {
			t.Fatalf("%s is looked at %d times in a minute", n.ID, seen)
		}
	}
	if total < 500*55 || total > 500*65 {
		t.Errorf("%d looks in a minute, want 500 a second", total)
	}
	if d.watched[silent] < 50 {
		t.Errorf("a silent node is looked at %d times in a minute", d.watched[silent])
	}
	d.dead[silent] = false
	d.pass(time.Minute) // now all are quiet
	later, off, down := l.Nodes[1].ID, l.Nodes[2].ID, l.Nodes[3]
	d.dead[later] = true
	d.exec.Hint(d.now, later)
	clear(d.watched)
	d.pass(time.Minute)
	if d.watched[later] < 50 || d.watched[silent] > 6 {
		t.Errorf("a node that falls silent is looked at %d times in a minute, one that answers again %d times", d.watched[later], d.watched[silent])
	}
	d.dead[later] = false
	d.pass(time.Minute)
	d.exec.PowerStates.Set(d.now, off, 2*time.Second, 0)
	clear(d.watched)
	d.pass(time.Minute)
	if d.watched[off] < 25 {
		t.Errorf("a node that is being switched is looked at %d times in a minute", d.watched[off])
	}
	d.exec.PowerStates.Set(d.now, off, 0, 0)
	d.pass(time.Minute)
	down.State = cluster.Down
	d.exec.SetNode(d.now, down)
	d.pass(time.Second)
	down.State = cluster.Online
	d.exec.SetNode(d.now, down)
	d.dead[down.ID] = true
	clear(d.watched)
	d.pass(time.Minute)
	if d.watched[down.ID] < 50 {
		t.Errorf("a node that was down is looked at %d times in a minute", d.watched[down.ID])
	}
}
