package solve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"vjob/cluster"
	"vjob/energy"
)

// Start is where jobs are already, and what it costs to move them.
type Start struct {
	At []int // the node of each job
	// Leave is what it costs that a job is elsewhere, as power: its energy over the time
	// for which it is to pay.
	Leave []energy.Watts
}

// Settlement is where jobs go from a start.
type Settlement struct {
	At    []int
	Value energy.Watts // what all nodes draw, and what the moves cost
	Steps int          // taken
}

// Resettle looks for places of less power near those that jobs have already: what is saved
// has to be more than what the moves cost. The objective is [energy.BoundedYield], and the
// start has room for everybody at the floor. Where nothing better is found the settlement
// is the start. Nodes that draw as much off as idle are on whatever happens.
func Resettle(p *energy.Problem, start Start, o Options) (*Settlement, error) {
	if err := start.check(p); err != nil {
		return nil, err
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	r := newResettling(p, &start, o)
	r.wander(0) // what is plain to see
	r.visit(r.lights(), visitSteps)
	r.wander(visitSteps)
	return &Settlement{At: r.at, Value: energy.Watts(r.value) + p.Standby(), Steps: o.Steps - r.left}, nil
}

func (s *Start) check(p *energy.Problem) error {
	switch err := p.Validate(); {
	case err != nil:
		return err
	case p.Objective != energy.BoundedYield:
		return cluster.BadField("problem", p.Objective, energy.BoundedYield.String())
	case len(s.At) != len(p.Jobs) || len(s.Leave) != len(p.Jobs):
		return cluster.BadField("the start", len(s.At), "a place and a price for each job")
	}
	a := &energy.Allocation{At: s.At, CPU: make([]float64, len(p.Jobs))}
	for j := range p.Jobs {
		a.CPU[j] = p.Floor * p.Jobs[j].CPU
		if !(s.Leave[j] >= 0) || math.IsInf(float64(s.Leave[j]), 0) {
			return cluster.BadField("the price of a move", s.Leave[j], "0 W or more")
		}
	}
	if _, faults := p.Check(a); len(faults) > 0 {
		return cluster.BadField("the start", faults[0], "room for everybody")
	}
	return nil
}

// resettling is such a search.
type resettling struct {
	anneal
	o     Options
	at    []int // the best places found
	value float64
	left  int // steps
}

func newResettling(p *energy.Problem, start *Start, o Options) *resettling {
	r := &resettling{o: o, left: o.Steps, at: slices.Clone(start.At)}
	r.anneal = anneal{state: newState(newModel(p)), rng: rand.NewPCG(o.Seed, 0)}
	r.home, r.leave = start.At, make([]float64, len(p.Jobs)+1)
	for j, w := range start.Leave {
		r.leave[j] = float64(w)
	}
	r.graze = graze * r.price
	r.open(r.lights())
	r.assign(r.at, p.Floor)
	r.value = r.sum
	r.found = func() { r.value = r.sum; copy(r.at, r.state.at) }
	return r
}

// wander goes from set to set of nodes as long as that leads to better places, and looks for
// so many steps on each.
func (r *resettling) wander(steps int) {
	for again, looks := true, 0; again && !r.over(); {
		again = false
		for _, set := range r.neighbours() {
			if looks++; looks%stepLooks == 0 && steps == 0 {
				r.left--
			}
			if again = r.visit(set, steps); again || r.over() {
				break
			}
		}
	}
}

// stepLooks are the sets that take as long as a step when nothing is cooled down.
const stepLooks = 8

func (r *resettling) over() bool { return r.left <= 0 || r.o.Stop != nil && r.o.Stop() }

// lights are the nodes that the best places need, and those that are on in any case.
func (r *resettling) lights() (on []int) {
	used := make([]bool, len(r.Nodes))
	for _, n := range r.at {
		used[n] = true
	}
	for n := range r.Nodes {
		if used[n] || r.alwaysOn(n) {
			on = append(on, n)
		}
	}
	return on
}

func (r *resettling) alwaysOn(n int) bool { return r.Nodes[n].Power.Idle <= r.Nodes[n].Power.Standby }

// A visit is cooled down in so many steps; these are the temperatures, in parts of what a
// node's overload costs.
const (
	visitSteps = 3
	visitHot   = 0.008
	visitCold  = 0.0002
)

// visit looks for better places on a set of nodes, from the best ones on, in so many steps.
// It reports whether there are.
func (r *resettling) visit(on []int, steps int) bool {
	before := r.value
	r.open(on)
	r.assign(r.at, r.Floor)
	if !r.rehouse() {
		return false
	}
	r.rate(r.Floor)
	r.best = r.value
	if r.full == 0 && r.sum < r.best-1e-9 {
		r.best = r.sum
		r.found()
	}
	for k := range steps {
		if r.over() {
			break
		}
		r.left--
		r.heat = r.price * visitHot * math.Pow(visitCold/visitHot, float64(k)/float64(steps-1))
		r.moves(stepMoves)
	}
	r.goHome()
	return r.value < before-1e-9
}

// rehouse gives the jobs of nodes that are to go off the cheapest places elsewhere, the
// largest first, be they overloaded then: to set that right is for the search. False: some
// may go nowhere.
func (r *resettling) rehouse() bool {
	var list []int
	for _, n := range r.off {
		list = append(list, r.jobs[n]...)
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(r.cpu[b], r.cpu[a]), cmp.Compare(a, b)) })
	for _, j := range list {
		var best exchange
		least := math.Inf(1)
		for _, n := range r.on {
			x := exchange{jobs: [2]int{j, r.none}, others: [2]int{r.none, r.none}, from: r.state.at[j], to: n}
			if cost := r.weigh(&x); cost < least && r.allowed(&x) {
				best, least = x, cost
			}
		}
		if math.IsInf(least, 1) {
			return false
		}
		r.weigh(&best)
		r.do(&best)
	}
	return true
}

// goHome takes back what the best places have moved for nothing.
func (r *resettling) goHome() {
	r.open(r.lights())
	r.assign(r.at, r.Floor)
	for j, n := range r.home {
		if r.state.at[j] == n || !r.lit[n] {
			continue
		}
		x := exchange{jobs: [2]int{j, r.none}, others: [2]int{r.none, r.none}, from: r.state.at[j], to: n}
		if r.weigh(&x) <= 0 && !x.hereO && !x.thereO {
			r.do(&x)
		}
	}
	if r.full == 0 && r.sum < r.value+1e-9 {
		r.value = r.sum
		copy(r.at, r.state.at)
	}
}

// neighbours are the sets of nodes that differ from those of the best places by one that
// goes off, one that comes on, or both, those first that promise most.
func (r *resettling) neighbours() (sets [][]int) {
	on := r.lights()
	type set struct {
		nodes []int
		hope  float64
	}
	var list []set
	try := func(leave, come int) {
		hope := r.hope(leave, come)
		if hope <= 0 {
			return
		}
		nodes := slices.DeleteFunc(slices.Clone(on), func(n int) bool { return n == leave })
		if come >= 0 {
			at, _ := slices.BinarySearch(nodes, come)
			nodes = slices.Insert(nodes, at, come)
		}
		if len(nodes) > 0 {
			list = append(list, set{nodes, hope})
		}
	}
	r.open(on)
	r.assign(r.at, r.Floor)
	for _, leave := range append([]int{-1}, on...) {
		if leave >= 0 && (r.alwaysOn(leave) || r.stuck(leave)) {
			continue
		}
		for come := -1; come < len(r.Nodes); come++ {
			if come < 0 && leave >= 0 || come >= 0 && !r.lit[come] {
				try(leave, come)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b set) int { return cmp.Compare(b.hope, a.hope) })
	for _, s := range list {
		sets = append(sets, s.nodes)
	}
	return sets
}

// stuck reports whether some job of a node may go nowhere else.
func (r *resettling) stuck(n int) bool {
	if r.May == nil {
		return false
	}
	return slices.ContainsFunc(r.jobs[n], func(j int) bool {
		for m := range r.Nodes {
			if m != n && r.May(j, m) {
				return false
			}
		}
		return true
	})
}

// hope is what such a change saves at most, if there is room for everybody wherever it is
// cheapest.
func (r *resettling) hope(leave, come int) (watts float64) {
	cheapest := math.Inf(1)
	for n := range r.Nodes {
		if n != leave && (r.lit[n] || n == come) {
			cheapest = min(cheapest, r.flattest(n))
		}
	}
	if come >= 0 {
		watts -= r.sites[come].idle
		for _, n := range r.on {
			watts += r.load[n] * max(0, r.sites[n].slope-r.flattest(come))
		}
	}
	if leave < 0 {
		return watts
	}
	watts += r.cost[leave] - r.load[leave]*cheapest
	for _, j := range r.jobs[leave] {
		if r.home[j] == leave {
			watts -= r.leave[j]
		} else {
			watts += r.leave[j] // at best it goes back
		}
	}
	return watts
}

// flattest is the least that need more adds to what a node draws.
func (r *resettling) flattest(n int) float64 {
	t := &r.sites[n]
	if t.curve == nil {
		return t.slope
	}
	least, curve := math.Inf(1), t.curve.Curve()
	for i, b := range curve[1:] {
		a := curve[i]
		least = min(least, float64(b.Power-a.Power)/(b.Load-a.Load))
	}
	return least * r.yield / t.cpu
}
