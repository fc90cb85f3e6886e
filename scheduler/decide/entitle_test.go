package decide_test

import (
	"maps"
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/queue/pool"
	"vjob/scheduler/decide"
)

// A decision has the weights and caps of the VMs that run, and none without pools.
func TestEntitle(t *testing.T) {
	w := &world{nodes: []cluster.Node{{ID: "n0", Capacity: cluster.Resources{CPU: 3000, Memory: 8192}}}}
	for id := range cluster.VJobID(3) {
		job := &cluster.VJob{ID: id + 1, Owner: "u", Submitted: epoch, Terms: &cluster.Terms{}}
		job.VMs = []cluster.VM{{ID: cluster.VMID{VJob: job.ID}, Reserved: cluster.Resources{CPU: 1000, Memory: 1024}}}
		w.jobs = append(w.jobs, member{job: job, at: []cluster.NodeID{"n0"}})
	}
	w.jobs[0].job.Pool, w.jobs[1].job.CPULimit, w.jobs[2].job.Shares = "a", 300, "high"
	f := w.facts()
	f.Demand = func(cluster.VMID) cluster.MilliCPU { return 1000 }
	for i := range f.Nodes {
		f.Nodes[i].On = true
	}
	view := decide.NewView(settings(), f)
	d := decided(t, view)
	if view.Entitle(&d); d.Weights != nil || d.Division != nil || !view.RecheckAt.IsZero() {
		t.Errorf("without pools: %v, %v, again at %s", d.Weights, d.Division, view.RecheckAt)
	}
	h, err := pool.NewHierarchy(cluster.Resources{CPU: 3000, Memory: 8192}, []pool.Pool{{Name: "a", Settings: pool.Settings{
		CPU: pool.Controls{Limit: 500, Shares: 1000}, Memory: pool.Controls{Limit: pool.Unlimited, Shares: 1000},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	f.Pools = h
	view = decide.NewView(settings(), f)
	d = decided(t, view)
	view.Entitle(&d)
	if want := map[cluster.VJobID][]int{1: {500}, 2: {300}, 3: {1000}}; !maps.EqualFunc(d.Weights, want, slices.Equal[[]int]) {
		t.Errorf("weights %v, want %v", d.Weights, want)
	}
	if want := map[cluster.VJobID][]cluster.MilliCPU{1: {500}, 2: {300}}; !maps.EqualFunc(d.Caps, want, slices.Equal[[]cluster.MilliCPU]) {
		t.Errorf("caps %v, want %v", d.Caps, want)
	}
	if got := view.RecheckAt.Sub(f.Now).String(); got != "5m0s" {
		t.Errorf("divided again after %s, want 5m", got)
	}
}
