package solve

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"vjob/cluster"
	"vjob/energy"
)

// Start is the current assignment, and the cost of leaving it.
type Start struct {
	At []int // the node of each job
	// MoveCost of each job is the energy of its move divided by the time in which it has to pay
	// off.
	MoveCost []energy.Watts
}

// Relocation is the result of [Relocate].
type Relocation struct {
	At    []int
	Value energy.Watts // power of all nodes plus the costs of the moves
	Steps int          // taken
}

// Relocate searches for an assignment near the start with less power: the saving must exceed
// the cost of the moves. The objective is [energy.BoundedYield], and the start must be
// feasible at the floor. If nothing better is found, the result is the start. Nodes with
// standby power of at least their idle power always count as on. It returns an error if the
// problem or the start is invalid.
func Relocate(p *energy.Problem, start Start, o Options) (*Relocation, error) {
	if err := start.check(p); err != nil {
		return nil, err
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	r := newRelocator(p, &start, o)
	r.localSearch(0) // first the changes that need no annealing
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
		return cluster.BadField("the start", len(s.At), "a node and a move cost for each job")
	}
	a := &energy.Allocation{At: s.At, CPU: make([]float64, len(p.Jobs))}
	for j := range p.Jobs {
		a.CPU[j] = p.Floor * p.Jobs[j].CPU
		if !(s.MoveCost[j] >= 0) || math.IsInf(float64(s.MoveCost[j]), 0) {
			return cluster.BadField("the cost of a move", s.MoveCost[j], "0 W or more")
		}
	}
	if _, faults := p.Check(a); len(faults) > 0 {
		return cluster.BadField("the start", faults[0], "a feasible start")
	}
	return nil
}

// relocator is the state of [Relocate].
type relocator struct {
	anneal
	o         Options
	at        []int // the best assignment found
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

// localSearch moves from set to set of nodes while that improves the assignment, and anneals
// each for the given number of steps.
func (r *relocator) localSearch(steps int) {
	for again, looks := true, 0; again && !r.over(); {
		again = false
		for _, set := range r.neighbours() {
			looks++
			if looks%setsPerStep == 0 && steps == 0 {
				r.stepsLeft--
			}
			again = r.tryNodes(set, steps)
			if again || r.over() {
				break
			}
		}
	}
}

// setsPerStep is the number of sets that take as long as a step if they are not annealed.
const setsPerStep = 8

func (r *relocator) over() bool { return r.stepsLeft <= 0 || r.o.Stop != nil && r.o.Stop() }

// onNodes returns the nodes that the best assignment uses, and those that are always on.
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

// The annealing of a set of nodes: its steps, and the temperatures as a fraction of the penalty
// of an overloaded node.
const (
	coolingSteps = 3
	hottest      = 0.008
	coldest      = 0.0002
)

// tryNodes searches for an improvement on a set of nodes, from the best assignment on. It
// reports whether there is one.
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

// evacuate moves the jobs of nodes that go off to the cheapest nodes left, the largest first,
// even if that overloads them: annealing resolves it. It returns false if a job may not run on
// any of them.
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

// undoUselessMoves takes back the moves of the best assignment that save nothing.
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

// neighbours returns the sets of nodes that differ from the best one by one removed, one
// added, or both, the largest possible saving first.
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

// pinned reports whether some job of a node may not run elsewhere.
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

// savingBound bounds what such a change saves: as if the cheapest nodes had room for all jobs.
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
			watts += r.moveCost[j] // at best it returns
		}
	}
	return watts
}

// minSlope is the smallest slope of the power of a node, in watts per unit of need.
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
