package decide_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/scheduler/decide"
)

// asked is a planner that keeps the last problem.
type asked struct{ problem ctxswitch.Problem }

func (a *asked) Plan(p ctxswitch.Problem) (ctxswitch.Plan, error) {
	a.problem = p
	return ctxswitch.Repacker{}.Plan(p)
}

// Plans keep to the limit of the settings, after the transfers under way.
func TestPlansKnowTheTransfers(t *testing.T) {
	w := &world{}
	for _, id := range []cluster.NodeID{"n0", "n1"} {
		w.nodes = append(w.nodes, cluster.Node{ID: id, Capacity: cluster.Resources{CPU: 4000, Memory: 8192}})
	}
	for id := range cluster.VJobID(2) {
		job := &cluster.VJob{ID: id + 1, Owner: "u", Name: "j", Submitted: epoch, Terms: &cluster.Terms{}}
		job.VMs = []cluster.VM{{ID: cluster.VMID{VJob: id + 1}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024}}}
		w.jobs = append(w.jobs, member{job: job, at: []cluster.NodeID{"n0"}})
	}
	f := w.facts()
	f.Nodes[0].State = cluster.Draining
	f.Nodes[0].Locked = []cluster.VMID{{VJob: 1}, {VJob: 2}}
	f.TransfersAhead = map[cluster.NodeID][]time.Duration{"n1": {30 * time.Second}}
	set, planner := settings(), &asked{}
	set.Planner, set.Live, set.Execute.Transfers, set.Execute.Costs = planner, true, 1, ctxswitch.ThesisCosts
	d := decided(t, decide.NewView(set, f))
	if got := planner.problem.Transfers; got.Limit != 1 || !maps.EqualFunc(got.Busy, f.TransfersAhead, slices.Equal) {
		t.Errorf("the planner is asked with %+v", got)
	}
	if len(d.Plan.Actions) != 2 || d.Plan.Actions[0].Start != 30*time.Second || d.Plan.Makespan != 54*time.Second {
		t.Errorf("the plan is\n%s", d.Plan)
	}
}
