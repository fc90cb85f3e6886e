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
	// MoveCost is what it costs that a job is elsewhere, as power: its energy over the time
	// for which it is to pay.
	MoveCost []energy.Watts
}

// Relocation is where jobs go from a start.
type Relocation struct {
	At    []int
	Value energy.Watts // what all nodes draw, and what the moves cost
	Steps int          // taken
}

// Relocate looks for places of less power near those that jobs have already: what is saved
// has to be more than what the moves cost. The objective is [energy.BoundedYield], and the
// start has room for everybody at the floor. Where nothing better is found the settlement
// is the start. Nodes that draw as much off as idle are on whatever happens.
func Relocate(p *energy.Problem, start Start, o Options) (*Relocation, error) {
	if err := start.check(p); err != nil {
		return nil, err
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	r := newRelocator(p, &start, o)
	r.localSearch(0) // what is plain to see
	r.tryNodes(r.onNodes(), coolingSteps)
	r.localSearch(coolingSteps)
	return &Relocation{At: r.at, Value: energy.Watts(r.value) + p.Standby(), Steps: o.Steps - r.stepsLeft}, nil
}

func (s *Start) check(p *energy.Problem) error {
	switch err := p.Validate(); {
	case err != nil:
		return err
	case p.Objective != energy.BoundedYield:
		return cluster.BadField("problem", p.Objective, energy.BoundedYield.String())
	case len(s.At) != len(p.Jobs) || len(s.MoveCost) != len(p.Jobs):
		return cluster.BadField("the start", len(s.At), "a place and a price for each job")
	}
	a := &energy.Allocation{At: s.At, CPU: make([]float64, len(p.Jobs))}
	for j := range p.Jobs {
		a.CPU[j] = p.Floor * p.Jobs[j].CPU
		if !(s.MoveCost[j] >= 0) || math.IsInf(float64(s.MoveCost[j]), 0) {
			return cluster.BadField("the price of a move", s.MoveCost[j], "0 W or more")
		}
	}
	if _, faults := p.Check(a); len(faults) > 0 {
		return cluster.BadField("the start", faults[0], "room for everybody")
	}
	return nil
}

// relocator is such a search.
type relocator struct {
	anneal
	o         Options
	at        []int // the best places found
	value     float64
	stepsLeft int // steps
}

func newRelocator(p *energy.Problem, start *Start, o Options) *relocator {
	r := &relocator{o: o, stepsLeft: o.Steps, at: slices.Clone(start.At)}
	r.anneal = anneal{state: newState(newModel(p)), rng: rand.NewPCG(o.Seed, 0)}
	r.initial, r.moveCost = start.At, make([]float64, len(p.Jobs)+1)
	for j, w := range start.MoveCost {
		r.moveCost[j] = float64(w)
	}
	r.cpuPenalty = minCPUPenalty * r.price
	r.setOn(r.onNodes())
	r.assign(r.at, p.Floor)
	r.value = r.sum
	r.onBetter = func() { r.value = r.sum; copy(r.at, r.state.at) }
	return r
}

// localSearch goes from set to set of nodes as long as that leads to better places, and looks for
// so many steps on each.
func (r *relocator) localSearch(steps int) {
	for again, looks := true, 0; again && !r.over(); {
		again = false
		for _, set := range r.neighbours() {
			if looks++; looks%setsPerStep == 0 && steps == 0 {
				r.stepsLeft--
			}
			if again = r.tryNodes(set, steps); again || r.over() {
				break
			}
		}
	}
}

// setsPerStep are the sets that take as long as a step when nothing is cooled down.
const setsPerStep = 8

func (r *relocator) over() bool { return r.stepsLeft <= 0 || r.o.Stop != nil && r.o.Stop() }

// onNodes are the nodes that the best places need, and those that are on in any case.
func (r *relocator) onNodes() (on []int) {
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

func (r *relocator) alwaysOn(n int) bool { return r.Nodes[n].Power.Idle <= r.Nodes[n].Power.Standby }

// A visit is cooled down in so many steps; these are the temperatures, in parts of what a
// node's overload costs.
const (
	coolingSteps = 3
	hottest      = 0.008
	coldest      = 0.0002
)

// tryNodes looks for better places on a set of nodes, from the best ones on, in so many steps.
// It reports whether there are.
func (r *relocator) tryNodes(on []int, steps int) bool {
	before := r.value
	r.setOn(on)
	r.assign(r.at, r.Floor)
	if !r.evacuate() {
		return false
	}
	r.setYield(r.Floor)
	r.best = r.value
	if r.overloads == 0 && r.sum < r.best-1e-9 {
		r.best = r.sum
		r.onBetter()
	}
	for k := range steps {
		if r.over() {
			break
		}
		r.stepsLeft--
		r.temperature = r.price * hottest * math.Pow(coldest/hottest, float64(k)/float64(steps-1))
		r.moves(stepMoves)
	}
	r.undoUselessMoves()
	return r.value < before-1e-9
}

// evacuate gives the jobs of nodes that are to go off the cheapest places elsewhere, the
// largest first, be they overloaded then: to set that right is for the search. False: some
// may go nowhere.
func (r *relocator) evacuate() bool {
	var list []int
	for _, n := range r.off {
		list = append(list, r.jobs[n]...)
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(r.cpu[b], r.cpu[a]), cmp.Compare(a, b)) })
	for _, j := range list {
		var best exchange
		least := math.Inf(1)
		for _, n := range r.on {
			x := exchange{jobs: [2]int{j, r.noJob}, others: [2]int{r.noJob, r.noJob}, from: r.state.at[j], to: n}
			if cost := r.evaluate(&x); cost < least && r.allowed(&x) {
				best, least = x, cost
			}
		}
		if math.IsInf(least, 1) {
			return false
		}
		r.evaluate(&best)
		r.apply(&best)
	}
	return true
}

// undoUselessMoves takes back what the best places have moved for nothing.
func (r *relocator) undoUselessMoves() {
	r.setOn(r.onNodes())
	r.assign(r.at, r.Floor)
	for j, n := range r.initial {
		if r.state.at[j] == n || !r.paid[n] {
			continue
		}
		x := exchange{jobs: [2]int{j, r.noJob}, others: [2]int{r.noJob, r.noJob}, from: r.state.at[j], to: n}
		if r.evaluate(&x) <= 0 && !x.fromOver && !x.toOver {
			r.apply(&x)
		}
	}
	if r.overloads == 0 && r.sum < r.value+1e-9 {
		r.value = r.sum
		copy(r.at, r.state.at)
	}
}

// neighbours are the sets of nodes that differ from those of the best places by one that
// goes off, one that comes on, or both, those first that promise most.
func (r *relocator) neighbours() (sets [][]int) {
	on := r.onNodes()
	type set struct {
		nodes []int
		hope  float64
	}
	var list []set
	try := func(leave, come int) {
		hope := r.savingBound(leave, come)
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
	r.setOn(on)
	r.assign(r.at, r.Floor)
	for _, leave := range append([]int{-1}, on...) {
		if leave >= 0 && (r.alwaysOn(leave) || r.pinned(leave)) {
			continue
		}
		for come := -1; come < len(r.Nodes); come++ {
			if come < 0 && leave >= 0 || come >= 0 && !r.paid[come] {
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

// pinned reports whether some job of a node may go nowhere else.
func (r *relocator) pinned(n int) bool {
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

// savingBound is what such a change saves at most, if there is room for everybody wherever it is
// cheapest.
func (r *relocator) savingBound(leave, come int) (watts float64) {
	cheapest := math.Inf(1)
	for n := range r.Nodes {
		if n != leave && (r.paid[n] || n == come) {
			cheapest = min(cheapest, r.minSlope(n))
		}
	}
	if come >= 0 {
		watts -= r.terms[come].idle
		for _, n := range r.on {
			watts += r.load[n] * max(0, r.terms[n].slope-r.minSlope(come))
		}
	}
	if leave < 0 {
		return watts
	}
	watts += r.cost[leave] - r.load[leave]*cheapest
	for _, j := range r.jobs[leave] {
		if r.initial[j] == leave {
			watts -= r.moveCost[j]
		} else {
			watts += r.moveCost[j] // at best it goes back
		}
	}
	return watts
}

// minSlope is the least that need more adds to what a node draws.
func (r *relocator) minSlope(n int) float64 {
	t := &r.terms[n]
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
