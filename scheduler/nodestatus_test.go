package scheduler_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
)

// Snapshots share what they say of nodes, and renew it when only a decision has something to say of a node.
func TestNodesAreShownAsDecisionsLeaveThem(t *testing.T) {
	l := state(4, 0)
	l.VJobs[0].Preemption, l.VJobs[0].Rules = cluster.Never, "root($VMS);"
	r := mount(t, settings(), l)
	r.drain()
	r.took(time.Second) // later decisions are taken beside the core
	r.ponders = true
	if err := r.core.Nodes.Maintain(r.now, []cluster.NodeID{"n0000"}, "new disk", "op"); err != nil {
		t.Fatal(err)
	}
	if err := r.core.Nodes.Set(r.now, []cluster.NodeID{"n0001"}, cluster.Draining, "op"); err != nil {
		t.Fatal(err)
	}
	r.at(3 * time.Second)
	shown := r.core.Snapshot().Nodes
	if r.beside == nil || shown[1].Problem != "" {
		t.Fatalf("a decision is under way: %t; before it node n0001 is shown with %q", r.beside != nil, shown[1].Problem)
	}
	r.ponders = false
	r.decided()
	r.drain()
	r.shows()
	next := r.core.Snapshot().Nodes
	for i := range 2 {
		if !strings.Contains(next[i].Problem, "vjob 1 of u") {
			t.Errorf("node %d is not drained, and its problem is %q", i, next[i].Problem)
		}
	}
	if next[3] != shown[3] || shown[1].Problem != "" {
		t.Errorf("nothing has happened on node n0003; n0001 is shown with %q by the snapshot before", shown[1].Problem)
	}
}

// They renew it too when only its power driver has something to say of it.
func TestNodesAreShownAsTheirPowerIs(t *testing.T) {
	l := state(4, 0)
	free := l.Nodes[0]
	free.ID = "n0004"
	l.Nodes = append(l.Nodes, free)
	set := settings()
	set.Switching.Nodes, set.Switching.Limits, set.Switching.Reply = []cluster.NodeID{free.ID}, cycle.DefaultLimits, time.Minute
	r := mount(t, set, l)
	r.drain()
	if err := r.core.Power.Set(r.now, free.ID, cycle.WantOff, "op"); err != nil {
		t.Fatal(err)
	}
	var ask *power.Request
	for i := 0; ask == nil && i < 100; i++ {
		r.core.Tick(r.now)
		e := r.core.Flush(r.now)
		for k := range e.Asks {
			if a := &e.Asks[k]; a.Verb == power.Query {
				r.core.Power.Replied(r.now, *a, power.On, nil)
			} else {
				ask = a
			}
		}
		r.drain()
		r.now = r.now.Add(time.Second)
	}
	if ask == nil {
		t.Fatal("no driver is asked to switch the node off")
	}
	r.shows()
	r.core.Power.Replied(r.now, *ask, power.On, errors.New("no route to host"))
	r.shows()
	if s := r.core.Snapshot().Nodes[4].Switch; s == nil || !strings.Contains(s.Problem, "no route to host") {
		t.Errorf("it is shown as %+v", s)
	}
}
