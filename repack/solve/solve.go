package solve

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/proof"
)

// Options say what to search for and for how long. The zero value ends after
// [DefaultIterations].
type Options struct {
	Objective repack.Objective
	Seed      uint64
	// Iterations bounds the improvement: 0 is no bound if there is a Stop, else
	// [DefaultIterations]; less is no improvement of the first plan.
	Iterations int
	// Despair bounds the rounds while there is no plan at all; 0 is no bound of their own.
	Despair int
	// Stop is asked now and then whether the time is up; nil is never. What was
	// found by then is returned. The first plan takes the time that it takes.
	Stop func() bool
	// Abort ends a search for the first plan, too; nil is never.
	Abort func() bool
	// Found is told of each better plan, the first one included, and of the bound
	// below which there is none; nil is fine.
	Found func(f repack.Figures, bound int64)
	// Explain has it looked for changes with which there would be a plan, if there is
	// none; that takes some time.
	Explain bool
	// Initial returns the node of each VM to start from, or nil. The plan then leaves VMs
	// on no other nodes; if there is no such plan, the verdict is [Exhausted].
	Initial func(p Placement) []int
	// Workers search in parallel, each with a seed of its own; 0 is one.
	Workers int
}

// DefaultIterations is some seconds of improvement on a large instance.
const DefaultIterations = 16 * roundsPerMeeting

// Verdict is what a search ends with.
type Verdict uint8

// The verdicts. Three ways of having no plan are three different answers.
const (
	Solved     Verdict = iota
	Impossible         // proved: no plan exists
	OutOfTime          // none was found before the time was up
	Exhausted          // none was found by any of the searches, and nothing was proved
)

// Result is the outcome.
type Result struct {
	Verdict Verdict
	Plan    *repack.Plan // the best one found
	Figures repack.Figures
	Bound   int64 // no plan has an objective below it
	Proved  bool  // none better exists
	Rounds  int   // of the improvement
	// Why has, if there is no plan, what was found to be in conflict, in words.
	Why []string
}

// Solve searches for a plan. The error is an instance that is not one, see
// [repack.Instance.Validate].
func Solve(in *repack.Instance, o Options) (*Result, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	amended, err := in.Amended()
	if err != nil {
		return &Result{Verdict: Impossible, Why: []string{err.Error()}}, nil //nolint:nilerr // a contradiction is an answer
	}
	m := problem.New(amended, o.Objective)
	if why := proof.Infeasible(m); len(why) > 0 {
		return &Result{Verdict: Impossible, Why: why}, nil
	}
	if !o.Explain { // for those who ask, a search says more
		if why := proof.Unpackable(m); len(why) > 0 {
			return &Result{Verdict: Impossible, Why: why}, nil
		}
	}
	if o.Initial != nil {
		return startAt(amended, o), nil
	}
	p := newParty(amended, o, m)
	p.search()
	if p.best != nil {
		return p.result(), nil
	}
	return p.giveUp(), nil
}
