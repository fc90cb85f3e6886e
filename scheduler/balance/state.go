package balance

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// unit is what moves at once: a VM, or the VMs of a group on one node.
type unit struct {
	vms         []int
	node        int
	entitlement Amounts
	size        [kinds]float64 // the entitlement
	reserved    Amounts
	demand      Amounts
	least, most Amounts
	stable      time.Duration
	migration   time.Duration
	cost        Effort
	relief      outlook // of its node, without it
	fixed       string
	mostWorth   float64 // of a move, to whatever destination
}

// node is the load of one node.
type node struct {
	entitlement, reserved Amounts
	demand, least, most   Amounts
	stable                float64 // of the VMs, in seconds, weighted by their CPU demand
	moves                 int     // of this round, and in flight
	units                 []int   // sorted
	movable               []int   // those of them that are not fixed and may be worth their cost
	deviation             [kinds]float64
	corner                corner
	largest               [kinds]float64 // entitlements among the units that may move
	// What the node leaves unsatisfied.
	asSource, asDestination outlook
}

// corner is what the gain of a move depends on, at one of its ends. Of several nodes it is the least of each value,
// so that the gain is never less than that to any of them.
type corner struct {
	inverse [kinds]float64 // of the capacity
	pull    [kinds]float64 // deviation of the load from the mean over the capacity
}

// state is a cluster during a round.
type state struct {
	*Settings
	c         *Cluster
	resources []Resource // that count
	weight    [kinds]float64
	nodes     []node
	units     []unit
	unitOf    []int // of each VM
	counted   int   // nodes of which the load counts
	mean      [kinds]float64
	variance  [kinds]float64
	sigma     [kinds]float64
	average   [kinds]float64 // capacity of a counted node
	tree      tree
	bounds    []float64 // of the gain of moves from each node
}

func newState(s *Settings, c *Cluster) *state {
	st := &state{Settings: s, c: c, nodes: make([]node, len(c.Nodes)), bounds: make([]float64, len(c.Nodes)), unitOf: make([]int, len(c.VMs))}
	for i := range c.Nodes {
		if c.Nodes[i].Leaving {
			continue
		}
		st.counted++
		for r, has := range c.Nodes[i].Capacity {
			st.average[r] += float64(has)
		}
	}
	for r := range kinds {
		st.average[r] /= float64(max(1, st.counted))
		if st.average[r] > 0 && s.Weights[r] > 0 {
			st.resources = append(st.resources, r)
		}
	}
	for i := range c.Nodes {
		for r, has := range c.Nodes[i].Capacity {
			if has > 0 {
				st.nodes[i].corner.inverse[r] = 1 / float64(has)
			}
		}
	}
	st.addUnits()
	st.addFlights()
	st.refresh()
	st.weigh()
	for i := range st.nodes {
		st.review(i)
	}
	st.tree.build(st)
	return st
}

// addUnits makes units of VMs and groups. A group with VMs on several nodes cannot move: its parts are fixed.
func (st *state) addUnits() {
	first := map[int]int{}
	split := map[int]bool{}
	for i := range st.c.VMs {
		v := &st.c.VMs[i]
		u, known := first[v.Group]
		switch {
		case v.Group == 0 || !known:
			u = len(st.units)
			st.units = append(st.units, unit{node: v.Node})
			if v.Group > 0 {
				first[v.Group] = u
			}
		case st.units[u].node != v.Node:
			split[v.Group] = true
			u = len(st.units)
			st.units = append(st.units, unit{node: v.Node})
		}
		st.unitOf[i] = u
		st.units[u].add(i, v, st.Settings)
	}
	for i := range st.units {
		u := &st.units[i]
		if g := st.c.VMs[u.vms[0]].Group; split[g] && u.fixed == "" {
			u.fixed = "VMs of its group are on other nodes"
		}
		for r, e := range u.entitlement {
			u.size[r] = float64(e)
		}
		u.cost = st.costOf(u)
		n := &st.nodes[u.node]
		n.units = append(n.units, i)
		n.add(u, 1)
	}
}

// add adds a VM to a unit. Those of a group migrate one after the other.
func (u *unit) add(i int, v *VM, s *Settings) {
	u.vms = append(u.vms, i)
	u.entitlement, u.reserved, u.demand = u.entitlement.plus(v.Entitlement), u.reserved.plus(v.Reserved), u.demand.plus(v.Demand)
	for r := range v.Demand {
		least, most := v.Least[r], v.Most[r]
		if v.Least == (Amounts{}) && v.Most == (Amounts{}) {
			least, most = v.Demand[r], v.Demand[r]
		}
		u.least[r] += min(least, v.Demand[r])
		u.most[r] += max(most, v.Demand[r])
	}
	stable := v.Stable
	if stable == 0 {
		stable = s.Stable
	}
	if len(u.vms) == 1 || stable < u.stable {
		u.stable = stable
	}
	u.migration += v.takes(s)
	if u.fixed == "" {
		u.fixed = v.Fixed
	}
}

// addFlights counts VMs in flight on their destinations too.
func (st *state) addFlights() {
	for _, f := range st.c.Flights {
		u := &st.units[st.unitOf[f.VM]]
		if u.fixed == "" {
			u.fixed = "it is migrating to " + st.c.Nodes[f.To].Name
		}
		v := unit{}
		v.add(f.VM, &st.c.VMs[f.VM], st.Settings)
		to := &st.nodes[f.To]
		to.add(&v, 1)
		to.moves++
		st.nodes[u.node].moves++
	}
}

// add adds a unit to the sums of a node, or with sign -1 takes it away.
func (n *node) add(u *unit, sign int64) {
	for r := range n.demand {
		n.entitlement[r] += sign * u.entitlement[r]
		n.reserved[r] += sign * u.reserved[r]
		n.demand[r] += sign * u.demand[r]
		n.least[r] += sign * u.least[r]
		n.most[r] += sign * u.most[r]
	}
	n.stable += float64(sign) * u.stable.Seconds() * float64(u.demand[CPU])
}

// load is the normalised entitlement of a node, N_h (§3.1.1).
func (st *state) load(i int, r Resource) float64 {
	return float64(st.nodes[i].entitlement[r]) * st.nodes[i].corner.inverse[r]
}

// refresh computes the mean and the variance of the loads, and what depends on them.
func (st *state) refresh() {
	st.mean, st.variance = [kinds]float64{}, [kinds]float64{}
	for _, r := range st.resources {
		for i := range st.nodes {
			if !st.c.Nodes[i].Leaving {
				st.mean[r] += st.load(i, r)
			}
		}
		st.mean[r] /= float64(max(1, st.counted))
		for i := range st.nodes {
			n := &st.nodes[i]
			n.deviation[r] = st.load(i, r) - st.mean[r]
			n.corner.pull[r] = n.deviation[r] * n.corner.inverse[r]
			if !st.c.Nodes[i].Leaving {
				st.variance[r] += n.deviation[r] * n.deviation[r]
			}
		}
		st.variance[r] /= float64(max(1, st.counted))
		st.sigma[r] = math.Sqrt(st.variance[r])
	}
}

// weigh sets the weights of the resources (§3.1.1): those of which a node is over its capacity have the larger
// weight. The paper does not say what holds if both are; here they are equal then. The weights stay for the round,
// so that each move lowers the same imbalance.
func (st *state) weigh() {
	sum := 0.0
	for _, r := range st.resources {
		st.weight[r] = st.Weights[r]
		for i := range st.nodes {
			if !st.c.Nodes[i].Leaving && st.load(i, r) > 1 {
				st.weight[r] = st.Weights[r] * st.Contended
				break
			}
		}
		sum += st.weight[r]
	}
	for _, r := range st.resources {
		st.weight[r] /= sum
	}
}

// imbalance is the weighted sum of the standard deviations, I_c.
func (st *state) imbalance() (sum float64) {
	for _, r := range st.resources {
		sum += st.weight[r] * st.sigma[r]
	}
	return sum
}

// gain is by how much the imbalance falls if an entitlement moves between two nodes. It does not grow with any value
// of the destination, not even by rounding: the corner of several nodes bounds the gain to each.
func (st *state) gain(size *[kinds]float64, from, to *corner) (sum float64) {
	n := float64(st.counted)
	for _, r := range st.resources {
		e := size[r]
		if e == 0 {
			continue
		}
		a, b := from.inverse[r], to.inverse[r]
		square := (a*a+b*b)*(1-1/n) + 2*a*b/n // the mean moves too if the capacities differ
		change := e * (e*square + 2*(to.pull[r]-from.pull[r])) / n
		sum += st.weight[r] * (st.sigma[r] - math.Sqrt(max(0, st.variance[r]+change)))
	}
	return sum
}

// hot reports whether a node is over its capacity.
func (st *state) hot(i int) bool {
	for _, r := range st.resources {
		if st.nodes[i].entitlement[r] > st.c.Nodes[i].Capacity[r] {
			return true
		}
	}
	return false
}

// move takes a unit to another node and updates what depends on it.
func (st *state) move(u, to int) {
	from := st.units[u].node
	st.nodes[from].add(&st.units[u], -1)
	st.nodes[to].add(&st.units[u], 1)
	st.nodes[from].units = slices.DeleteFunc(st.nodes[from].units, func(x int) bool { return x == u })
	at, _ := slices.BinarySearchFunc(st.nodes[to].units, u, cmp.Compare)
	st.nodes[to].units = slices.Insert(st.nodes[to].units, at, u)
	st.units[u].node = to
	st.told(&st.units[u], from, to)
	st.refresh()
	st.review(from)
	st.review(to)
	st.tree.refresh(st)
}

// told tells the rules of a move.
func (st *state) told(u *unit, from, to int) {
	if st.c.Moved == nil {
		return
	}
	for _, vm := range u.vms {
		st.c.Moved(vm, from, to)
	}
}

// foresee updates what a node leaves unsatisfied.
func (st *state) foresee(i int) {
	n := &st.nodes[i]
	n.asSource, n.asDestination = st.unmet(i, true, nil, 0), st.unmet(i, false, nil, 0)
}

// review updates what is known of the units of a node.
func (st *state) review(i int) {
	n := &st.nodes[i]
	n.largest, n.movable = [kinds]float64{}, n.movable[:0]
	st.foresee(i)
	for _, k := range n.units {
		u := &st.units[k]
		if u.fixed != "" {
			continue
		}
		if st.CostBenefit {
			u.relief = st.relief(u)
			u.mostWorth = st.mostWorth(u)
		}
		if st.CostBenefit && u.mostWorth <= 0 {
			continue
		}
		n.movable = append(n.movable, k)
		for _, r := range st.resources {
			n.largest[r] = max(n.largest[r], u.size[r])
		}
	}
}
