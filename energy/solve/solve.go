package solve

import (
	"fmt"
	"math"
	"slices"

	"vjob/energy"
	"vjob/energy/bound"
)

// Options say for how long to search. The zero value ends after [DefaultSteps].
type Options struct {
	Seed uint64
	// Steps bounds the search, each of some thousand moves; 0 is no bound if there is a
	// Stop, else DefaultSteps. The same problem, seed and number of steps give the same
	// allocation.
	Steps int
	// Stop is asked now and then whether the time is up; nil is never.
	Stop func() bool
	// Found is told of the value of each better allocation; nil is fine.
	Found func(value float64)
}

// DefaultSteps are about a second.
const DefaultSteps = 5000

// stepMoves are the moves of one step.
const stepMoves = 1000

// Result is the outcome.
type Result struct {
	Allocation *energy.Allocation // the best one found; nil is none
	Measures   energy.Measures
	Value      float64
	Bound      float64 // no allocation is better, if there is one at all
	Proved     bool    // none is better than this one, or, if there is none, none exists
	Steps      int     // taken
	Why        []string
}

// search is a search in progress.
type search struct {
	*model
	o          Options
	whole      *bound.Whole
	stepsLeft  int // steps
	stopped    bool
	streams    uint64
	runs       []*run         // in order of their nodes, those with a fixed yield first
	stepsTried map[string]int // steps by set of nodes, see [search.explore]
	complete   bool           // there is a course for each number of nodes that could be the best
	best       *energy.Allocation
	value      float64
	bound      float64
}

// Solve searches for the best allocation. The error is a problem that is not one, see
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
	if why := p.Misfits(); len(why) > 0 {
		return &Result{Proved: true, Why: why}, nil
	}
	s := &search{model: newModel(p), o: o, whole: bound.NewWhole(p), stepsLeft: o.Steps, stepsTried: map[string]int{}}
	var divisible bool
	if s.bound, divisible = bound.LBH(p); !divisible {
		return &Result{Proved: true, Why: []string{s.infeasibleReason()}}, nil
	}
	s.initialRuns()
	proved := s.rounds()
	r := &Result{Bound: s.bound, Proved: proved, Steps: o.Steps - s.stepsLeft, Allocation: s.best, Value: s.value}
	if s.best != nil {
		r.Measures, _ = p.Check(s.best)
		r.Proved = proved || p.Objective.Gap(s.value, s.bound) <= 1e-9
	} else if r.Why = []string{"no allocation was found: there may be one"}; proved {
		r.Why = []string{s.infeasibleReason()}
	}
	return r, nil
}

// over reports whether the search has to end, and takes a step if not.
func (s *search) over() bool {
	if s.stopped || s.stepsLeft <= 0 || s.o.Stop != nil && s.o.Stop() {
		s.stopped = true
		return true
	}
	s.stepsLeft--
	return false
}

// nextStream is a number that was not drawn before, for a seed of its own.
func (s *search) nextStream() uint64 {
	s.streams++
	return s.streams
}

// record gives an assignment its best yield, and notes it if it is the best so far.
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

// infeasibleReason says why there is no allocation, and what is missing as far as the bounds tell.
func (s *search) infeasibleReason() string {
	if s.Objective == energy.BoundedPower {
		if watts, ok := s.whole.Power(max(s.Floor, minYield)); ok {
			return fmt.Sprintf("the least yield takes at least %.1f W, the budget is %.1f W", watts, float64(s.Budget))
		}
	}
	if most := s.whole.Most(); most > 0 && most < s.Floor {
		return fmt.Sprintf("no yield above %.4f is possible, it shall be %.4f", most, s.Floor)
	}
	return "no allocation exists: all were looked at, or their sums do not fit"
}
