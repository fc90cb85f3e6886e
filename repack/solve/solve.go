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
	// Iterations bounds the rounds of improvement. 0 means no bound if Stop is set, and
	// [DefaultIterations] otherwise; negative means the first plan is not improved.
	Iterations int
	// Despair bounds the rounds without any plan; 0 means no bound.
	Despair int
	// Patience is how many rounds in a row may find no better plan; 0 means no bound.
	Patience int
	// Stop reports whether the time is up; may be nil. The best plan so far is returned. Stop
	// does not end the search for a first plan.
	Stop func() bool
	// Abort ends the search for a first plan, too; may be nil.
	Abort func() bool
	// Found receives the figures of each better plan, including the first, and a lower bound
	// of the objective; may be nil.
	Found func(f repack.Figures, bound int64)
	// Explain looks for changes that would make a plan possible, if there is no plan; that
	// takes some time.
	Explain bool
	// Initial returns the node of each VM to start from, or nil. The plan then leaves VMs
	// on no other nodes; if there is no such plan, the verdict is [Exhausted].
	Initial func(p Placement) []int
	// Workers is the number of parallel searches, each with a seed of its own; 0 is one.
	Workers int
}

// DefaultIterations takes some seconds on a large instance.
const DefaultIterations = 16 * roundsPerMeeting

// Verdict is how a search ends.
type Verdict uint8

// The verdicts. There are three different reasons for having no plan.
const (
	Solved     Verdict = iota
	Impossible         // proved: no plan exists
	OutOfTime          // the time was up before a plan was found
	Exhausted          // the searches found no plan and proved nothing
)

// Result is the result of a search.
type Result struct {
	Verdict Verdict
	Plan    *repack.Plan // the best one found
	Figures repack.Figures
	Bound   int64 // no plan has an objective below it
	Proved  bool  // no plan is better
	Rounds  int   // of the improvement
	// Why says in words what was in conflict, if there is no plan.
	Why []string
}

// Solve searches for a plan. The error is an instance that is not valid, see
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
	if !o.Explain { // with Explain, a search says more
		if why := proof.Unpackable(m); len(why) > 0 {
			return &Result{Verdict: Impossible, Why: why}, nil
		}
	}
	if o.Initial != nil {
		return startAt(amended, o), nil
	}
	p := newPortfolio(amended, o, m)
	p.search()
	if p.best != nil {
		return p.result(), nil
	}
	return p.giveUp(), nil
}
