package solve_test

import (
	"testing"

	"vjob/repack"
	"vjob/repack/solve"
)

// exchanges are groups of nodes of size 10 with a VM of size 6 on each of the first two: these two must change
// places. If they are apart, nothing leaves its group.
func exchanges(t *testing.T, apart bool, sizes ...int) *repack.Instance {
	t.Helper()
	in := bare()
	for _, size := range sizes {
		n, vm := len(in.Nodes), len(in.VMs)
		for range size {
			in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{10}})
		}
		in.VMs = append(in.VMs, running(n, 6, 6), running(n+1, 6, 6))
		in.Rules = append(in.Rules,
			postedGuard(t, in, "fence", false, map[string]any{"vms": []int{vm}, "nodes": []int{n + 1}}),
			postedGuard(t, in, "fence", false, map[string]any{"vms": []int{vm + 1}, "nodes": []int{n}}))
		var group []int
		for i := range size {
			group = append(group, n+i)
		}
		if apart {
			in.Rules = append(in.Rules, postedGuard(t, in, "fence", true, map[string]any{"vms": []int{vm, vm + 1}, "nodes": group}))
		}
	}
	return in
}

// Each exchange costs 3 + 6 + 9 by the third node of its group. What has nothing in common is solved in parts.
func TestComponents(t *testing.T) {
	for _, c := range []struct {
		name   string
		sizes  []int
		cost   int64
		solved bool
	}{
		{"five exchanges", []int{3, 3, 3, 3, 3}, 5 * 18, true},
		{"one without room", []int{3, 3, 2, 3, 3}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := solved(t, seed(1), exchanges(t, true, c.sizes...), solve.Options{Iterations: 512, Seed: 1})
			if !c.solved {
				if r.Verdict != solve.Impossible {
					t.Errorf("verdict %d", r.Verdict)
				}
				return
			}
			if r.Figures.Objective != c.cost || !r.Proved {
				t.Errorf("objective %d, proved %t", r.Figures.Objective, r.Proved)
			}
		})
	}
}

// Where all VMs may go everywhere, few of them that wait for each other are still put in the best order.
func TestKnots(t *testing.T) {
	r := solved(t, seed(1), exchanges(t, false, 3, 3, 3, 3, 3), solve.Options{Iterations: 512, Seed: 1})
	if r.Figures.Objective > 5*18 {
		t.Errorf("objective %d", r.Figures.Objective)
	}
}
