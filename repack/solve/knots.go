package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/exact"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Bounds of the effort: steps of the exact search of one knot, nodes beside those of its plan, and VMs of
// a problem of which whole plans are checked again and again.
const (
	knotSteps     = 4_000
	spareNodes    = 2
	maxUntangleVM = 20_000
)

// untangle looks for better actions of few VMs that move among few nodes, while all others act as they are
// planned to: where they wait for each other the order matters most, and most cycles are local.
func (p *portfolio) untangle() {
	if p.best == nil || p.best == p.untangled || p.Objective != repack.Completion || len(p.in.VMs) > maxUntangleVM || p.best.score.first <= p.bound {
		return
	}
	m, left := p.searches[0].Problem, p.exactSteps()
	var better []*knot
	for _, k := range knotsOf(m, p.best.Plan().Actions) {
		if left <= 0 {
			break
		}
		part := exact.NewPart(m, k.vms, k.nodes)
		r := exact.Search(placement.New(problem.New(part.Instance, p.Objective)), k.cost, min(left, knotSteps))
		left -= r.Steps
		if r.Actions != nil {
			k.actions = part.Whole(r.Actions)
			better = append(better, k)
		}
	}
	if len(better) > 0 && !p.takeKnots(better) {
		for i := range better {
			p.takeKnots(better[i : i+1])
		}
	}
	p.untangled = p.best
}

// takeKnots takes the best plan with other actions in some knots, if it is right: others may pass there, and
// rules may join VMs.
func (p *portfolio) takeKnots(list []*knot) bool {
	plan := p.best.Plan().Actions
	for _, k := range list {
		plan = append(slices.DeleteFunc(plan, func(a repack.Action) bool { return slices.Contains(k.vms, a.VM) }), k.actions...)
	}
	slices.SortStableFunc(plan, func(a, b repack.Action) int { return cmp.Compare(a.Start, b.Start) })
	return p.takeExact(plan)
}

// knot is VMs that go from and to nodes from and to which no other VM goes, and what their actions cost.
type knot struct {
	vms, nodes []int
	cost       int64
	waits      bool
	actions    []repack.Action // better ones
}

// knotsOf returns the knots of a plan that are small and in which some action waits. Where VMs only pass
// does not count.
func knotsOf(m *problem.Problem, plan []repack.Action) (list []*knot) {
	joined := newForest(len(m.In.Nodes))
	first, last := map[int]int{}, map[int]int{} // nodes of each VM
	for i := range plan {
		a := &plan[i]
		for _, n := range []int{a.From, a.To} {
			if n == repack.Nowhere || a.Kind.OnNode() || a.Kind == repack.Allocate {
				continue
			}
			if _, ok := first[a.VM]; !ok {
				first[a.VM] = n
			}
			last[a.VM] = n
		}
	}
	for vm, n := range first {
		joined.join(n, last[vm])
	}
	of := map[int]*knot{}
	for i := range plan {
		a := &plan[i]
		if a.Kind.OnNode() || a.Kind == repack.Allocate {
			continue
		}
		at := joined.root(last[a.VM])
		k := of[at]
		if k == nil {
			k = &knot{}
			of[at] = k
			list = append(list, k)
		}
		if !slices.Contains(k.vms, a.VM) {
			k.vms = append(k.vms, a.VM)
		}
		k.cost += int64(a.End) * m.In.VMs[a.VM].Weight
		k.waits = k.waits || a.Start > 0
	}
	var spare []int
	for n := range joined {
		switch k := of[joined.root(n)]; {
		case k != nil:
			k.nodes = append(k.nodes, n)
		case steady(m, n):
			spare = append(spare, n)
		}
	}
	list = slices.DeleteFunc(list, func(k *knot) bool {
		return !k.waits || !exact.Few(len(k.vms), len(k.nodes)) || slices.ContainsFunc(k.nodes, func(n int) bool { return !steady(m, n) })
	})
	lend(m, list, spare)
	return list
}

// lend gives the knots nodes on which nothing happens, those with the most room first.
func lend(m *problem.Problem, list []*knot, spare []int) {
	room := make(map[int]int64, len(spare))
	for _, n := range spare {
		for d := range m.Dims {
			free := m.Room[n*m.Dims+d]
			for _, vm := range m.AtStart.At(n) {
				free -= m.Now[vm*m.Dims+d]
			}
			room[n] += free * 1_000_000 / max(1, m.Average[d])
		}
	}
	slices.SortStableFunc(spare, func(a, b int) int { return cmp.Compare(room[b], room[a]) })
	for range spareNodes {
		for _, k := range list {
			if len(spare) > 0 && exact.Few(len(k.vms), len(k.nodes)+1) {
				k.nodes = append(k.nodes, spare[0])
				spare = spare[1:]
			}
		}
	}
}

// steady reports whether a node is on and stays so.
func steady(m *problem.Problem, n int) bool {
	node := &m.In.Nodes[n]
	return node.State == repack.Online && node.Want != repack.Offline
}
