package scheduler_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// node returns the status of a node.
func (p *plant) node(id cluster.NodeID) *scheduler.NodeStatus {
	nodes := p.loop.Requests.Snapshot().Nodes
	return nodes[slices.IndexFunc(nodes, func(n *scheduler.NodeStatus) bool { return n.ID == id })]
}

// events returns how many events of nodes have a text.
func (p *plant) events(text string) (n int) {
	for _, e := range p.store.Events(0) {
		if e.Kind == journal.EventNode && strings.Contains(e.Text, text) {
			n++
		}
	}
	return n
}

// submitLong submits a vjob of one VM that works for an hour.
func (p *plant) submitLong(change func(*admission.Submission)) (*cluster.VJob, cluster.NodeID) {
	p.t.Helper()
	s := admission.Submission{Owner: "u", Walltime: time.Hour, VMs: []cluster.VM{{
		Reserved: cluster.Resources{CPU: 1000, Memory: 512},
		Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 1000, Duration: time.Hour}}}},
	}}}
	change(&s)
	job, _, err := p.loop.Requests.Submit(p.t.Context(), s)
	if err != nil {
		p.t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	return job, p.where(job)
}

// A node that enters maintenance is emptied, then out of use, and takes VMs again once it is declared
// ready.
func TestMaintenance(t *testing.T) {
	set := settings()
	set.Live, set.Execute.Costs = true, ctxswitch.RepackingCosts
	with(t, set, func(p *plant) {
		act := journal.Audit{By: "root"}
		job, at := p.submitLong(func(*admission.Submission) {})
		if err := p.loop.Requests.Maintain(p.t.Context(), []cluster.NodeID{at}, "new memory", act); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		n := p.node(at)
		m := n.Maintenance
		if n.State != cluster.Draining || m == nil || m.By != "root" || m.Reason != "new memory" || m.VMs != 1 || m.Left != 1 || m.Empty || m.End.IsZero() {
			t.Errorf("%s, %+v", n.State, m)
		}
		time.Sleep(time.Minute)
		if n = p.node(at); n.State != cluster.Offline || n.Maintenance == nil || !n.Maintenance.Empty || n.Maintenance.Left != 0 || p.where(job) == at {
			t.Errorf("%s, %+v, the VM is on %s", n.State, n.Maintenance, p.where(job))
		}
		if err := p.loop.Requests.Maintain(p.t.Context(), []cluster.NodeID{at}, "again", act); err != nil || p.node(at).Maintenance.Reason != "new memory" {
			t.Errorf("repeated: %v, %+v", err, p.node(at).Maintenance)
		}
		if err := p.loop.Requests.Ready(p.t.Context(), []cluster.NodeID{at}, act); err != nil {
			t.Fatal(err)
		}
		if n = p.node(at); n.State != cluster.Online || n.Maintenance != nil {
			t.Errorf("%s, %+v", n.State, n.Maintenance)
		}
		for _, text := range []string{"enters maintenance: by root (new memory)", "is empty and in maintenance after", "leaves maintenance after"} {
			if n := p.events(text); n != 1 {
				t.Errorf("%d events %q", n, text)
			}
		}
		if err := p.loop.Requests.Ready(p.t.Context(), []cluster.NodeID{at}, act); !errors.Is(err, cluster.ErrConflict) {
			t.Errorf("ready without maintenance: %v", err)
		}
		if err := p.loop.Requests.Maintain(p.t.Context(), []cluster.NodeID{at, "n99"}, "", act); !errors.Is(err, cluster.ErrNotFound) || p.node(at).Maintenance != nil {
			t.Errorf("all or none: %v, %+v", err, p.node(at).Maintenance)
		}
	})
}

// What no plan takes off a node is named, without an estimate. A change of the state ends the
// maintenance.
func TestMaintenanceThatWaits(t *testing.T) {
	with(t, settings(), func(p *plant) {
		act := journal.Audit{By: "root"}
		_, at := p.submitLong(func(s *admission.Submission) { s.Preemption, s.Rules = cluster.Never, "root($VMS);" })
		if err := p.loop.Requests.Maintain(p.t.Context(), []cluster.NodeID{at}, "", act); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		n := p.node(at)
		if m := n.Maintenance; n.State != cluster.Draining || m == nil || m.Left != 1 || !m.End.IsZero() || !strings.Contains(m.Stays, "vjob 1 of u") {
			t.Errorf("%s, %+v", n.State, m)
		}
		if err := p.loop.Requests.SetNodes(p.t.Context(), []cluster.NodeID{at}, cluster.Draining, act); err != nil || p.node(at).Maintenance != nil {
			t.Errorf("a plain drain: %v, %+v", err, p.node(at).Maintenance)
		}
	})
}
