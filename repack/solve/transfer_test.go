package solve_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vjob/papers/repacking"
	"vjob/repack"
	"vjob/repack/rule"
	"vjob/repack/solve"
	"vjob/tests/planted"
)

// Plans keep within the transfer slots of nodes, with everything else that the model has.
func TestPlansKeepWithinTransferSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn{t}
		s := scope{nodes: 5, vms: 7, rules: 2, soft: true, gangs: true, power: true, instant: once(d, 3), network: once(d, 2), transfers: true}
		solved(t, d, problem(d, s), quick(d))
	})
}

// No plan of a tiny problem with transfer slots costs less than the bound, and what is proved is
// so.
func TestTransferSlotsAgainstEveryPlan(t *testing.T) {
	undecided, limited := 0, 0
	for n := range 5 * seeds(t) {
		d := seed(n)
		s := scope{nodes: 3, vms: 3, rules: d.n(2), gangs: once(d, 2), power: once(d, 3), plain: once(d, 2), transfers: true}
		in, o := problem(d, s), quick(d)
		for i := range in.Nodes {
			in.Nodes[i].Transfers = min(in.Nodes[i].Transfers, 2)
		}
		o.Objective = repack.Objective(d.n(3))
		if in.LimitsTransfers() {
			limited++
		}
		run(t, n, func(t fatal) {
			if !against(t, d, in, o) {
				undecided++
			}
		})
	}
	t.Logf("%d with limits, %d undecided", limited, undecided)
}

// limited is nodes with so much room that carry so many transfers at once.
func limited(transfers int, capacities ...int64) *repack.Instance {
	in := bare(capacities...)
	for n := range in.Nodes {
		in.Nodes[n].Transfers = transfers
	}
	return in
}

// Four VMs leave a node that carries one transfer, so the bound adds up their migrations: without
// limits they end at 3 each.
func TestLeavingOneByOne(t *testing.T) {
	in := limited(1, 8, 8)
	in.Nodes[0].Want = repack.Offline
	for range 4 {
		in.VMs = append(in.VMs, running(0, 2, 2))
	}
	r := solved(t, seed(1), in, solve.Options{Iterations: 10})
	if got := planText(r.Plan); got != ""+
		" 0  0-3 migrate VM 0 from node 0 to node 1\n"+
		" 1  3-6 migrate VM 1 from node 0 to node 1\n"+
		" 2  6-9 migrate VM 2 from node 0 to node 1\n"+
		" 3  9-12 migrate VM 3 from node 0 to node 1\n"+
		" 4  12-13 node_off node 0 after [0 1 2 3]\n" {
		t.Errorf("got\n%s", got)
	}
	if r.Figures.Objective != 30 || r.Bound != 30 || !r.Proved {
		t.Errorf("objective %d, bound %d, proved %v", r.Figures.Objective, r.Bound, r.Proved)
	}
	o := solve.Options{Iterations: 10, Objective: repack.Makespan}
	if r := solved(t, seed(1), in, o); r.Bound != 12 || r.Figures.Makespan != 13 {
		t.Errorf("makespan %d, bound %d", r.Figures.Makespan, r.Bound)
	}
	for n := range in.Nodes {
		in.Nodes[n].Transfers = 0
	}
	if r := solved(t, seed(1), in, solve.Options{Iterations: 10}); r.Figures.Objective != 12 || !r.Proved {
		t.Errorf("without limits: objective %d, proved %v", r.Figures.Objective, r.Proved)
	}
}

// A gang of five on a node with four slots is suspended as a whole: four begin to be copied, the
// fifth waits, paused, until one of them has been. What follows on the node waits for all.
func TestGangWaitsForSlots(t *testing.T) {
	in := limited(4, 10)
	for range 5 {
		v := running(0, 2, 2)
		v.Want = repack.Sleeping
		in.VMs = append(in.VMs, v)
	}
	in.VMs = append(in.VMs, ready(10))
	in.Gangs = [][]int{{0, 1, 2, 3, 4}}
	r := solved(t, seed(1), in, solve.Options{Iterations: 10})
	if got := planText(r.Plan); got != ""+
		" 0  0-4 suspend VM 0 from node 0\n"+
		" 1  0-4 suspend VM 1 from node 0\n"+
		" 2  0-4 suspend VM 2 from node 0\n"+
		" 3  0-4 suspend VM 3 from node 0\n"+
		" 4  0-8 suspend VM 4 from node 0\n"+
		" 5  8-9 boot VM 5 to node 0 after [0 1 2 3 4]\n" {
		t.Errorf("got\n%s", got)
	}
}

// Transfers that are under way before the plan hold slots until they end.
func TestSlotsThatAreBusy(t *testing.T) {
	in := limited(2, 8, 8)
	in.Nodes[0].Want = repack.Offline
	in.Nodes[0].Busy, in.Nodes[1].Busy = []repack.Ticks{5, 9}, []repack.Ticks{7}
	in.VMs = []repack.VM{running(0, 2, 2), running(0, 2, 2), running(0, 2, 2)}
	r := solved(t, seed(1), in, solve.Options{Iterations: 10})
	if got := planText(r.Plan); got != ""+
		" 0  5-8 migrate VM 0 from node 0 to node 1\n"+
		" 1  8-11 migrate VM 1 from node 0 to node 1\n"+
		" 2  9-12 migrate VM 2 from node 0 to node 1\n"+
		" 3  12-13 node_off node 0 after [0 1 2]\n" {
		t.Errorf("got\n%s", got)
	}
}

// A cycle is broken at once although a slot of another node is busy: no action waits for that.
func TestCycleBesideBusySlots(t *testing.T) {
	in := limited(1, 4, 4, 4, 9)
	in.Nodes[3].Busy = []repack.Ticks{100}
	in.VMs = []repack.VM{running(0, 4, 4), running(1, 4, 4)}
	for vm, n := range []int{1, 0} {
		in.Rules = append(in.Rules, postedGuard(t, in, "fence", false, map[string]any{"vms": []int{vm}, "nodes": []int{n}}))
	}
	r := solved(t, seed(1), in, solve.Options{Iterations: 10})
	if r.Plan == nil || r.Figures.Makespan != 9 {
		t.Errorf("%q\n%s", r.Why, planText(r.Plan))
	}
}

// Transfers hold a slot where they copy: a resume from another node where it comes to, and not
// where its image lies; boots and shutdowns nowhere.
func TestWhatHoldsSlots(t *testing.T) {
	in := limited(1, 8, 8)
	for range 2 { // both resume on node 1, as node 0 goes off
		v := running(0, 2, 2)
		v.State = repack.Sleeping
		in.VMs = append(in.VMs, v)
	}
	in.VMs = append(in.VMs, ready(2), ready(2))
	in.Nodes[0].Want = repack.Offline
	r := solved(t, seed(1), in, solve.Options{Iterations: 10})
	if got := planText(r.Plan); got != ""+
		" 0  0-1 boot VM 2 to node 1\n"+
		" 1  0-1 boot VM 3 to node 1\n"+
		" 2  0-6 resume VM 0 from node 0 to node 1\n"+
		" 3  6-12 resume VM 1 from node 0 to node 1\n"+
		" 4  12-13 node_off node 0 after [2 3]\n" {
		t.Errorf("got\n%s", got)
	}
	in.Nodes[1].Transfers, in.Nodes[0].Transfers = 0, 1
	if r := solved(t, seed(1), in, solve.Options{Iterations: 10}); r.Figures.Makespan != 7 {
		t.Errorf("the slots of the node of the images count\n%s", planText(r.Plan))
	}
}

// Three VMs that must start to migrate at one time cannot where a node carries two transfers.
func TestSyncBeyondTheSlots(t *testing.T) {
	in := limited(2, 6, 6)
	in.Nodes[0].Want = repack.Offline
	for range 3 {
		in.VMs = append(in.VMs, running(0, 2, 2))
	}
	k, _ := rule.Find("sync")
	r, err := k.New(rule.Args{Instance: in, Values: map[string]any{"vms": []int{0, 1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	in.Rules = []repack.Posted{{Rule: r}}
	want := "3 VMs must migrate at once: node 0 carries 2 transfers at once"
	if r := solved(t, seed(1), in, solve.Options{Iterations: 10}); r.Plan != nil || !slices.Contains(r.Why, want) {
		t.Errorf("verdict %d: %q\n%s", r.Verdict, r.Why, planText(r.Plan))
	}
	in.Nodes[0].Transfers, in.Nodes[1].Transfers = 3, 3
	if r := solved(t, seed(1), in, solve.Options{Iterations: 10}); r.Plan == nil {
		t.Errorf("%q", r.Why)
	}
}

// Where many are on the move, most wait, and without limits the plans are those of an instance
// that has none.
func TestManyTransfers(t *testing.T) {
	transfers, late := 0, 0
	for n := range seeds(t) {
		d := seed(n)
		in := planted.New(planted.Options{Nodes: 4 + d.n(12), Fill: 0.7 + 0.25*float64(d.n(2)), Seed: n})
		for i := range in.Nodes {
			in.Nodes[i].Transfers = 1 + d.n(2)
		}
		in.Nodes[d.n(len(in.Nodes))].Want = repack.Offline
		gangs(d, in)
		run(t, n, func(t fatal) {
			r := solved(t, d, in, quick(d))
			if r.Plan == nil {
				return
			}
			for i := range r.Plan.Actions {
				if a := &r.Plan.Actions[i]; a.Kind == repack.Migrate {
					transfers++
					late += min(1, int(a.Start))
				}
			}
		})
	}
	if late == 0 || late == transfers {
		t.Errorf("%d of %d migrations begin late", late, transfers)
	}
	t.Logf("%d of %d migrations begin late", late, transfers)
}

// BenchmarkTransferSlots measures the first plan and a hundred rounds of improvement for 1,000
// nodes and 5,000 VMs, with and without limits of transfers.
func BenchmarkTransferSlots(b *testing.B) {
	for _, limit := range []int{0, 1, 2, 8} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			in, err := repacking.Sample(repacking.SampleOptions{Nodes: 1000, Ratio: 5, Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			for n := range in.Nodes {
				in.Nodes[n].Transfers = limit
			}
			for b.Loop() {
				r, err := solve.Solve(in, solve.Options{Iterations: 100})
				if err != nil || r.Plan == nil {
					b.Fatal(r, err)
				}
				b.ReportMetric(float64(r.Figures.Objective), "objective")
				b.ReportMetric(float64(r.Figures.Makespan), "makespan")
			}
		})
	}
}
