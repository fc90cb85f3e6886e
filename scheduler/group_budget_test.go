package scheduler_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/journal"
)

// racks is state2 with the node a in rack r1 and b in r2, and a vjob that waits for two
// processors.
func racks(t *testing.T) (*rig, *journal.Loaded) {
	t.Helper()
	l := state2()
	set := lit(&l)
	for i := range l.Nodes {
		l.Nodes[i].Labels = map[string]string{"rack": []string{"r1", "r2"}[i], "pdu": "p1"}
	}
	return mount(t, set, l), &l
}

// idler is a vjob that asks for processors, one for each VM.
func idler(id cluster.VJobID, cpus int) *cluster.VJob {
	job := &cluster.VJob{ID: id, Owner: "u"}
	for rank := range cpus {
		job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: 1000, Memory: 512}})
	}
	return job
}

// booted are the nodes on which plans boot the VMs of a vjob.
func (r *rig) booted(id cluster.VJobID) (nodes []cluster.NodeID) {
	for _, p := range r.plans {
		for _, a := range p.Plan.Actions {
			if a.VM.VJob == id && a.Kind == cluster.Boot {
				nodes = append(nodes, a.To)
			}
		}
	}
	return nodes
}

// Where one rack has used its budget up, who waits starts in the other one.
func TestPlacesKnowTheBudgetsOfGroups(t *testing.T) {
	for _, c := range []struct {
		name   string
		r1, r2 energy.Watts
		want   []cluster.NodeID
	}{
		{"the first is full", 150, 300, []cluster.NodeID{"b", "b"}},
		{"the second is full", 300, 150, []cluster.NodeID{"a", "a"}},
		{"one for each", 200, 200, []cluster.NodeID{"a", "b"}},
		{"both are full", 199, 199, nil},
	} {
		r, _ := racks(t)
		lines := []budget.Line{
			{Watts: c.r1, Group: budget.Group{Label: "rack", Value: "r1"}}, {Watts: c.r2, Group: budget.Group{Label: "rack", Value: "r2"}},
		}
		if err := r.core.SetBudgets(r.now, lines, "root"); err != nil {
			t.Fatal(err)
		}
		r.core.Submitted(r.now, idler(3, 2))
		r.at(time.Second)
		got := r.booted(3)
		if len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[1] != c.want[1]) {
			t.Errorf("%s: booted on %v, want %v: %s", c.name, got, c.want, r.core.Snapshot().VJobs[3].Reason)
		}
	}
}
