package solve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"vjob/energy"
)

// course is one way to go on: with so many nodes, at a yield that is fixed or that climbs
// whenever it is reached.
type course struct {
	count   int
	climbs  bool
	yield   float64 // that is tried for
	bound   float64 // on the value that can be had on this course
	at      []int   // where it stands; nil at first
	on      []int   // the nodes that may have jobs
	value   float64 // the best on this course
	reached float64 // the yield that has it
	found   bool    // there is one
	tried   int     // steps of the longest run
	runs    int
	spread  float64 // by how much more than the best the yield is that is tried for
}

const (
	firstSpread = 0.004
	leastSpread = 0.0002
	// relief is how much more than what is overloaded has to go: not all room can be used.
	relief = 1.5
	// rigidity is how much dearer rigid resources are while the yield is still too high:
	// CPU gives way in the end, they do not.
	rigidity = 2
)

// run is an annealing on a course in progress.
type run struct {
	*search
	anneal
	c       *course
	arrived bool  // the yield that is tried for was reached
	least   []int // the cheapest assignment without overload at a fixed yield
}

// sail follows a course for so many steps.
func (s *search) sail(c *course, steps int) {
	r := &run{search: s, c: c}
	r.anneal = anneal{state: newState(s.model), rng: rand.NewPCG(s.o.Seed, s.next()), best: math.Inf(1)}
	before := c.value
	had := c.found
	r.start()
	hot, cold := r.heats()
	for k := range steps {
		if s.over() {
			break
		}
		r.heat = hot * math.Pow(cold/hot, float64(k)/float64(max(1, steps-1)))
		if c.climbs && !r.arrived && (k == steps*5/10 || k == steps*7/10 || k == steps*9/10) {
			r.relent()
		}
		r.moves(stepMoves)
		if k%8 == 7 || k == steps-1 || steps < 64 { // it takes as long as some moves
			r.rate(r.yield) // sums drift
			r.weighIn()
		}
	}
	r.finish()
	c.runs++
	c.tried = max(c.tried, steps)
	better := c.found && (!had || s.Objective.Better(c.value, before))
	if !better && c.spread > leastSpread {
		c.spread /= 2
	}
}

// heats are the temperatures at the start and the end of a run, in watts.
func (r *run) heats() (hot, cold float64) {
	const usual, coldest = 250, 0.1
	scale := r.price / usual
	if r.c.runs == 0 {
		return 8 * scale, coldest * scale
	}
	return []float64{8, 4, 12}[r.c.runs%3] * scale, coldest * scale
}

// start takes up the assignment of the run before, or makes one.
func (r *run) start() {
	r.graze = graze * r.price
	if r.c.climbs {
		r.graze /= 2
		for k := range r.state.scarce {
			r.state.scarce[k] *= rigidity
		}
	}
	r.open(r.chosen())
	if r.c.at == nil {
		r.c.at = r.place()
	}
	r.assign(r.c.at, r.c.yield)
	if r.c.climbs {
		r.anneal.best = r.ceiling()
	}
	r.found = r.reached
}

// ceiling is the cost that is good enough for a course that climbs.
func (r *run) ceiling() float64 {
	if r.Objective == energy.BoundedPower {
		return float64(r.Budget - r.Standby())
	}
	return math.Inf(1)
}

// chosen are the nodes to begin with: those that are worth most.
func (r *run) chosen() []int {
	if r.c.on != nil {
		return r.c.on
	}
	worth := r.whole.Profits(r.c.yield)
	order := make([]int, len(r.Nodes))
	for n := range order {
		order[n] = n
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	return order[:min(r.c.count, len(order))]
}

// forbidding is more than any power that could be saved.
const forbidding = 1e9

// place puts one job after another, the largest first, to where it costs least.
func (r *run) place() []int {
	order := make([]int, r.none)
	size := make([]float64, r.none)
	for j := range order {
		order[j] = j
		size[j] = r.c.yield * r.cpu[j] / r.Nodes[0].CPU
		for d := range r.dims {
			size[j] = max(size[j], r.need[j*r.dims+d]/max(r.room[d], 1e-12))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	r.rate(r.c.yield)
	s := r.state
	clear(s.load)
	clear(s.used)
	for _, n := range r.on {
		s.cost[n], _ = s.priced(n, 0, 0)
	}
	at := make([]int, s.none)
	for _, j := range order {
		best, least := r.on[0], math.Inf(1)
		copy(s.delta, s.need[j*s.dims:])
		for _, n := range r.on {
			cost, over := s.priced(n, s.load[n]+s.cpu[j], 1)
			cost -= s.cost[n]
			if over || s.May != nil && !s.May(j, n) {
				cost += forbidding
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
		s.cost[best], _ = s.priced(best, s.load[best], 0)
	}
	return at
}

// reached is told of a state without overload that is cheap enough: a fixed yield keeps
// it, one that climbs goes on from there.
func (r *run) reached() {
	if !r.c.climbs {
		r.least = append(r.least[:0], r.at...)
		return
	}
	r.arrived = true
	r.judge(r.at)
	r.climb()
}

// relent lowers the yield that is tried for to what seems within reach: by what is too
// much for the nodes, or for the budget.
func (r *run) relent() {
	over, dynamic := 0.0, 0.0
	for n := range r.Nodes {
		over += max(0, r.load[n]-r.sites[n].limit)
		dynamic += r.sites[n].slope * r.load[n]
	}
	share := relief * over / r.demand
	if dynamic > 0 {
		share = max(share, (r.sum-r.ceiling())/dynamic)
	}
	if share > 0 {
		r.rate(r.yield * (1 - min(share, 0.3)))
	}
}

// climb sets the next yield to try for.
func (r *run) climb() {
	y := min(r.c.reached*(1+r.c.spread), r.whole.Most())
	r.anneal.best = r.ceiling()
	if y <= r.yield {
		r.anneal.best = min(r.anneal.best, r.sum) // it is at the top: cheaper is all that is left
		return
	}
	r.rate(y)
}

// weighIn judges the state between two steps of a course that climbs: its own best yield
// may be good, though not the one that was tried for.
func (r *run) weighIn() {
	if !r.c.climbs {
		return
	}
	for n := range r.Nodes {
		for d := range r.dims {
			if k := n*r.dims + d; r.used[k] > r.room[k]*(1+tiny) {
				return
			}
		}
	}
	if r.judge(r.at) {
		r.climb()
	}
}

// judge notes an assignment if it is better than what the course had.
func (r *run) judge(at []int) bool {
	value, yield, ok := r.note(at)
	if !ok || r.c.found && !r.Objective.Better(value, r.c.value) {
		return false
	}
	r.c.found, r.c.value, r.c.reached = true, value, yield
	return true
}

// finish leaves the course where a next run shall take it up: where this one ended, and
// if it climbs, at a yield a bit nearer to what was reached.
func (r *run) finish() {
	if r.least != nil {
		r.judge(r.least)
	} else if !r.c.climbs && r.full == 0 {
		r.judge(r.at)
	}
	if r.c.climbs {
		r.level()
	}
	r.weighIn()
	if !r.c.climbs && r.full == 0 {
		r.narrow()
	}
	r.c.at, r.c.on = append(r.c.at[:0], r.at...), r.on
	if r.c.climbs && r.c.found {
		reached := r.c.reached * (1 + r.c.spread)
		r.c.yield = max(reached, min(r.yield, (r.yield+reached)/2))
		r.c.yield = min(r.c.yield, r.whole.Most())
	}
}

// narrow hands an assignment that leaves nodes empty over to the course with so many less.
func (r *run) narrow() {
	var busy []int
	for _, n := range r.on {
		if len(r.jobs[n]) > 0 {
			busy = append(busy, n)
		}
	}
	k := slices.IndexFunc(r.courses, func(c *course) bool { return !c.climbs && c.count == len(busy) })
	if k < 0 || r.courses[k] == r.c {
		return
	}
	value, yield, ok := r.note(r.at)
	if c := r.courses[k]; ok && (!c.found || !r.Objective.Better(c.value, value)) {
		c.found, c.value, c.reached = true, value, yield
		c.at, c.on = slices.Clone(r.at), busy
	}
}
