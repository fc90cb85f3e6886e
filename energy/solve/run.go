package solve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"vjob/energy"
)

// run is a search with a given number of nodes, at a fixed yield or at one that rises each
// time it is reached. It can be resumed.
type run struct {
	count       int
	raisesYield bool
	yield       float64 // target
	bound       float64 // on its values
	at          []int   // the current assignment; nil before the first attempt
	nodes       []int   // nodes that may have jobs
	value       float64 // the best
	bestYield   float64 // that of the best value
	found       bool    // whether there is a value
	longest     int     // steps of the longest attempt
	attempts    int
	stride      float64 // relative distance of the target yield above the best
}

const (
	firstStride = 0.004
	minStride   = 0.0002
	// overloadMargin is by how much more than the overload demand is reduced: not all capacity
	// is usable.
	overloadMargin = 1.5
	// rigidFactor raises the price of rigid resources while the yield is too high: the yield
	// can be lowered, rigid needs cannot.
	rigidFactor = 2
)

// annealing is one attempt of a run.
type annealing struct {
	*search
	anneal
	run           *run
	targetReached bool  // the target yield was reached
	cheapest      []int // the cheapest feasible assignment at a fixed yield
}

// resume continues a run for the given number of steps.
func (s *search) resume(c *run, steps int) {
	r := &annealing{search: s, run: c}
	r.anneal = anneal{state: newState(s.model), rng: rand.NewPCG(s.o.Seed, s.nextStream()), best: math.Inf(1)}
	before := c.value
	had := c.found
	r.start()
	hot, cold := r.temperatures()
	for k := range steps {
		if s.over() {
			break
		}
		r.temperature = hot * math.Pow(cold/hot, float64(k)/float64(max(1, steps-1)))
		if c.raisesYield && !r.targetReached && (k == steps*5/10 || k == steps*7/10 || k == steps*9/10) {
			r.lowerYield()
		}
		r.moves(stepMoves)
		if k%8 == 7 || k == steps-1 || steps < 64 { // not each time: it takes as long as some moves
			r.setYield(r.yield) // sums drift
			r.recordCurrent()
		}
	}
	r.finish()
	c.attempts++
	c.longest = max(c.longest, steps)
	better := c.found && (!had || s.Objective.Better(c.value, before))
	if !better && c.stride > minStride {
		c.stride /= 2
	}
}

// temperatures returns those at the start and the end of an attempt, in watts.
func (r *annealing) temperatures() (hot, cold float64) {
	const usual, coldest = 250, 0.1
	scale := r.price / usual
	if r.run.attempts == 0 {
		return 8 * scale, coldest * scale
	}
	return []float64{8, 4, 12}[r.run.attempts%3] * scale, coldest * scale
}

// start begins with the assignment of the last attempt, or constructs one.
func (r *annealing) start() {
	r.cpuPenalty = minCPUPenalty * r.price
	if r.run.raisesYield {
		r.cpuPenalty /= 2
		for k := range r.state.rigidPrice {
			r.state.rigidPrice[k] *= rigidFactor
		}
	}
	r.setOn(r.initialNodes())
	if r.run.at == nil {
		r.run.at = r.construct()
	}
	r.assign(r.run.at, r.run.yield)
	if r.run.raisesYield {
		r.anneal.best = r.targetCost()
	}
	r.onBetter = r.onFeasible
}

// targetCost is the cost that a run with a rising yield has to reach.
func (r *annealing) targetCost() float64 {
	if r.Objective == energy.BoundedPower {
		return float64(r.Budget - r.Standby())
	}
	return math.Inf(1)
}

// initialNodes returns the nodes to begin with: the most profitable ones.
func (r *annealing) initialNodes() []int {
	if r.run.nodes != nil {
		return r.run.nodes
	}
	worth := r.whole.profits(r.run.yield)
	order := make([]int, len(r.Nodes))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	return order[:min(r.run.count, len(order))]
}

// forbiddenCost exceeds any power that could be saved.
const forbiddenCost = 1e9

// construct places the jobs greedily, the largest first, each where it costs least.
func (r *annealing) construct() []int {
	order := make([]int, r.noJob)
	size := make([]float64, r.noJob)
	for j := range order {
		order[j] = j
		size[j] = r.run.yield * r.cpu[j] / r.Nodes[0].CPU
		for d := range r.dims {
			size[j] = max(size[j], r.need[j*r.dims+d]/max(r.room[d], 1e-12))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	r.setYield(r.run.yield)
	s := r.state
	clear(s.load)
	clear(s.used)
	for _, n := range r.on {
		s.cost[n], _ = s.nodeCost(n, 0, 0)
	}
	at := make([]int, s.noJob)
	for _, j := range order {
		best, least := r.on[0], math.Inf(1)
		copy(s.delta, s.need[j*s.dims:])
		for _, n := range r.on {
			cost, over := s.nodeCost(n, s.load[n]+s.cpu[j], 1)
			cost -= s.cost[n]
			if over || s.May != nil && !s.May(j, n) {
				cost += forbiddenCost
			}
			if cost < least {
				best, least = n, cost
			}
		}
		at[j] = best
		s.load[best] += s.cpu[j]
		for d := range s.dims {
			s.used[best*s.dims+d] += s.need[j*s.dims+d]
		}
		s.cost[best], _ = s.nodeCost(best, s.load[best], 0)
	}
	return at
}

// onFeasible is called for each improved state without overload. At a fixed yield it keeps the
// assignment; otherwise it raises the yield.
func (r *annealing) onFeasible() {
	if !r.run.raisesYield {
		r.cheapest = append(r.cheapest[:0], r.at...)
		return
	}
	r.targetReached = true
	r.recordRun(r.at)
	r.raiseYield()
}

// lowerYield lowers the target yield to what seems reachable, in proportion to the overload or
// to the excess over the budget.
func (r *annealing) lowerYield() {
	over, dynamic := 0.0, 0.0
	for n := range r.Nodes {
		over += max(0, r.load[n]-r.terms[n].limit)
		dynamic += r.terms[n].slope * r.load[n]
	}
	share := overloadMargin * over / r.demand
	if dynamic > 0 {
		share = max(share, (r.sum-r.targetCost())/dynamic)
	}
	if share > 0 {
		r.setYield(r.yield * (1 - min(share, 0.3)))
	}
}

// raiseYield sets the next target yield.
func (r *annealing) raiseYield() {
	y := min(r.run.bestYield*(1+r.run.stride), r.whole.most())
	r.anneal.best = r.targetCost()
	if y <= r.yield {
		r.anneal.best = min(r.anneal.best, r.sum) // the yield is at its maximum: only the cost can improve
		return
	}
	r.setYield(y)
}

// recordCurrent records the state between two steps of a run with a rising yield: the best
// yield of its assignment may be an improvement below the target.
func (r *annealing) recordCurrent() {
	if !r.run.raisesYield {
		return
	}
	for n := range r.Nodes {
		for d := range r.dims {
			if k := n*r.dims + d; r.used[k] > r.room[k]*(1+tiny) {
				return
			}
		}
	}
	if r.recordRun(r.at) {
		r.raiseYield()
	}
}

// recordRun records an assignment if it improves on the best of its run.
func (r *annealing) recordRun(at []int) bool {
	value, yield, ok := r.record(at)
	if !ok || r.run.found && !r.Objective.Better(value, r.run.value) {
		return false
	}
	r.run.found, r.run.value, r.run.bestYield = true, value, yield
	return true
}

// finish stores where the next attempt resumes: the current assignment, and for a rising yield
// a target nearer to the best yield.
func (r *annealing) finish() {
	if r.cheapest != nil {
		r.recordRun(r.cheapest)
	} else if !r.run.raisesYield && r.overloads == 0 {
		r.recordRun(r.at)
	}
	if r.run.raisesYield {
		r.balance()
	}
	r.recordCurrent()
	if !r.run.raisesYield && r.overloads == 0 {
		r.passOn()
	}
	r.run.at, r.run.nodes = append(r.run.at[:0], r.at...), r.on
	if r.run.raisesYield && r.run.found {
		reached := r.run.bestYield * (1 + r.run.stride)
		r.run.yield = max(reached, min(r.yield, (r.yield+reached)/2))
		r.run.yield = min(r.run.yield, r.whole.most())
	}
}

// passOn gives an assignment that leaves nodes empty to the run with that many nodes fewer.
func (r *annealing) passOn() {
	var busy []int
	for _, n := range r.on {
		if len(r.jobs[n]) > 0 {
			busy = append(busy, n)
		}
	}
	k := slices.IndexFunc(r.runs, func(c *run) bool { return !c.raisesYield && c.count == len(busy) })
	if k < 0 || r.runs[k] == r.run {
		return
	}
	value, yield, ok := r.record(r.at)
	if c := r.runs[k]; ok && (!c.found || !r.Objective.Better(c.value, value)) {
		c.found, c.value, c.bestYield = true, value, yield
		c.at, c.nodes = slices.Clone(r.at), busy
	}
}
