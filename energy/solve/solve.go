package solve

import (
	"fmt"
	"math"
	"slices"

	"vjob/energy"
)

// Options limit a search. The zero value ends it after [DefaultSteps].
type Options struct {
	Seed uint64
	// Steps limits the search; a step is a thousand moves. 0 means no limit if Stop is set,
	// else DefaultSteps. The same problem, seed and number of steps give the same allocation.
	Steps int
	// Stop is polled during the search; true ends it. May be nil.
	Stop func() bool
	// Found is called with the value of each improvement. May be nil.
	Found func(value float64)
}

// DefaultSteps take about a second.
const DefaultSteps = 5000

// stepMoves is the number of moves in one step.
const stepMoves = 1000

// Result is the outcome of a search.
type Result struct {
	Allocation *energy.Allocation // the best one found; nil if none was found
	Measures   energy.Measures
	Value      float64
	Bound      float64  // no allocation has a better value
	Proved     bool     // the allocation is optimal, or the problem is infeasible
	Steps      int      // taken
	Reasons    []string // why there is no allocation
}

// search is the state of a search.
type search struct {
	*model
	o          Options
	whole      *Whole
	stepsLeft  int // steps
	stopped    bool
	streams    uint64
	runs       []*run         // by number of nodes, those with a fixed yield first
	stepsTried map[string]int // by set of nodes, see [search.explore]
	complete   bool           // runs has every number of nodes that can be optimal
	best       *energy.Allocation
	value      float64
	bound      float64
}

// Solve searches for the best allocation. It returns an error if the problem is invalid, see
// [energy.Problem.Validate].
func Solve(p *energy.Problem, o Options) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
		if o.Stop != nil {
			o.Steps = math.MaxInt
		}
	}
	if why := p.Unplaceable(); len(why) > 0 {
		return &Result{Proved: true, Reasons: why}, nil
	}
	s := &search{model: newModel(p), o: o, whole: NewWhole(p), stepsLeft: o.Steps, stepsTried: map[string]int{}}
	var divisible bool
	if s.bound, divisible = LBHBound(p); !divisible {
		return &Result{Proved: true, Reasons: []string{s.infeasibleReason()}}, nil
	}
	s.initialRuns()
	proved := s.rounds()
	r := &Result{Bound: s.bound, Proved: proved, Steps: o.Steps - s.stepsLeft, Allocation: s.best, Value: s.value}
	switch {
	case s.best != nil:
		r.Measures, _ = p.Check(s.best)
		r.Proved = proved || p.Objective.Gap(s.value, s.bound) <= 1e-9
	case proved:
		r.Reasons = []string{s.infeasibleReason()}
	default:
		r.Reasons = []string{"no allocation was found, but the problem may be feasible"}
	}
	return r, nil
}

// over reports whether the search must end; otherwise it counts one step.
func (s *search) over() bool {
	if s.stopped || s.stepsLeft <= 0 || s.o.Stop != nil && s.o.Stop() {
		s.stopped = true
		return true
	}
	s.stepsLeft--
	return false
}

// nextStream returns the number of an unused random stream.
func (s *search) nextStream() uint64 {
	s.streams++
	return s.streams
}

// record gives an assignment its best yield and keeps it if it improves on the best
// allocation.
func (s *search) record(at []int) (value, yield float64, ok bool) {
	a, ok := s.Equal(at)
	if !ok {
		return 0, 0, false
	}
	m, faults := s.Check(a)
	if len(faults) > 0 {
		return 0, 0, false
	}
	value = s.Objective.Value(m)
	if s.best == nil || s.Objective.Better(value, s.value) {
		a.At = slices.Clone(at)
		s.best, s.value = a, value
		if s.o.Found != nil {
			s.o.Found(value)
		}
	}
	return value, m.Yield, true
}

// infeasibleReason says why there is no allocation, and what is missing if the bounds tell.
func (s *search) infeasibleReason() string {
	if s.Objective == energy.BoundedPower {
		if watts, ok := s.whole.Power(max(s.Floor, minYield)); ok {
			return fmt.Sprintf("the least yield takes at least %.1f W, the budget is %.1f W", watts, float64(s.Budget))
		}
	}
	if most := s.whole.most(); most > 0 && most < s.Floor {
		return fmt.Sprintf("no yield above %.4f is possible, the floor is %.4f", most, s.Floor)
	}
	return "infeasible: no assignment fits"
}
