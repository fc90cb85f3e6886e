package simclock_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/consolidate"
	"vjob/energy/power/cycle"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/improve"
)

// saving enables consolidation: n1 draws 1 W for each hundredth of a CPU, n2
// three times as much, and so on in turn.
func saving(set *scheduler.Settings) {
	set.Improve.Consolidation = &improve.ConsolidationSettings{Criteria: consolidate.Default, Every: 5 * time.Minute, Always: true}
	set.Execute.Costs.MigratePer = 20 * time.Second
	set.Energy.Power = map[cluster.NodeID]energy.Power{}
	for i, id := range set.Switching.Nodes {
		p := energy.Power{Idle: 50, Full: 250, Standby: 4, On: energy.Switch{Time: 2 * time.Minute, Energy: 12000}}
		if i%2 == 1 {
			p.Full = 650
		}
		set.Energy.Power[id] = p
	}
}

// savings returns the events of consolidation.
func (p *plant) savings() (list []string) {
	p.t.Helper()
	for _, e := range p.store.Events(0) {
		if e.Kind == journal.EventPlan && strings.HasPrefix(e.Text, "moves ") {
			list = append(list, e.Text)
		}
	}
	return list
}

// where returns the VMs of each node.
func (p *plant) where() (text string) {
	p.t.Helper()
	for _, n := range p.shell.Snapshot().Nodes {
		text += fmt.Sprintf("%s:%d ", n.ID, len(n.VMs))
	}
	return strings.TrimSpace(text)
}

// Without power management VMs move once from inefficient nodes to efficient ones when these
// have capacity, and an event states the saving.
func TestVMsMoveToEfficientNodes(t *testing.T) {
	p := switchable(t, nil, saving)
	first := p.hour(2)
	p.run(time.Second)
	p.hour(4)
	p.run(15 * time.Minute)
	if got := p.where(); got != "n1:2 n2:2 n3:2 n4:0" || len(p.savings()) > 0 {
		t.Fatalf("%s: %v", got, p.savings())
	}
	if why := p.shell.Snapshot().Consolidation.Last.Why; !strings.Contains(why, "no places") {
		t.Errorf("nothing can be saved: %q", why)
	}
	if err := p.shell.Order(first, scheduler.OrderDelete, "u"); err != nil {
		t.Fatal(err)
	}
	p.run(30 * time.Minute)
	want := []string{"moves 2 VMs of 1 vjob to save 200 W for 1h: 0.2 kWh for 0.6 Wh"}
	if got := p.where(); got != "n1:2 n2:0 n3:2 n4:0" || !slices.Equal(p.savings(), want) {
		t.Errorf("%s: %v", got, p.savings())
	}
}

// small submits a vjob of two VMs of half a CPU that need three tenths for three hours.
func (p *plant) small(rules string) cluster.VJobID {
	p.t.Helper()
	sub := admission.Submission{Owner: "u", VMs: make([]cluster.VM, 2)}
	sub.Rules = rules
	for i := range sub.VMs {
		sub.VMs[i] = cluster.VM{
			Reserved: cluster.Resources{CPU: 500, Memory: 256},
			Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 300, Duration: 3 * time.Hour}}}},
		}
	}
	job, err := p.shell.Submit(sub)
	if err != nil {
		p.t.Fatal(err)
	}
	return job.ID
}

// scattered returns a plant with half-empty nodes, since every second vjob has ended.
func scattered(t *testing.T, rules string, change ...func(*scheduler.Settings)) *plant {
	t.Helper()
	m := managed()
	m.Factor, m.OffWindow = 1e6, 2*time.Minute // the rules of power management alone empty no node
	p := switchable(t, m, append([]func(*scheduler.Settings){saving}, change...)...)
	var jobs []cluster.VJobID
	for range 8 {
		jobs = append(jobs, p.small(rules))
	}
	p.run(time.Minute)
	for i := 0; i < len(jobs); i += 2 {
		if err := p.shell.Order(jobs[i], scheduler.OrderDelete, "u"); err != nil {
			t.Fatal(err)
		}
	}
	p.run(time.Minute)
	if got := p.where(); got != "n1:2 n2:2 n3:2 n4:2" {
		t.Fatal(got)
	}
	return p
}

// With power management VMs are consolidated on the nodes that draw least, and the others go
// off and stay off: neither optimiser undoes the work of the other.
func TestNodesAreEmptiedAndStayOff(t *testing.T) {
	p := scattered(t, "")
	p.run(30 * time.Minute)
	if got := p.where(); got != "n1:4 n2:0 n3:4 n4:0" || p.phase("n2") != cycle.Off || p.phase("n4") != cycle.Off {
		t.Fatalf("%s, n2 is %s: %v; %s", got, p.phase("n2"), p.savings(), p.shell.Snapshot().Consolidation.Last.Why)
	}
	done, looks := len(p.savings()), p.shell.Snapshot().Consolidation.Looks
	p.run(2 * time.Hour)
	if len(p.savings()) != done || len(p.presses) != 2 {
		t.Errorf("%v, and requests for power %v", p.savings(), p.presses)
	}
	if more := p.shell.Snapshot().Consolidation.Looks - looks; more > 2 {
		t.Errorf("%d searches while nothing changes", more)
	}
	if s := p.shell.Snapshot().Consolidation; s.Saves <= 4*s.Costs || s.Moves < 4 {
		t.Errorf("%+v", s)
	}
}

// Consolidation respects rules: spread VMs stay spread, and a vjob that may not migrate stays.
func TestConsolidationKeepsRules(t *testing.T) {
	p := scattered(t, "spread(VM[0..1]);")
	p.run(30 * time.Minute)
	for id := range p.shell.Snapshot().VJobs.All() {
		hosts := map[cluster.NodeID]bool{}
		for _, n := range p.shell.Snapshot().Nodes {
			for _, vm := range n.VMs {
				if vm.VJob == id {
					hosts[n.ID] = true
				}
			}
		}
		if len(hosts) != 2 {
			t.Errorf("vjob %s is on %v", id, hosts)
		}
	}
	if got := p.where(); got != "n1:4 n2:0 n3:4 n4:0" {
		t.Errorf("%s: %s", got, p.shell.Snapshot().Consolidation.Last.Why)
	}
	p = scattered(t, "root(VM[0..1]);")
	p.run(30 * time.Minute)
	if got := p.where(); got != "n1:2 n2:2 n3:2 n4:2" || len(p.savings()) > 0 {
		t.Errorf("%s: %v", got, p.savings())
	}
}
