package solve_test

import (
	"testing"

	"vjob/repack"
)

// No plan of a tiny problem in which many VMs must go to just one node costs less than the
// bound, which knows the waits.
func TestForcedOrderAgainstEveryPlan(t *testing.T) {
	undecided, proved := 0, 0
	first, count := campaign(t)
	count = (count + 3) / 4 // each takes a while
	for n := first; n < first+count; n++ {
		d := seed(n)
		in, o := crossroads(t, d), quick(d)
		o.Objective = objectives[d.n(len(objectives))]
		run(t, n, func(t fatal) {
			if !against(t, d, in, o) {
				undecided++
			}
			if r := solved(t, d, in, o); r.Proved {
				proved++
			}
		})
	}
	t.Logf("%d of %d proved, %d undecided", proved, count, undecided)
	if proved == 0 {
		t.Error("no bound was reached")
	}
}

// crossroads is a tight problem with VMs that mostly have one node to go to.
func crossroads(t *testing.T, d dice) *repack.Instance {
	t.Helper()
	in := &repack.Instance{Dims: []string{"mem"}, NodeOff: repack.Ticks(d.n(3)), NodeOn: repack.Ticks(1 + d.n(2))}
	s := scope{plain: once(d, 2), power: once(d, 6), instant: once(d, 4)}
	for range 2 + d.n(2) {
		in.Nodes = append(in.Nodes, node(d, 1, s))
	}
	for range 2 + d.n(2) {
		v := repack.VM{State: repack.Running, Want: repack.Running, Host: d.n(len(in.Nodes)), Weight: 1}
		need := int64(1 + d.n(6))
		v.Now, v.Next = []int64{need}, []int64{max(1, need-int64(d.n(2)*d.n(2)))}
		switch in.Nodes[v.Host].State {
		case repack.Online:
			v.State = []repack.VMState{repack.Running, repack.Running, repack.Running, repack.Sleeping}[d.n(4)]
		default:
			v.State, v.Host = repack.Ready, repack.Nowhere
		}
		takes(d, &v, s)
		v.Stays = false
		in.VMs = append(in.VMs, v)
	}
	if once(d, 4) {
		network(d, in)
	}
	for vm := range in.VMs {
		if d.n(4) > 0 {
			in.Rules = append(in.Rules, postedGuard(t, in, "fence", false, map[string]any{"vms": []int{vm}, "nodes": []int{d.n(len(in.Nodes))}}))
		}
	}
	if once(d, 3) {
		in.Rules = append(in.Rules, postedGuard(t, in, "spread", false, map[string]any{"vms": some(d, len(in.VMs))}))
	}
	return in
}

// objectives are those of which brute force knows the worth.
var objectives = []repack.Objective{repack.Completion, repack.Completion, repack.Makespan, repack.Migrations}
