// Package proof proves how good a plan can be, and that no plan exists.
//
// [Bounds.Value] is a lower bound of the objective: each node alone (bound.go), VMs that wait
// for each other (bound_order.go), room for few VMs on their way at once (bound_room.go), links
// (bound_link.go), transfer slots (bound_transfer.go). [Prices] are another for full clusters (bound_price.go),
// [Patterns] for VMs of few sizes (patterns.go).
// [Infeasible] and [Unpackable] look for reasons why no placement exists.
package proof

import (
	"cmp"
	"slices"

	"vjob/internal/sparse"
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// Bounds has what all lower bounds of a problem need.
type Bounds struct {
	*problem.Problem
	// minHome is the least cost of being at home, waits included.
	minHome   []int64
	preferred sparse.Lists[int] // VMs that prefer to end on each node
	// arrivals are the VMs that must end on just this node and are not there.
	arrivals          sparse.Lists[int]
	destination       []int   // the only node left to a VM; Nowhere if there are more
	overloadedAtStart []bool  // nodes that start over capacity, which is allowed for a while
	exclusions        [][]int // rules by VM that keep their VMs on different nodes
}

// NewBounds prepares the bounds of a problem on which all rules are posted.
func NewBounds(m *problem.Problem) *Bounds {
	b := &Bounds{Problem: m}
	b.findDestinations()
	b.FindPreferences()
	return b
}

// Value returns a lower bound of the objective of every plan. Every VM acts in the shortest
// way, and where the VMs that prefer a node do not fit together, the cheapest leave; that is
// exact for one node. On top of that VMs wait for links, for VMs in their way, for free room, or
// for transfer slots. The largest of these waits counts, as they may overlap.
func (m *Bounds) Value() (sum int64) {
	if m.Objective == repack.Makespan {
		return m.makespan()
	}
	sum = m.perNode()
	for _, vms := range m.ExclusiveGroups() {
		sum = max(sum, m.perNode()+m.exclusiveCost(vms))
	}
	return sum
}

// makespan returns the duration of the longest action that must happen.
func (m *Bounds) makespan() (most int64) {
	for vm := range m.In.VMs {
		switch v := &m.In.VMs[vm]; {
		case v.State == repack.Running && v.Want != repack.Running:
			most = max(most, int64(m.DepartureTime[vm]))
		case v.Want != repack.Running:
		case m.Home[vm] == repack.Nowhere || !m.Allows(vm, m.Home[vm]):
			a := m.arrival(vm)
			most = max(most, int64(m.minTravel(vm)), int64(m.release(vm)+min(a.direct, a.last)))
		default:
			most = max(most, int64(min(v.DurationTo(v.Host), m.minTravel(vm))))
		}
	}
	return max(most, m.slotMakespan(), m.transferMakespan())
}

// minTravel returns the least time to bring a VM elsewhere: a suspendable VM can be resumed
// there, and a sleeping VM can be resumed and then migrate.
func (m *Bounds) minTravel(vm int) repack.Ticks {
	switch v := &m.In.VMs[vm]; {
	case m.Suspendable(v):
		return min(m.MinDuration(vm, repack.Migrate), v.Takes.Suspend+m.MinDuration(vm, repack.Resume))
	case v.State == repack.Sleeping:
		return min(m.MinDuration(vm, repack.Resume), v.Takes.ResumeLocal+m.MinDuration(vm, repack.Migrate))
	default:
		return m.Duration(vm, repack.Nowhere)
	}
}

// minAway returns the least cost of having a VM elsewhere than at home.
func (m *Bounds) minAway(vm int) int64 {
	v := &m.In.VMs[vm]
	switch {
	case v.State == repack.Sleeping && m.WaitCost(vm) > 0:
		return min(m.AwayCost[vm], v.Weight*int64(2*v.Takes.ResumeLocal+m.MinDuration(vm, repack.Migrate)))
	case !m.Suspendable(v) || m.Rooted[vm]:
		return m.AwayCost[vm]
	case m.Objective == repack.Migrations:
		return 0
	case m.Objective == repack.Moved:
		return min(m.AwayCost[vm], 3*v.CostTo(repack.Nowhere))
	default:
		return min(m.AwayCost[vm], v.Weight*int64(2*v.Takes.Suspend+m.MinDuration(vm, repack.Resume)))
	}
}

// exclusiveCost returns the least cost, beyond that of each node alone, of giving a group as
// many nodes of its own as it needs.
func (m *Bounds) exclusiveCost(vms []int) (sum int64) {
	stakes := m.DedicationCosts(vms)
	need := m.minNodes(vms)
	for i, k := range stakes {
		worth := k.Out
		if i < need || k.In < k.Out {
			worth = k.In
		}
		sum += worth - m.excess(k.Node, m.preferred.At(k.Node))
	}
	return sum
}

// minNodes returns a lower bound of the nodes on which the VMs end: the number of VMs that
// must be apart.
func (m *Bounds) minNodes(vms []int) (most int) {
	mine := make(map[int]bool, len(vms))
	for _, vm := range vms {
		mine[vm] = true
	}
	for _, r := range m.In.Rules {
		a, ok := r.Rule.(problem.Apart)
		if !ok || r.Penalty > 0 {
			continue
		}
		n := 0
		for _, vm := range a.Apart() {
			if mine[vm] {
				n++
			}
		}
		most = max(most, n)
	}
	return max(most, min(1, len(vms)))
}

// perNode adds up bounds of each node alone.
func (m *Bounds) perNode() (sum int64) {
	sum = m.alone()
	for n, vms := range m.preferred.All() {
		sum += m.excess(n, vms)
	}
	return sum
}

// alone adds up what each VM costs where it is best, and the waits of VMs for each other.
func (m *Bounds) alone() (sum int64) {
	sum = m.Departures() + max(m.linkWaits(), m.orderWaits(), m.slotWaits(), m.transferWaits())
	for _, vm := range m.Wanted {
		sum += min(m.minHome[vm], m.minAway(vm))
	}
	return sum
}

// Departures returns the cost of ending or suspending the VMs that must not run at the end.
func (m *Bounds) Departures() (sum int64) {
	for vm := range m.In.VMs {
		if v := &m.In.VMs[vm]; v.State == repack.Running && v.Want != repack.Running {
			sum += m.WaitCost(vm) * int64(m.DepartureTime[vm])
		}
	}
	return sum
}

// FindPreferences computes the least cost of each VM at home, and which VMs prefer which node.
// Rules must have been posted.
func (m *Bounds) FindPreferences() {
	m.minHome, m.preferred = make([]int64, len(m.In.VMs)), sparse.New[int](len(m.In.Nodes))
	for _, vm := range m.Wanted {
		h := m.Home[vm]
		m.minHome[vm] = problem.Never
		if h == repack.Nowhere || !m.Allows(vm, h) {
			continue
		}
		m.minHome[vm] = m.HomeCost[vm] + m.WaitCost(vm)*int64(max(m.Ready(h), m.earliest(vm, h)))
		if m.minHome[vm] < m.minAway(vm) {
			m.preferred.Add(h, vm)
		}
	}
}

// earliest returns a time before which a VM that does not run has no room where its image is:
// departures take time.
func (m *Bounds) earliest(vm, node int) repack.Ticks {
	if m.In.VMs[vm].State == repack.Running {
		return 0
	}
	return m.minVacancy(vm, node)
}

// minVacancy returns a time before which a VM that is not on a node has no room there.
func (m *Bounds) minVacancy(vm, node int) repack.Ticks {
	if m.overloadedAtStart[node] {
		return 0
	}
	free := slices.Clone(m.Room[node*m.Dims : (node+1)*m.Dims])
	for _, other := range m.AtStart.At(node) {
		for d := range free {
			free[d] -= min(m.Now[other*m.Dims+d], m.Next[other*m.Dims+d])
		}
	}
	enough := func() bool {
		for d := range free {
			if need := m.Next[vm*m.Dims+d]; need > 0 && need > free[d] {
				return false
			}
		}
		return true
	}
	if enough() {
		return 0
	}
	leavers := slices.Clone(m.AtStart.At(node))
	slices.SortFunc(leavers, func(a, b int) int { return cmp.Compare(m.minDeparture(a), m.minDeparture(b)) })
	var clock repack.Ticks
	for _, other := range leavers {
		clock = m.minDeparture(other)
		for d := range free {
			free[d] += min(m.Now[other*m.Dims+d], m.Next[other*m.Dims+d])
		}
		if enough() {
			break
		}
	}
	return clock
}

// minDeparture returns a time before which a VM does not leave its host.
func (m *Bounds) minDeparture(vm int) repack.Ticks {
	if v := &m.In.VMs[vm]; m.Suspendable(v) {
		return min(m.DepartureTime[vm], v.Takes.Suspend)
	}
	return m.DepartureTime[vm]
}

// excess returns the least cost, beyond all preferences, of keeping a node within its
// capacity.
func (m *Bounds) excess(n int, wish []int) int64 {
	return max(m.overload(n, wish), m.apartCost(wish))
}

// apartCost returns the least cost that all but one VM leave, of those that prefer one node
// and must be apart.
func (m *Bounds) apartCost(wish []int) (most int64) {
	type feud struct{ sum, dearest int64 }
	feuds := map[int]feud{}
	for _, vm := range wish {
		for _, r := range m.exclusions[vm] {
			f, leave := feuds[r], m.minAway(vm)-m.minHome[vm]
			feuds[r] = feud{f.sum + leave, max(f.dearest, leave)}
		}
	}
	for _, f := range feuds {
		most = max(most, f.sum-f.dearest)
	}
	return most
}

// overload returns the least cost of the departures that make room on a node, beside the VMs
// that must come to it.
func (m *Bounds) overload(n int, wish []int) int64 {
	load := make([]int64, m.Dims)
	for _, vm := range m.arrivals.At(n) {
		for d := range load {
			load[d] += m.Next[vm*m.Dims+d]
		}
	}
	items := make([]problem.Evictable, 0, len(wish))
	for _, vm := range wish {
		for d := range load {
			load[d] += m.Next[vm*m.Dims+d]
		}
		if !m.Rooted[vm] || m.In.VMs[vm].State != repack.Running { // a sleeping VM may be resumed elsewhere
			items = append(items, problem.Evictable{VM: vm, Cost: m.minAway(vm) - m.minHome[vm], Bulk: m.Bulk[vm]})
		}
	}
	fits := true
	for d := range load {
		fits = fits && load[d] <= m.Room[n*m.Dims+d]
	}
	if fits {
		return 0
	}
	_, cost, exact, ok := m.CheapestEviction(items, load, m.Room[n*m.Dims:(n+1)*m.Dims])
	if !ok || !exact {
		return 0
	}
	return cost
}

// ExclusiveGroups returns the sets of VMs that need nodes of their own, as far as they do not
// overlap.
func (m *Bounds) ExclusiveGroups() (list [][]int) {
	taken := map[int]bool{}
	for _, r := range m.In.Rules {
		d, ok := r.Rule.(problem.Dedicated)
		if !ok || r.Penalty > 0 || slices.ContainsFunc(d.Dedicated(), func(vm int) bool { return taken[vm] }) {
			continue
		}
		var hot []int
		for _, vm := range d.Dedicated() {
			taken[vm] = true
			if m.In.VMs[vm].Want == repack.Running {
				hot = append(hot, vm)
			}
		}
		list = append(list, hot)
	}
	return list
}

// DedicationCosts returns the cost of each node for a group, the best first.
func (m *Bounds) DedicationCosts(vms []int) (list []dedication) {
	mine := make([]bool, len(m.In.VMs))
	for _, vm := range vms {
		mine[vm] = true
	}
	for _, n := range m.OpenNodes {
		if !slices.ContainsFunc(vms, func(vm int) bool { return m.Allows(vm, n) }) {
			continue
		}
		k := dedication{Node: n}
		var members, others []int
		for _, vm := range m.preferred.At(n) {
			leave := m.minAway(vm) - m.minHome[vm]
			if m.Rooted[vm] && m.In.VMs[vm].State == repack.Running {
				leave = problem.Never
			}
			if mine[vm] {
				members = append(members, vm)
				k.Out += leave
			} else {
				others = append(others, vm)
				k.In += leave
			}
		}
		k.In += m.excess(n, members)
		k.Out += m.excess(n, others)
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b dedication) int {
		return cmp.Or(cmp.Compare(a.In-a.Out, b.In-b.Out), cmp.Compare(a.Node, b.Node))
	})
	return list
}

// dedication is the cost of giving a node to a group, or not.
type dedication struct {
	Node    int
	In, Out int64
}
