package solve

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"vjob/energy"
)

// The largest problems for which a proof is attempted; it may still take too long.
const (
	fewNodes = 8
	fewJobs  = 24
)

// smallEnough reports whether a proof by branch and bound is worth an attempt.
func (s *search) smallEnough() bool {
	for n := range s.Nodes {
		if len(s.Nodes[n].Power.Measured) > 0 {
			return false
		}
	}
	return len(s.Nodes) <= fewNodes && len(s.Jobs) <= fewJobs
}

// branchAndBound enumerates the assignments to a set of nodes, all of which are on. It prunes
// a branch if the jobs placed so far, with all others divisible, cannot improve on the best
// allocation.
type branchAndBound struct {
	*search
	order  []int // jobs, the largest first
	nodes  []int // of the set, the smallest slope first
	idle   float64
	size   float64 // capacity of the set
	at     []int
	load   []float64
	used   []float64
	rest   []float64 // need of the jobs from the i-th on
	budget int64
}

// stepBranches is the number of branches that take as long as a step of the search.
const stepBranches = 3000

// prove enumerates all sets of nodes, the best bound first. It reports whether it finished
// within the given number of branches, before the search has to end.
func (s *search) prove(branches int64) bool {
	if room := int64(s.stepsLeft); room < branches/stepBranches {
		branches = room * stepBranches
	}
	p := s.newBranchAndBound()
	p.budget = branches
	defer func() { s.stepsLeft -= int((branches - max(p.budget, 0)) / stepBranches) }()
	var sets []nodeSet
	for mask := uint(1); mask < 1<<len(s.Nodes); mask++ {
		set := bitsOf(mask)
		p.setNodes(set)
		if bound, ok := p.bound(0); ok && s.rigidMayFit(set) {
			sets = append(sets, nodeSet{set, bound})
		}
	}
	s.sortSets(sets)
	for _, set := range sets {
		p.setNodes(set.on)
		p.branch(0)
		if p.budget <= 0 || s.stopped {
			return false
		}
	}
	return true
}

func (s *search) newBranchAndBound() *branchAndBound {
	p := &branchAndBound{
		search: s, order: bySize(s.model), at: make([]int, s.noJob), load: make([]float64, len(s.Nodes)),
		used: make([]float64, len(s.Nodes)*s.dims), rest: make([]float64, s.noJob+1),
	}
	for i := s.noJob - 1; i >= 0; i-- {
		p.rest[i] = p.rest[i+1] + s.cpu[p.order[i]]
	}
	return p
}

// bitsOf returns the indices of the bits that are set.
func bitsOf(set uint) (list []int) {
	for ; set != 0; set &= set - 1 {
		list = append(list, bits.TrailingZeros(set))
	}
	return list
}

// bySize returns the jobs, those first that take most of a node.
func bySize(m *model) []int {
	size, order := make([]float64, m.noJob), make([]int, m.noJob)
	for j := range order {
		order[j] = j
		size[j] = m.cpu[j] / m.Nodes[0].CPU
		for d := range m.dims {
			size[j] += m.need[j*m.dims+d] / max(m.room[d], 1e-12)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	return order
}

// setNodes sets the nodes that are on.
func (p *branchAndBound) setNodes(set []int) {
	p.nodes, p.idle, p.size = append(p.nodes[:0], set...), float64(p.Standby()), 0
	for _, n := range set {
		p.idle += float64(p.Nodes[n].Power.Idle - p.Nodes[n].Power.Standby)
		p.size += p.Nodes[n].CPU
	}
	slices.SortStableFunc(p.nodes, func(a, b int) int { return cmp.Compare(p.slope(a), p.slope(b)) })
}

// slope returns the watts that a node draws for a unit of CPU.
func (p *branchAndBound) slope(n int) float64 {
	return float64(p.Nodes[n].Power.Full-p.Nodes[n].Power.Idle) / p.Nodes[n].CPU
}

// branch enumerates the places of the i-th job and those after it.
func (p *branchAndBound) branch(i int) {
	p.budget--
	if p.budget <= 0 {
		return
	}
	if p.budget&8191 == 0 && p.o.Stop != nil && p.o.Stop() {
		p.stopped, p.budget = true, 0
		return
	}
	if value, ok := p.bound(i); !ok || p.best != nil && !p.better(value) {
		return
	}
	if i == p.noJob {
		p.record(p.at)
		return
	}
	j := p.order[i]
	for _, n := range p.nodes {
		if p.fits(j, n) {
			p.place(j, n, 1)
			p.branch(i + 1)
			p.place(j, n, -1)
		}
	}
}

// better reports whether a bound improves on the best value by more than rounding.
func (p *branchAndBound) better(value float64) bool {
	const hair = 1e-10
	margin := hair * (1 + math.Abs(p.value))
	if p.Objective == energy.BoundedYield {
		return value < p.value-margin
	}
	return value > p.value+margin
}

func (p *branchAndBound) fits(j, n int) bool {
	if p.May != nil && !p.May(j, n) {
		return false
	}
	for d := range p.dims {
		if k := n*p.dims + d; p.used[k]+p.need[j*p.dims+d] > p.room[k]+energy.Slack {
			return false
		}
	}
	return true
}

func (p *branchAndBound) place(j, n int, sign float64) {
	p.at[j] = n
	p.load[n] += sign * p.Jobs[j].CPU
	for d := range p.dims {
		p.used[n*p.dims+d] += sign * p.need[j*p.dims+d]
	}
}

// bound returns the best value that the placed jobs leave possible if those from the i-th on
// are divisible. It returns false if no allocation or no better one is left.
func (p *branchAndBound) bound(i int) (float64, bool) {
	most := min(p.whole.most(), p.size/p.demand)
	for _, n := range p.nodes {
		most = min(most, p.Nodes[n].CPU/max(p.load[n], 1e-12))
	}
	most += 1e-12
	floor := max(p.Floor, minYield)
	if most < floor-energy.Tolerance {
		return 0, false
	}
	switch p.Objective {
	case energy.BoundedYield:
		watts, ok := p.powerPerYield(i, floor)
		return p.idle + floor*watts, ok
	case energy.BoundedPower:
		return p.boundYield(i, floor, most)
	default:
		return p.boundZ(i, floor, most)
	}
}

// powerPerYield returns the least power above idle, per unit of yield, of all jobs if the
// yield is at least the given one.
func (p *branchAndBound) powerPerYield(i int, yield float64) (sum float64, ok bool) {
	left := p.rest[i]
	for _, n := range p.nodes {
		more := min(left, max(0, p.Nodes[n].CPU/yield-p.load[n]))
		left -= more
		sum += (p.load[n] + more) * p.slope(n)
	}
	return sum, left <= energy.Slack/yield
}

// boundYield bounds the yield. Only yields above the best one count, at which nodes cannot
// serve more than their capacity.
func (p *branchAndBound) boundYield(i int, floor, most float64) (float64, bool) {
	if p.best != nil {
		floor = max(floor, p.value)
	}
	watts, ok := p.powerPerYield(i, floor)
	if !ok || watts <= 0 {
		return most, ok
	}
	y := min(most, (float64(p.Budget+energy.Excess)-p.idle)/watts)
	return y, y >= floor
}

// boundZ bounds Z. An improvement needs some yield, at which nodes cannot serve more than
// their capacity; from there on power grows at least linearly, so Z is largest at one of the
// ends.
func (p *branchAndBound) boundZ(i int, floor, most float64) (float64, bool) {
	z := func(yield, watts float64) float64 {
		return p.Lambda*yield + (1-p.Lambda)*max(0, 1-(p.idle+yield*watts)/float64(p.EMax))
	}
	watts, ok := p.powerPerYield(i, floor)
	if !ok {
		return 0, false
	}
	best := z(floor, watts)
	if p.best != nil && p.Lambda > 0 {
		free := (1 - p.Lambda) * max(0, 1-(p.idle+floor*watts)/float64(p.EMax))
		if need := min((p.value-free)/p.Lambda, most); need > floor {
			if watts, ok = p.powerPerYield(i, need); !ok {
				return best, true
			}
			best = max(best, z(need, watts))
		}
	}
	return max(best, z(most, watts)), true
}
