package simclock_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/balance"
	"vjob/scheduler/improve"
)

// balanced moves VMs off crowded nodes.
func balanced(set *scheduler.Settings) {
	set.Improve.Balance = &improve.BalanceSettings{Settings: balance.Default, Every: 5 * time.Minute}
	set.Improve.Placement, set.Live = improve.Spread, true
	set.Execute.Costs.MigratePer = 20 * time.Second
}

// busy submits a vjob of one VM that reserves little, and demands more from an instant on.
func (p *plant) busy(steps ...cluster.Step) {
	p.t.Helper()
	p.run(time.Second) // its name is the time
	_, err := p.shell.Submit(admission.Submission{Owner: "u", VMs: []cluster.VM{{
		Reserved: cluster.Resources{CPU: 200, Memory: 128},
		Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: steps}},
	}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *plant) switches() (n int) {
	p.t.Helper()
	for _, r := range p.store.Recommendations() {
		if r.Kind == journal.RecommendBalance && r.State == journal.RecommendationApplied {
			n += len(r.Moves)
		}
	}
	return n
}

// VMs that become busy on one node are spread over its neighbours, and then stay; the reason names the node.
func TestCrowdedNodesAreRelieved(t *testing.T) {
	p := switchable(t, nil, balanced)
	for range 8 {
		p.busy(cluster.Step{CPU: 50, Duration: 10 * time.Minute}, cluster.Step{CPU: 500, Duration: 5 * time.Hour})
	}
	p.run(time.Minute)
	if got := p.where(); got != "n1:8 n2:0 n3:0 n4:0" {
		t.Fatal(got)
	}
	p.run(29 * time.Minute)
	if n := len(p.shell.Snapshot().Nodes[0].VMs); n > 4 {
		t.Errorf("n1 is still over its capacity: %s: %+v", p.where(), p.shell.Snapshot().Balance)
	}
	p.run(time.Hour) // by now they have been busy for longer than is remembered
	if got := p.where(); got != "n1:2 n2:2 n3:2 n4:2" {
		t.Errorf("%s: %+v", got, p.shell.Snapshot().Balance)
	}
	done := p.switches()
	if done < 6 || done > 8 {
		t.Errorf("%d moves", done)
	}
	if r := p.store.Recommendations()[0]; r.Before.Imbalance <= r.After.Imbalance || !strings.Contains(r.Reason, "crowded nodes: imbalance") {
		t.Errorf("%+v", r)
	}
	p.run(3 * time.Hour)
	if p.switches() != done {
		t.Errorf("%d moves after %d", p.switches(), done)
	}
}

// linked states the links of nodes; 0 is not stated.
func linked(rates ...cluster.Rate) func(*scheduler.Settings) {
	return func(set *scheduler.Settings) {
		set.Network = &ctxswitch.Network{NIC: map[cluster.NodeID]cluster.Rate{}}
		for i, rate := range rates {
			if rate > 0 {
				set.Network.NIC[cluster.NodeID(fmt.Sprintf("n%d", i+1))] = rate
			}
		}
	}
}

// Two VMs that fill the link of one node: one of them leaves, for a node with room on its link. A VM that is alone stays,
// and so do both where their link is not stated. What a migration copies is no traffic of VMs: nothing moves afterwards.
func TestFullLinksAreRelieved(t *testing.T) {
	const link, half = 125_000_000, 60_000_000
	for _, c := range []struct {
		name  string
		vms   int
		links []cluster.Rate
		want  string
		load  float64 // of the link of n1, afterwards
	}{
		{"two on one link", 2, []cluster.Rate{link, link, link, link}, "n1:1 n2:1 n3:0 n4:0", 0.48},
		{"one alone", 1, []cluster.Rate{link, link, link, link}, "n1:1 n2:0 n3:0 n4:0", 0.48},
		{"to a node with a link", 2, []cluster.Rate{link, 0, link, link}, "n1:1 n2:0 n3:1 n4:0", 0.48},
		{"a link that is not stated", 2, []cluster.Rate{0, link, link, link}, "n1:2 n2:0 n3:0 n4:0", 0},
		{"no links", 2, nil, "n1:2 n2:0 n3:0 n4:0", 0},
		{"little traffic", -2, []cluster.Rate{link, link, link, link}, "n1:2 n2:0 n3:0 n4:0", 0},
		{"without traffic", 0, []cluster.Rate{link, link, link, link}, "n1:2 n2:0 n3:0 n4:0", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := switchable(t, nil, balanced, linked(c.links...))
			for range c.vms {
				p.busy(cluster.Step{CPU: 50, Network: half, Duration: 5 * time.Hour})
			}
			for range 2 {
				switch c.vms {
				case -2:
					p.busy(cluster.Step{CPU: 50, Network: link / 1000, Duration: 5 * time.Hour})
				case 0:
					p.busy(cluster.Step{CPU: 50, Duration: 5 * time.Hour})
				}
			}
			p.run(30 * time.Minute)
			now := p.shell.Snapshot().Balance
			if got := p.where(); got != c.want {
				t.Fatalf("%s, want %s: %+v", got, c.want, now)
			}
			switch l := now.Loads[0].Network; {
			case c.load == 0 && l != nil, c.load > 0 && (l == nil || math.Abs(l[1]-c.load) > 0.01):
				t.Errorf("the loads are %+v, want %g of the link of n1", now.Loads, c.load)
			}
			if r := p.store.Recommendations(); p.switches() > 0 && r[0].Before.Imbalance <= r[0].After.Imbalance {
				t.Errorf("%+v", r)
			}
			done := p.switches()
			p.run(3 * time.Hour)
			if p.switches() != done || p.where() != c.want {
				t.Errorf("%d moves after %d: %s", p.switches(), done, p.where())
			}
		})
	}
}

// A short spike of traffic moves nothing. VMs that pack nodes do not leave them for their links.
func TestTrafficThatMovesNothing(t *testing.T) {
	links := linked(125_000_000, 125_000_000, 125_000_000, 125_000_000)
	t.Run("spike", func(t *testing.T) {
		p := switchable(t, nil, balanced, links)
		for range 2 {
			p.busy(cluster.Step{CPU: 50, Duration: 20 * time.Minute}, cluster.Step{CPU: 50, Network: 30_000_000, Duration: 5 * time.Minute}, cluster.Step{CPU: 50, Duration: 5 * time.Hour})
		}
		most := 0.0
		for range 120 {
			p.run(time.Minute)
			if now := p.shell.Snapshot().Balance; len(now.Loads) > 0 && now.Loads[0].Network != nil {
				most = max(most, now.Loads[0].Network[0])
			}
		}
		if most < 0.47 || most > 0.49 {
			t.Errorf("the searches have seen %g of the link in use", most)
		}
		if got := p.where(); got != "n1:2 n2:0 n3:0 n4:0" {
			t.Errorf("%s: %+v", got, p.shell.Snapshot().Balance)
		}
	})
	t.Run("pack", func(t *testing.T) {
		p := switchable(t, nil, balanced, links, func(set *scheduler.Settings) { set.Improve.Placement = improve.Pack })
		for range 2 {
			p.busy(cluster.Step{CPU: 50, Network: 60_000_000, Duration: 5 * time.Hour})
		}
		p.run(time.Hour)
		if got := p.where(); got != "n1:2 n2:0 n3:0 n4:0" {
			t.Errorf("%s: %+v", got, p.shell.Snapshot().Balance)
		}
	})
}

// Under noise VMs do not move back and forth: none returns to a node that it left within the hour.
func TestNoiseMovesNothingBack(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	p := switchable(t, nil, balanced)
	for range 12 {
		var steps []cluster.Step
		for range 72 {
			steps = append(steps, cluster.Step{CPU: cluster.MilliCPU(100 + rng.IntN(600)), Duration: 5 * time.Minute})
		}
		p.busy(steps...)
	}
	p.run(5 * time.Hour)
	left := map[cluster.VMID]map[cluster.NodeID]time.Time{}
	for _, r := range slices.Backward(p.store.Recommendations()) {
		for _, m := range r.Moves {
			if at, was := left[m.VM][m.To]; was && r.At.Sub(at) < time.Hour {
				t.Errorf("%s at %s, which it left at %s", m, r.At, at)
			}
			if left[m.VM] == nil {
				left[m.VM] = map[cluster.NodeID]time.Time{}
			}
			left[m.VM][m.From] = r.At
		}
	}
	t.Logf("%d moves in 5 hours", p.switches())
	if n := p.switches(); n > 60 {
		t.Errorf("%d moves in 5 hours of stationary noise", n)
	}
}

// What power management switches on because nodes are too busy relieves them.
func TestSwitchedOnNodesRelieveOthers(t *testing.T) {
	p := switchable(t, managed(), balanced, func(set *scheduler.Settings) { set.Improve.Placement = improve.Efficient })
	for range 8 {
		p.busy(cluster.Step{CPU: 50, Duration: time.Hour}, cluster.Step{CPU: 450, Duration: 5 * time.Hour})
	}
	p.run(50 * time.Minute)
	if on := p.count(cycle.On); on >= 4 {
		t.Fatalf("%d nodes are on while all are idle", on)
	}
	before := p.count(cycle.On)
	p.run(time.Hour)
	if on := p.count(cycle.On); on <= before {
		t.Fatalf("%d nodes are on", on)
	}
	for _, n := range p.shell.Snapshot().Nodes {
		if n.Switch.Phase == cycle.On && len(n.VMs) > 4 {
			t.Errorf("%s still has %d VMs: %s; %+v", n.ID, len(n.VMs), p.where(), p.shell.Snapshot().Balance)
		}
	}
	on, moved := time.Time{}, time.Time{}
	for _, e := range p.store.Events(0) {
		switch {
		case e.Kind == journal.EventNode && strings.HasSuffix(e.Text, " is on"):
			on = e.At
		case e.Kind == journal.EventPlan && strings.Contains(e.Text, "leave crowded nodes") && strings.Contains(e.Text, "VMs now"):
			moved = e.At
		}
	}
	if wait := moved.Sub(on); wait < 0 || wait > time.Minute {
		t.Errorf("the last node came on at %s, and VMs move to it at %s", on.Format(time.TimeOnly), moved.Format(time.TimeOnly))
	}
}

// With placement pack, VMs leave nodes until as few as possible have any; none needs a power model.
func TestFewestNodes(t *testing.T) {
	p := scattered(t, "", func(set *scheduler.Settings) {
		set.Improve.Placement, set.Energy.Power, set.NodePower = improve.Pack, nil, nil
	})
	p.run(30 * time.Minute)
	if got := strings.Count(p.where(), ":0"); got != 2 {
		t.Errorf("%s: %s", p.where(), p.shell.Snapshot().Consolidation.Last.Why)
	}
	done := p.savings()
	if len(done) == 0 || !strings.Contains(done[0], "without VMs") {
		t.Errorf("%q", done)
	}
	p.run(2 * time.Hour)
	if len(p.savings()) != len(done) {
		t.Errorf("%q", p.savings())
	}
}
