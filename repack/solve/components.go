package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/exact"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/proof"
)

// component is nodes and the VMs that can never be elsewhere.
type component struct{ vms, nodes []int }

// solveComponents solves the parts of a problem that have nothing in common, once, each exactly if it is
// small. The best plan of the whole is the best of each part, and what they cost at least adds up. If a part
// has no plan, the whole has none.
func (p *portfolio) solveComponents() {
	if p.split || p.infeasible || p.Objective != repack.Completion || len(p.in.VMs) > maxUntangleVM || p.best != nil && p.best.score.first <= p.bound {
		return
	}
	p.split = true
	m := p.searches[0].Problem
	list := componentsOf(m)
	if len(list) == 0 {
		return
	}
	var plan []repack.Action
	if p.best != nil {
		plan = p.best.Plan().Actions
	}
	left, sum, whole := p.exactSteps(), int64(0), true
	for _, c := range list {
		cost := int64(problem.Never)
		if p.best != nil {
			cost = c.cost(m, plan)
		}
		own := problem.New(c.part(m).Instance, p.Objective)
		least := proof.NewBounds(own).Value()
		if least < cost && left > 0 && exact.Small(own) {
			r := exact.Search(placement.New(own), cost, left)
			left -= r.Steps
			if p.infeasible = r.Done && r.Actions == nil && cost == problem.Never; p.infeasible {
				return
			}
			if r.Actions != nil {
				plan = append(slices.DeleteFunc(plan, func(a repack.Action) bool { return c.has(&a) }), c.part(m).Whole(r.Actions)...)
				cost = r.Cost
			}
			if r.Done {
				least = cost
			}
		}
		whole = whole && cost < problem.Never
		sum += least
	}
	p.bound = max(p.bound, sum)
	if whole {
		slices.SortStableFunc(plan, func(a, b repack.Action) int { return cmp.Compare(a.Start, b.Start) })
		p.takeExact(plan)
	}
}

// part is the component as a problem of its own.
func (c *component) part(m *problem.Problem) *exact.Part { return exact.NewPart(m, c.vms, c.nodes) }

// has reports whether an action is one of the component.
func (c *component) has(a *repack.Action) bool {
	if a.Kind.OnNode() {
		return slices.Contains(c.nodes, a.To)
	}
	return slices.Contains(c.vms, a.VM)
}

// cost is what the actions of a plan in the component cost.
func (c *component) cost(m *problem.Problem, plan []repack.Action) (sum int64) {
	for i := range plan {
		if a := &plan[i]; c.has(a) && !a.Kind.OnNode() && a.Kind != repack.Allocate {
			sum += int64(a.End) * m.In.VMs[a.VM].Weight
		}
	}
	return sum
}

// componentsOf returns the components of a problem with rules on single VMs only; nil if there are others,
// or all is one component.
func componentsOf(m *problem.Problem) []*component {
	if len(m.Guards)+len(m.Watches)+len(m.Gates)+len(m.Limits)+len(m.Deadlines)+len(m.SyncSets) > 0 || m.Uncounted || slices.Max(m.MigrationPenalty) > 0 {
		return nil
	}
	joined := newForest(len(m.In.Nodes))
	at := make([]int, len(m.In.VMs)) // a node on which each VM may be
	for vm := range at {
		v := &m.In.VMs[vm]
		at[vm] = v.Host
		if v.Stays || v.Want != repack.Running {
			continue
		}
		if m.BannedAlways[vm] == nil {
			return nil
		}
		m.BannedAlways[vm].EachOutside(len(m.In.Nodes), func(n int) {
			if at[vm] == repack.Nowhere {
				at[vm] = n
			}
			joined.join(at[vm], n)
		})
	}
	of := map[int]*component{}
	var list []*component
	for n := range m.In.Nodes {
		c := of[joined.root(n)]
		if c == nil {
			c = &component{}
			of[joined.root(n)] = c
			list = append(list, c)
		}
		c.nodes = append(c.nodes, n)
	}
	if len(list) == 1 {
		return nil
	}
	for vm, n := range at {
		if n != repack.Nowhere {
			c := of[joined.root(n)]
			c.vms = append(c.vms, vm)
		}
	}
	return list
}

// forest joins numbers into sets, each with its least member as root.
type forest []int

func newForest(n int) forest {
	f := make(forest, n)
	for i := range f {
		f[i] = i
	}
	return f
}

func (f forest) root(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

func (f forest) join(i, j int) {
	i, j = f.root(i), f.root(j)
	f[max(i, j)] = min(i, j)
}
