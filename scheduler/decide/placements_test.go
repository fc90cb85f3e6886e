package decide_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/energy"
	"vjob/scheduler/decide"
)

// candidates has nodes n1 to n4 of 4 CPU: n1 is idle, n2 has a VM of 2 CPU, n3 one of 3, n4 is draining. Vjob 9
// waits.
func candidates(vms int, cpu cluster.MilliCPU) *world {
	w := &world{}
	for i := range 4 {
		w.nodes = append(w.nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i+1)), Capacity: cluster.Resources{CPU: 4000, Memory: 8192}})
	}
	w.nodes[3].State = cluster.Draining
	add := func(id cluster.VJobID, n int, cpu cluster.MilliCPU, at ...cluster.NodeID) {
		job := &cluster.VJob{ID: id, Owner: "u", Submitted: epoch, State: cluster.Waiting, Terms: &cluster.Terms{}}
		for rank := range n {
			job.VMs = append(job.VMs, cluster.VM{ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: cpu, Memory: 1024}})
		}
		w.jobs = append(w.jobs, member{job: job, at: at})
	}
	add(1, 1, 2000, "n2")
	add(2, 1, 3000, "n3")
	add(9, vms, cpu)
	return w
}

// waiting are the facts in which vjob 9 waits.
func waiting(w *world) *decide.Facts {
	f := w.facts()
	for i := range f.VJobs {
		if r := &f.VJobs[i]; r.Job.ID == 9 {
			r.Job.State, r.Bound = cluster.Waiting, cluster.VMWaiting
		}
	}
	return f
}

func places(list []decide.Placement) string {
	var words []string
	for _, p := range list {
		words = append(words, fmt.Sprint(p.Nodes, p.Moves, p.PowerOn))
	}
	return strings.Join(words, " ")
}

func TestPlacements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		vms      int
		cpu      cluster.MilliCPU
		most     int
		rules    string
		want     string
		refusals string
	}{
		{"the least used node first, for balance", 1, 1000, 5, "", "[n1] 0 [] [n2] 0 [] [n3] 0 []", "n4 is draining"},
		{"at most so many", 1, 1000, 2, "", "[n1] 0 [] [n2] 0 []", "n4 is draining"},
		{"a node that others have to leave first", 1, 2000, 5, "", "[n1] 0 [] [n2] 0 [] [n3] 1 []", "n4 is draining"},
		{"all VMs as one", 3, 2000, 1, "", "[n1 n1 n2] 0 []", "n4 is draining"},
		{"rules", 1, 1000, 5, "ban(VM[0..0], {n1, n2});", "[n3] 0 []", "n1 placement rules keep its VMs off"},
		{"preferred rules come before balance", 1, 1000, 5, "preferred ban(VM[0..0], {n1});", "[n2] 0 [] [n3] 0 [] [n1] 0 []", "n4 is draining"},
		{"no room even after moves", 1, 3500, 5, "root($ALL_VMS);", "[n1] 0 []", "n3 a VM needs 3.5 CPU"},
		{"nowhere", 1, 5000, 5, "", "", "n1 a VM needs 5 CPU"},
	} {
		w := candidates(c.vms, c.cpu)
		w.jobs[2].job.Rules = c.rules
		if strings.HasPrefix(c.rules, "root") {
			w.jobs[2].job.Rules, w.jobs[0].job.Rules, w.jobs[1].job.Rules = "", "root(VM0);", "root(VM0);"
		}
		list, refusals := decide.NewView(settings(), waiting(w)).Vary().Placements(9, c.most, nil)
		if got := places(list); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		var why []string
		for _, r := range refusals {
			why = append(why, string(r.Node)+" "+r.Why)
		}
		if !strings.Contains(strings.Join(why, "\n"), c.refusals) {
			t.Errorf("%s: refusals %q, want %q", c.name, why, c.refusals)
		}
	}
}

// If no node has room, other VMs move first; if that does not help, nodes come on.
func TestPlacementsWithPrerequisites(t *testing.T) {
	t.Parallel()
	set := settings()
	set.Live = true
	w := candidates(1, 4000)
	w.nodes[0].Capacity.CPU = 3000
	f := waiting(w)
	for i := range f.Nodes {
		f.Nodes[i].Locked = []cluster.VMID{{VJob: 1}, {VJob: 2}}
	}
	list, _ := decide.NewView(set, f).Vary().Placements(9, 1, nil)
	if len(list) != 1 || list[0].Moves == 0 || list[0].Nodes[0] == "n1" {
		t.Errorf("%s, want n2 or n3 after a move to n1", places(list))
	}
	w = candidates(1, 4000)
	w.nodes[0].State, w.nodes[3].State = cluster.Offline, cluster.Offline
	list, _ = decide.NewView(set, waiting(w)).Vary().Placements(9, 5, []cluster.NodeID{"n4", "n1"})
	if got := places(list[:1]); got != "[n4] 0 [n4]" {
		t.Errorf("%s, want n4, which comes on", got)
	}
	if v := decide.NewView(set, waiting(w)); v.Placeable(1) == nil || v.Placeable(77) == nil || v.Placeable(9) != nil {
		t.Errorf("placeable: running %v, unknown %v, waiting %v", v.Placeable(1), v.Placeable(77), v.Placeable(9))
	}
}

// n1, n2, n3 use 0, 1/2 and 3/4 of their CPU before the vjob, 1/2, 1/2 and 3/4 with it.
func TestPlacementFigures(t *testing.T) {
	t.Parallel()
	set := settings()
	set.Energy.Power = map[cluster.NodeID]energy.Power{"n1": {Idle: 100, Full: 200}}
	list, _ := decide.NewView(set, waiting(candidates(1, 2000))).Vary().Placements(9, 1, nil)
	if len(list) != 1 {
		t.Fatalf("%d placements", len(list))
	}
	p := list[0]
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	if !near(p.Before.CPU, math.Sqrt(7.0/72)) || !near(p.After.CPU, math.Sqrt(1.0/72)) {
		t.Errorf("balance %+v to %+v", p.Before, p.After)
	}
	if !p.WattsKnown || !near(float64(p.Watts), 50) {
		t.Errorf("%v W more (%v), want 50", p.Watts, p.WattsKnown)
	}
}
