package simclock_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/hypervisor/simulated"
	"vjob/scheduler"
	"vjob/scheduler/improve"
)

// oneLost keeps so much free that one node can be lost.
func oneLost(set *scheduler.Settings) { set.Failover = 1 }

// failoverEvents returns the events about failover capacity, as "alarm" or "node".
func (p *plant) failoverEvents() (kinds []string) {
	for _, e := range p.store.Events(0) {
		if strings.Contains(e.Text, "the loss of a node") && e.State == "" { // not that an alarm has ended
			kinds = append(kinds, string(e.Kind))
		}
	}
	return kinds
}

// Power management leaves so many nodes on that one can be lost, wakes nodes for vjobs that would take that room, and
// for room that a drain has taken.
func TestFailoverCapacityStaysOn(t *testing.T) {
	p := switchable(t, managed(), oneLost)
	small := p.hour(1)
	p.run(15 * time.Minute)
	if on, off := p.count(cycle.On), p.count(cycle.Off); on != 2 || off != 2 || p.state(small) != cluster.Running {
		t.Fatalf("%d are on and %d off, the vjob is %s", on, off, p.state(small))
	}
	large := p.hour(3) // 4 CPU run then, and 2 are kept
	p.run(10 * time.Second)
	if n := p.count(cycle.Starting); n != 1 || p.state(large) != cluster.Waiting {
		t.Fatalf("%d nodes boot, the vjob is %s", n, p.state(large))
	}
	if why := p.shell.Snapshot().VJob(large).Reason; !strings.Contains(why, "keeps room for the loss of a node (policy.failover): 2 CPU short") {
		t.Error(why)
	}
	p.run(10 * time.Minute)
	if on := p.count(cycle.On); on != 3 || p.state(large) != cluster.Running {
		t.Fatalf("%d are on, the vjob is %s", on, p.state(large))
	}
	if f := p.shell.Snapshot().Failover; !f.Holds || f.Nodes != 1 || f.Spare.CPU != 0 {
		t.Errorf("%+v", f)
	}
	empty := cluster.NodeID("")
	for _, n := range p.shell.Snapshot().Nodes {
		if n.Switch.Phase == cycle.On && len(n.VMs) < 2 {
			empty = n.ID
		}
	}
	if err := p.shell.SetNode(empty, cluster.Draining, "op"); err != nil {
		t.Fatal(err)
	}
	p.run(10 * time.Second)
	if f := p.shell.Snapshot().Failover; f.Holds || p.count(cycle.Starting) != 1 {
		t.Fatalf("a drain is not carried out: %+v, %d nodes boot", f, p.count(cycle.Starting))
	}
	p.run(10 * time.Minute)
	if f := p.shell.Snapshot().Failover; !f.Holds {
		t.Errorf("%+v", f)
	}
	if got := strings.Join(p.failoverEvents(), " "); !strings.HasSuffix(got, "alarm node") {
		t.Error(got)
	}
	if p.state(small) != cluster.Running || p.state(large) != cluster.Running {
		t.Errorf("%s, %s", p.state(small), p.state(large))
	}
}

// The VMs of a lost node start again at once in the room that is kept for them; others wait for that room.
func TestFailoverCapacityIsForLostVMs(t *testing.T) {
	p := switchable(t, nil, oneLost)
	lost, other := p.hour(2), cluster.VJobID(0)
	for range 2 {
		p.run(time.Second)
		other = p.hour(2)
	}
	p.run(time.Second)
	more := p.hour(1)
	p.run(time.Minute)
	if p.state(lost) != cluster.Running || p.state(other) != cluster.Running || p.state(more) != cluster.Waiting {
		t.Fatalf("%s, %s, %s", p.state(lost), p.state(other), p.state(more))
	}
	node := cluster.NodeID("")
	for _, n := range p.shell.Snapshot().Nodes {
		for _, vm := range n.VMs {
			if vm.VJob == lost {
				node = n.ID
			}
		}
	}
	p.cluster.OnChange = nil // it is lost
	then, err := p.shell.WhatIf(scheduler.WhatIf{Nodes: map[cluster.NodeID]cluster.NodeState{node: cluster.Down}})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := then(); err != nil || result.Why != "" || len(result.Plan.Gangs) == 0 {
		t.Errorf("a what-if question has no plan: %s, %v", result.Why, err)
	}
	if err := p.cluster.Inject(p.shell.Now(), simulated.Fault{Kind: simulated.PowerLoss, Node: node, For: 3 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	p.run(time.Minute)
	if err := p.shell.SetNode(node, cluster.Down, "op"); err != nil {
		t.Fatal(err)
	}
	p.run(time.Minute)
	if p.state(lost) != cluster.Running || p.state(more) != cluster.Waiting {
		t.Errorf("the lost vjob is %s, the other %s: %s", p.state(lost), p.state(more), p.shell.Snapshot().VJob(lost).Reason)
	}
	if f := p.shell.Snapshot().Failover; f.Holds {
		t.Errorf("%+v", f)
	}
}

// Consolidation leaves so many nodes on that one can be lost.
func TestConsolidationKeepsFailover(t *testing.T) {
	p := scattered(t, "", oneLost)
	p.run(2 * time.Hour)
	snapshot := p.shell.Snapshot()
	if on := p.count(cycle.On); on != 3 || !snapshot.Failover.Holds {
		t.Errorf("%d are on: %s, %+v; %s", on, p.where(), snapshot.Failover, snapshot.Consolidation.Last.Why)
	}
	if len(p.savings()) == 0 {
		t.Error("nothing is saved")
	}
}

// Balance makes the moves that leave room for the loss of a node, and no others.
func TestBalanceKeepsFailover(t *testing.T) {
	for _, nodes := range []int{0, 1} {
		p := switchable(t, nil, balanced, func(set *scheduler.Settings) { set.Failover, set.Improve.Placement = nodes, improve.Spread })
		for range 8 {
			p.busy(cluster.Step{CPU: 50, Duration: 10 * time.Minute}, cluster.Step{CPU: 180, Duration: 5 * time.Hour})
		}
		p.run(2 * time.Hour)
		if f := p.shell.Snapshot().Failover; nodes > 0 && !f.Holds || p.switches() == 0 {
			t.Errorf("%d: %d moves, %+v", nodes, p.switches(), f)
		}
		for _, r := range p.store.Recommendations() {
			if r.State == journal.RecommendationRefused {
				t.Errorf("%+v", r)
			}
		}
	}
}
