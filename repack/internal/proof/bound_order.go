package proof

import (
	"cmp"
	"slices"

	"vjob/internal/sparse"
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// Bounds from waiting: a VM that must go to one node has no room there until another has left,
// which may have to wait in turn.

// findDestinations finds the VMs with a single node left, and the VMs that must be apart.
func (m *Bounds) findDestinations() {
	m.arrivals, m.destination = sparse.New[int](len(m.In.Nodes)), make([]int, len(m.In.VMs))
	m.exclusions = make([][]int, len(m.In.VMs))
	for vm := range m.destination {
		m.destination[vm] = repack.Nowhere
	}
	m.overloadedAtStart = make([]bool, len(m.In.Nodes))
	for _, n := range m.In.Overloaded() {
		m.overloadedAtStart[n] = true
	}
	only := map[*problem.NodeSet]int{}
	for _, vm := range m.Wanted {
		n, ok := only[m.Banned[vm]]
		if !ok {
			n = m.onlyNode(m.Banned[vm])
			only[m.Banned[vm]] = n
		}
		if n != repack.Nowhere && n != m.Home[vm] {
			m.destination[vm] = n
			m.arrivals.Add(n, vm)
		}
	}
	for i, r := range m.In.Rules {
		if a, ok := r.Rule.(problem.Apart); ok && r.Penalty == 0 {
			for _, vm := range a.Apart() {
				m.exclusions[vm] = append(m.exclusions[vm], i)
			}
		}
	}
}

// onlyNode returns the one open node outside a set; Nowhere if there are several.
func (m *Bounds) onlyNode(not *problem.NodeSet) int {
	one, count := repack.Nowhere, 0
	for _, n := range m.OpenNodes {
		if !not.Has(n) {
			if one, count = n, count+1; count > 1 {
				return repack.Nowhere
			}
		}
	}
	return one
}

// arrival is the least time that a VM takes to get elsewhere: by one action, or by a first and
// a last one, which may start anywhere. A VM boots once: to migrate after that is never
// sooner.
type arrival struct {
	direct, first, last repack.Ticks
	once                bool
}

func (m *Bounds) arrival(vm int) arrival {
	v := &m.In.VMs[vm]
	move, resume := m.MinDuration(vm, repack.Migrate), m.MinDuration(vm, repack.Resume)
	switch {
	case m.Suspendable(v):
		return arrival{direct: move, first: min(move, v.Takes.Suspend), last: min(v.Takes.Migrate, v.Takes.ResumeRemote)}
	case v.State == repack.Running:
		return arrival{direct: move, first: move, last: v.Takes.Migrate}
	case v.State == repack.Sleeping:
		return arrival{direct: resume, first: min(resume, v.Takes.ResumeLocal), last: v.Takes.Migrate}
	default:
		boot := m.Duration(vm, repack.Nowhere)
		return arrival{direct: boot, last: boot, once: true}
	}
}

// release returns a time before which a VM cannot start for the node on which it must end.
func (m *Bounds) release(vm int) repack.Ticks {
	n := m.destination[vm]
	if n == repack.Nowhere {
		return 0
	}
	return max(m.Ready(n), m.minVacancy(vm, n))
}

// orderWaits returns the least cost, beyond that of each VM alone, of VMs waiting for room on
// the one node to which they must go.
//
// Each VM follows at most one VM in its way, and at most one VM follows it, so they form
// chains and cycles. In a chain the first starts when there is room, and each other starts
// when the one before has left: at the end of its only action, or at the end of the first of
// two, which costs as much as it takes. In a cycle, the VM that reaches its node first finds
// that the VM in its way has left for some other node: so at least one VM takes two actions.
func (m *Bounds) orderWaits() (sum int64) {
	if m.Objective == repack.Migrations || m.Objective == repack.Moved {
		return 0
	}
	before, after := m.blockers()
	done := make([]bool, len(m.In.VMs))
	line := func(head int) (vms []int) {
		for vm := head; vm != repack.Nowhere && !done[vm]; vm = after[vm] {
			done[vm] = true
			vms = append(vms, vm)
		}
		return vms
	}
	add := func(vms []int, least int64) {
		for _, vm := range vms {
			least -= m.minAway(vm)
		}
		sum += max(0, least)
	}
	for _, arrivals := range m.arrivals.All() {
		for _, vm := range arrivals {
			if before[vm] == repack.Nowhere {
				vms := line(vm)
				add(vms, cheapestOf(m.chainCosts(vms, []prefix{{}})))
			}
		}
	}
	for _, arrivals := range m.arrivals.All() { // the rest are cycles
		for _, vm := range arrivals {
			if !done[vm] {
				vms := line(vm)
				add(vms, m.cycleCost(vms))
			}
		}
	}
	return sum
}

// blockers finds for each VM the VM in its way: one that must leave the node to which the
// other must come, and beside which there is no room for it.
func (m *Bounds) blockers() (before, after []int) {
	before, after = make([]int, len(m.In.VMs)), make([]int, len(m.In.VMs))
	for vm := range before {
		before[vm], after[vm] = repack.Nowhere, repack.Nowhere
	}
	for n, arrivals := range m.arrivals.All() {
		for _, vm := range arrivals {
			for _, other := range m.AtStart.At(n) {
				if m.destination[other] != repack.Nowhere && after[other] == repack.Nowhere && !m.overloadedAtStart[n] && m.blocks(vm, other, n) {
					before[vm], after[other] = other, vm
					break
				}
			}
		}
	}
	return before, after
}

func (m *Bounds) blocks(vm, other, node int) bool {
	for d := range m.Dims {
		if need := m.Next[vm*m.Dims+d]; need > 0 && need+m.Now[other*m.Dims+d] > m.Room[node*m.Dims+d] {
			return true
		}
	}
	return false
}

// prefix is what the VMs before in a chain may have done: the last has left no sooner, and
// together they cost no less.
type prefix struct {
	left repack.Ticks
	cost int64
}

// maxPrefixes bounds how many prefixes are kept apart.
const maxPrefixes = 64

// chainCosts extends prefixes by the VMs of a chain.
func (m *Bounds) chainCosts(vms []int, prefixes []prefix) []prefix {
	for _, vm := range vms {
		a, weight, release := m.arrival(vm), m.WaitCost(vm), m.release(vm)
		indirect := prefix{a.first, problem.Never}
		next := make([]prefix, 0, len(prefixes)+1)
		for _, l := range prefixes {
			start := max(release, l.left)
			next = append(next, prefix{start + a.direct, l.cost + m.AwayCost[vm] + weight*int64(start)})
			indirect.cost = min(indirect.cost, l.cost+weight*int64(a.first+max(start, a.first)+a.last))
		}
		prefixes = next
		if !a.once {
			prefixes = append(prefixes, indirect)
		}
		if len(prefixes) > maxPrefixes {
			prefixes = []prefix{{earliestOf(prefixes), cheapestOf(prefixes)}}
		}
	}
	return prefixes
}

// cycleCost returns the least cost of a cycle of VMs, over the VMs that may take the extra
// action that breaks it.
func (m *Bounds) cycleCost(vms []int) int64 {
	if len(vms) > maxPrefixes {
		return cheapestOf(m.chainCosts(vms, []prefix{{}}))
	}
	least := int64(problem.Never)
	for i, vm := range vms {
		a, weight := m.arrival(vm), m.WaitCost(vm)
		others := slices.Concat(vms[i+1:], vms[:i])
		for _, l := range m.chainCosts(others, []prefix{{a.first, weight * int64(a.first)}}) {
			start := max(m.release(vm), l.left, a.first)
			least = min(least, l.cost+weight*int64(start+a.last))
		}
	}
	return least
}

func earliestOf(prefixes []prefix) repack.Ticks {
	return slices.MinFunc(prefixes, func(a, b prefix) int { return cmp.Compare(a.left, b.left) }).left
}

func cheapestOf(prefixes []prefix) int64 {
	return slices.MinFunc(prefixes, func(a, b prefix) int { return cmp.Compare(a.cost, b.cost) }).cost
}
