package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// Bounds are what all lower bounds of a model need.
type Bounds struct {
	*Problem
	// minHome is what it takes at least to be at home, waits included.
	minHome   []int64
	preferred [][]int // VMs that would like to end on each node
	// arrivals must end on just this node, and are not there; goal is theirs.
	arrivals          [][]int
	destination       []int   // Nowhere: it is not known
	overloadedAtStart []bool  // nodes that are over capacity at first: they may stay so for a while
	exclusions        [][]int // rules by VM that let no two of theirs end on one node
}

// newBounds prepares the bounds of a model on which all rules are posted.
func newBounds(m *Problem) *Bounds {
	b := &Bounds{Problem: m}
	b.findDestinations()
	b.findPreferences()
	return b
}

// value is a value that no plan's objective is below: every VM acts in the
// shortest way that there is for it, and where those who would like to be on a node
// cannot all be there, the cheapest go. That is exact for one node, as nodes are
// looked at one by one. Who must act besides waits: for links, for those in its way, or
// for one of the places that are left. Of these three the largest counts, as it may be
// the same time.
func (m *Bounds) value() (sum int64) {
	if m.objective == repack.Makespan {
		return m.makespan()
	}
	sum = m.perNode()
	for _, vms := range m.exclusiveGroups() {
		sum = max(sum, m.perNode()+m.exclusiveCost(vms))
	}
	return sum
}

// makespan is how long the longest of the actions takes that must be made.
func (m *Bounds) makespan() (most int64) {
	for vm := range m.in.VMs {
		switch v := &m.in.VMs[vm]; {
		case v.State == repack.Running && v.Want != repack.Running:
			most = max(most, int64(m.departureTime[vm]))
		case v.Want != repack.Running:
		case m.home[vm] == repack.Nowhere || !m.allows(vm, m.home[vm]):
			a := m.arrival(vm)
			most = max(most, int64(m.minTravel(vm)), int64(m.release(vm)+min(a.direct, a.last)))
		default:
			most = max(most, int64(min(v.On(v.Host), m.minTravel(vm))))
		}
	}
	return max(most, m.slotMakespan())
}

// minTravel is how long it takes at least to have a VM elsewhere: one that may sleep
// for a while can be resumed there, one that sleeps can be resumed and then migrate.
func (m *Bounds) minTravel(vm int) repack.Ticks {
	switch v := &m.in.VMs[vm]; {
	case m.suspendable(v):
		return min(m.minDuration(vm, repack.Migrate), v.Takes.Suspend+m.minDuration(vm, repack.Resume))
	case v.State == repack.Sleeping:
		return min(m.minDuration(vm, repack.Resume), v.Takes.ResumeLocal+m.minDuration(vm, repack.Migrate))
	default:
		return m.duration(vm, repack.Nowhere)
	}
}

// minAway is what it takes at least to have a VM elsewhere than at home.
func (m *Bounds) minAway(vm int) int64 {
	v := &m.in.VMs[vm]
	switch {
	case v.State == repack.Sleeping && m.waitCost(vm) > 0:
		return min(m.awayCost[vm], v.Weight*int64(2*v.Takes.ResumeLocal+m.minDuration(vm, repack.Migrate)))
	case !m.suspendable(v) || m.rooted[vm]:
		return m.awayCost[vm]
	case m.objective == repack.Migrations:
		return 0
	case m.objective == repack.Moved:
		return min(m.awayCost[vm], 3*v.Moved(repack.Nowhere))
	default:
		return min(m.awayCost[vm], v.Weight*int64(2*v.Takes.Suspend+m.minDuration(vm, repack.Resume)))
	}
}

// exclusiveCost is what it takes at least, beyond what is asked of each node alone,
// that a clan has nodes of its own: as many as it needs.
func (m *Bounds) exclusiveCost(vms []int) (sum int64) {
	stakes := m.dedicationCosts(vms)
	need := m.minNodes(vms)
	for i, k := range stakes {
		worth := k.out
		if i < need || k.in < k.out {
			worth = k.in
		}
		sum += worth - m.excess(k.node, m.preferred[k.node])
	}
	return sum
}

// minNodes is a number of nodes below which the VMs do not end on: as many as there
// are VMs that must be apart.
func (m *Bounds) minNodes(vms []int) (most int) {
	mine := make(map[int]bool, len(vms))
	for _, vm := range vms {
		mine[vm] = true
	}
	for _, r := range m.in.Rules {
		a, ok := r.Rule.(Apart)
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

// perNode looks at every node by itself.
func (m *Bounds) perNode() (sum int64) {
	sum = m.departures() + max(m.linkWaits(), m.orderWaits(), m.slotWaits())
	for _, vm := range m.wanted {
		sum += min(m.minHome[vm], m.minAway(vm))
	}
	for n := range m.preferred {
		sum += m.excess(n, m.preferred[n])
	}
	return sum
}

// departures is what it takes to end or suspend who is to run no more.
func (m *Bounds) departures() (sum int64) {
	for vm := range m.in.VMs {
		if v := &m.in.VMs[vm]; v.State == repack.Running && v.Want != repack.Running {
			sum += m.waitCost(vm) * int64(m.departureTime[vm])
		}
	}
	return sum
}

// findPreferences notes what it takes each VM at least to be at home, and who would like to
// be where. Rules have been posted.
func (m *Bounds) findPreferences() {
	m.minHome, m.preferred = make([]int64, len(m.in.VMs)), make([][]int, len(m.in.Nodes))
	for _, vm := range m.wanted {
		h := m.home[vm]
		m.minHome[vm] = Never
		if h == repack.Nowhere || !m.allows(vm, h) {
			continue
		}
		m.minHome[vm] = m.homeCost[vm] + m.waitCost(vm)*int64(max(m.ready(h), m.earliest(vm, h)))
		if m.minHome[vm] < m.minAway(vm) {
			m.preferred[h] = append(m.preferred[h], vm)
		}
	}
}

// earliest is a time before which a VM that does not run cannot have room where
// its image lies: who leaves takes some time to do so.
func (m *Bounds) earliest(vm, node int) repack.Ticks {
	if m.in.VMs[vm].State == repack.Running {
		return 0
	}
	return m.minVacancy(vm, node)
}

// minVacancy is a time before which a VM that is not on a node cannot have room there.
func (m *Bounds) minVacancy(vm, node int) repack.Ticks {
	if m.overloadedAtStart[node] {
		return 0
	}
	free := slices.Clone(m.room[node*m.dims : (node+1)*m.dims])
	for _, other := range m.atStart[node] {
		for d := range free {
			free[d] -= min(m.now[other*m.dims+d], m.next[other*m.dims+d])
		}
	}
	enough := func() bool {
		for d := range free {
			if need := m.next[vm*m.dims+d]; need > 0 && need > free[d] {
				return false
			}
		}
		return true
	}
	if enough() {
		return 0
	}
	leavers := slices.Clone(m.atStart[node])
	slices.SortFunc(leavers, func(a, b int) int { return cmp.Compare(m.minDeparture(a), m.minDeparture(b)) })
	var clock repack.Ticks
	for _, other := range leavers {
		clock = m.minDeparture(other)
		for d := range free {
			free[d] += min(m.now[other*m.dims+d], m.next[other*m.dims+d])
		}
		if enough() {
			break
		}
	}
	return clock
}

// minDeparture is a time before which a VM does not leave its host.
func (m *Bounds) minDeparture(vm int) repack.Ticks {
	if v := &m.in.VMs[vm]; m.suspendable(v) {
		return min(m.departureTime[vm], v.Takes.Suspend)
	}
	return m.departureTime[vm]
}

// excess is what it takes at least beyond everybody's wish to have a node not
// over capacity.
func (m *Bounds) excess(n int, wish []int) int64 {
	return max(m.overload(n, wish), m.apartCost(wish))
}

// apartCost is what it takes at least that of those who would like to be on one node,
// but must be apart, all but one go.
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

// overload is what it takes at least that those go for whom a node has no room beside
// those who must come to it.
func (m *Bounds) overload(n int, wish []int) int64 {
	load := make([]int64, m.dims)
	for _, vm := range m.arrivals[n] {
		for d := range load {
			load[d] += m.next[vm*m.dims+d]
		}
	}
	items := make([]Evictable, 0, len(wish))
	for _, vm := range wish {
		for d := range load {
			load[d] += m.next[vm*m.dims+d]
		}
		if !m.rooted[vm] || m.in.VMs[vm].State != repack.Running { // who sleeps may be resumed elsewhere
			items = append(items, Evictable{vm, m.minAway(vm) - m.minHome[vm], m.bulk(vm)})
		}
	}
	fits := true
	for d := range load {
		fits = fits && load[d] <= m.room[n*m.dims+d]
	}
	if fits {
		return 0
	}
	_, cost, exact, ok := m.cheapestEviction(items, load, m.room[n*m.dims:(n+1)*m.dims])
	if !ok || !exact {
		return 0
	}
	return cost
}

// exclusiveGroups are the sets of VMs that want nodes of their own, as far as they do not
// overlap.
func (m *Bounds) exclusiveGroups() (list [][]int) {
	taken := map[int]bool{}
	for _, r := range m.in.Rules {
		d, ok := r.Rule.(Dedicated)
		if !ok || r.Penalty > 0 || slices.ContainsFunc(d.Dedicated(), func(vm int) bool { return taken[vm] }) {
			continue
		}
		var hot []int
		for _, vm := range d.Dedicated() {
			taken[vm] = true
			if m.in.VMs[vm].Want == repack.Running {
				hot = append(hot, vm)
			}
		}
		list = append(list, hot)
	}
	return list
}

// dedicationCosts is what each node costs a clan, the best first.
func (m *Bounds) dedicationCosts(vms []int) (list []dedication) {
	mine := make([]bool, len(m.in.VMs))
	for _, vm := range vms {
		mine[vm] = true
	}
	for _, n := range m.openNodes {
		if !slices.ContainsFunc(vms, func(vm int) bool { return m.allows(vm, n) }) {
			continue
		}
		k := dedication{node: n}
		var members, others []int
		for _, vm := range m.preferred[n] {
			leave := m.minAway(vm) - m.minHome[vm]
			if m.rooted[vm] && m.in.VMs[vm].State == repack.Running {
				leave = Never
			}
			if mine[vm] {
				members = append(members, vm)
				k.out += leave
			} else {
				others = append(others, vm)
				k.in += leave
			}
		}
		k.in += m.excess(n, members)
		k.out += m.excess(n, others)
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b dedication) int {
		return cmp.Or(cmp.Compare(a.in-a.out, b.in-b.out), cmp.Compare(a.node, b.node))
	})
	return list
}

// dedication is what it costs to give a node to a clan or not to.
type dedication struct {
	node    int
	in, out int64
}
