package solve_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vjob/papers/repacking"
	"vjob/repack"
	"vjob/repack/solve"
	"vjob/tests/planted"
)

// Plans keep within the links, also with rules, gangs and nodes that are switched,
// and when they are carried out late.
func TestPlansKeepWithinLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn{t}
		solved(t, d, problem(d, scope{nodes: 5, vms: 7, rules: 2, soft: true, gangs: true, power: true, network: true}), quick(d))
	})
}

// The like where many are on the move.
func TestManyOnLinks(t *testing.T) {
	transfers, late := 0, 0
	for n := range 2 * seeds(t) {
		d := seed(n)
		in := planted.New(planted.Options{Nodes: 4 + d.n(12), Fill: 0.7 + 0.25*float64(d.n(2)), Seed: n})
		planted.Connect(in, planted.Wires{
			NIC: int64(10 + d.n(90)), Uplink: int64(d.n(2) * (20 + d.n(100))), Rack: 1 + d.n(6), Dirty: int64(d.n(2) * 9), Seed: n,
		})
		in.Nodes[d.n(len(in.Nodes))].Want = repack.Offline
		gangs(d, in)
		run(t, n, func(t fatal) {
			r := solved(t, d, in, quick(d))
			if r.Plan == nil {
				return
			}
			for i := range r.Plan.Actions {
				if a := &r.Plan.Actions[i]; a.Rate > 0 {
					transfers++
					late += min(1, int(a.Start))
				}
			}
		})
	}
	if late == 0 || late == transfers {
		t.Errorf("%d of %d transfers begin late", late, transfers)
	}
	t.Logf("%d of %d transfers begin late", late, transfers)
}

// No plan of a tiny problem with links costs less than the bound, and what is proved
// is so.
func TestLinksAgainstEveryPlan(t *testing.T) {
	undecided := 0
	for n := range 5 * seeds(t) {
		d := seed(n)
		s := scope{nodes: 3, vms: 3, rules: d.n(2), gangs: once(d, 4), power: once(d, 3), plain: once(d, 2), network: true}
		in, o := problem(d, s), quick(d)
		for vm := range in.VMs {
			in.VMs[vm].Memory, in.VMs[vm].Dirty = in.VMs[vm].Memory%5, in.VMs[vm].Dirty%2
		}
		o.Objective = repack.Objective(d.n(3))
		run(t, n, func(t fatal) {
			if !against(t, d, in, o) {
				undecided++
			}
		})
	}
	t.Logf("%d undecided", undecided)
}

// connected is nodes with so much room and NICs of 10, without uplinks.
func connected(capacities ...int64) *repack.Instance {
	in := bare(capacities...)
	in.Network = &repack.Network{}
	for range in.Nodes {
		in.Network.NIC = append(in.Network.NIC, 10)
	}
	return in
}

// mover is a VM of 2 that has to be copied, and takes no time besides.
func mover(host int, memory, dirty int64) repack.VM {
	v := running(host, 2, 2)
	v.Memory, v.Dirty, v.Takes.Migrate = memory, dirty, 0
	return v
}

// Two VMs leave a node through one NIC: one after the other they are there at 4 and
// 8, side by side both at 8. The smaller one goes first.
func TestOneAfterTheOther(t *testing.T) {
	in := connected(4, 4, 4)
	in.Nodes[0].Want = repack.Offline
	in.VMs = []repack.VM{mover(0, 60, 0), mover(0, 40, 0)}
	r := solved(t, seed(1), in, solve.Options{Iterations: 100})
	if got := planText(r.Plan); got != ""+
		" 0  0-4 migrate VM 1 from node 0 to node 1 rate 10\n"+
		" 1  4-10 migrate VM 0 from node 0 to node 1 rate 10 after [0]\n"+
		" 2  10-11 node_off node 0 after [0 1]\n" {
		t.Errorf("got\n%s", got)
	}
	if r.Figures.Objective != 14 || r.Bound != 14 {
		t.Errorf("objective %d, bound %d", r.Figures.Objective, r.Bound)
	}
}

// A VM that writes faster than its node can send stays, or sleeps on its way if it may.
func TestNeverConverges(t *testing.T) {
	in := connected(4, 4)
	in.Nodes[0].Want = repack.Offline
	in.VMs = []repack.VM{mover(0, 60, 10)}
	want := "VM 0 (2 mem) can be on no node: its rules and the states of the nodes leave none; it writes 10 per tick, " +
		"and to get to node 1 would have to do so more slowly than the links send, which is 10, or sleep on its way"
	if r := solved(t, seed(1), in, solve.Options{Iterations: 10}); r.Verdict != solve.Impossible || !slices.Equal(r.Why, []string{want}) {
		t.Errorf("verdict %d: %q", r.Verdict, r.Why)
	}
	in.VMs[0].Sleepable = true
	r := solved(t, seed(1), in, solve.Options{Iterations: 10})
	if r.Plan == nil || r.Figures.Count[repack.Resume] != 1 || r.Figures.Migrations != 0 {
		t.Errorf("verdict %d: %q\n%s", r.Verdict, r.Why, planText(r.Plan))
	}
	in.VMs[0].Dirty = 9 // it takes a while
	if r := solved(t, seed(1), in, solve.Options{Iterations: 10, Objective: repack.Moved}); r.Plan == nil || r.Figures.Migrations != 1 || r.Figures.Makespan != 61 {
		t.Errorf("%+v", r)
	}
}

// Of the VMs that leave a rack's nodes no two cross its uplink, which is as wide as a
// NIC, while there are nodes in the rack.
func TestSameRackFirst(t *testing.T) {
	in := connected(4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4)
	in.Network.Uplink = []int64{10, 10}
	for n := range in.Nodes {
		in.Nodes[n].Rack = n % 2
	}
	for _, n := range []int{0, 2, 4} {
		in.Nodes[n].Want = repack.Offline
		in.VMs = append(in.VMs, mover(n, 40, 0))
	}
	r := solved(t, seed(1), in, solve.Options{Iterations: 100})
	crossing := 0
	for i := range r.Plan.Actions {
		if a := &r.Plan.Actions[i]; a.Kind == repack.Migrate && a.To%2 == 1 {
			crossing++
		}
	}
	if crossing > 1 || r.Figures.Objective != 12 {
		t.Errorf("%d cross the uplink\n%s", crossing, planText(r.Plan))
	}
}

// A gang that is paused moves together, and all are there at one time if that is
// the best that their NIC can do; one that it cannot carry at once moves in parts.
func TestGangOnOneLink(t *testing.T) {
	in := connected(8, 8, 8)
	in.Nodes[0].Want = repack.Offline
	for range 3 {
		v := mover(0, 30, 99) // paused, it writes nothing
		v.Paused = true
		in.VMs = append(in.VMs, v)
	}
	in.Gangs = [][]int{{0, 1, 2}}
	r := solved(t, seed(1), in, solve.Options{Iterations: 100})
	if r.Plan == nil || r.Figures.Makespan != 11 && r.Figures.Makespan != 12 {
		t.Fatalf("%+v\n%s", r.Figures, planText(r.Plan))
	}
	in.Network.NIC[0] = 2
	if r := solved(t, seed(1), in, solve.Options{Iterations: 100}); r.Plan == nil {
		t.Errorf("%q", r.Why)
	}
}

// A gang is resumed together, and if its link cannot carry all at once, that is said.
func TestGangTooWideForItsLink(t *testing.T) {
	in := connected(8, 8)
	in.Nodes[0].Want = repack.Offline
	in.Network.NIC[0] = 2
	for range 3 {
		v := mover(0, 30, 0)
		v.State, v.Takes.ResumeRemote = repack.Sleeping, 1
		in.VMs = append(in.VMs, v)
	}
	in.Gangs = [][]int{{0, 1, 2}}
	want := "the 3 VMs of gang 0 must resume together: that takes 3 of the NIC out of node 0 at least, which has 2"
	if r := solved(t, seed(1), in, solve.Options{Iterations: 10}); r.Plan != nil || !slices.Contains(r.Why, want) {
		t.Errorf("verdict %d: %q", r.Verdict, r.Why)
	}
	in.Network.NIC[0] = 3
	if r := solved(t, seed(1), in, solve.Options{Iterations: 10}); r.Plan == nil {
		t.Errorf("%q", r.Why)
	}
}

// The same problem and seed have the same plan, with links too.
func TestSameAgainOnLinks(t *testing.T) {
	in := planted.New(planted.Options{Nodes: 20, Fill: 0.9, Seed: 3})
	planted.Connect(in, planted.Wires{NIC: 30, Uplink: 60, Rack: 5, Dirty: 10, Seed: 3})
	var first *solve.Result
	for range 4 {
		r := solved(t, seed(1), in, solve.Options{Seed: 7, Iterations: 300, Workers: 2})
		if first == nil {
			first = r
		}
		if r.Plan == nil || !reflect.DeepEqual(r, first) {
			t.Fatalf("once\n%sand then\n%s", resultText(first), resultText(r))
		}
	}
}

// BenchmarkFirstPlanOnLinks measures the first plan for 2,000 nodes and 10,000 VMs on
// NICs of 10 Gbit/s, with uplinks of which racks could use twenty.
func BenchmarkFirstPlanOnLinks(b *testing.B) {
	in, err := repacking.Sample(repacking.SampleOptions{Nodes: 2000, Ratio: 5, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	planted.Connect(in, planted.Wires{NIC: 1250, Uplink: 3125, PerUnit: 100, Dirty: 600})
	for b.Loop() {
		if r, err := solve.Solve(in, solve.Options{Iterations: -1}); err != nil || r.Plan == nil {
			b.Fatal(r, err)
		}
	}
}
