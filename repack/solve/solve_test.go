package solve_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vjob/repack"
	"vjob/repack/rule"
	"vjob/repack/solve"
	"vjob/tests/pace"
)

// fatal is what tests and properties have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// solved solves a problem and demands of the result what holds for each.
func solved(t fatal, d dice, in *repack.Instance, o solve.Options) *solve.Result {
	t.Helper()
	r, err := solve.Solve(in, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, text(in))
	}
	if r.Verdict != solve.Solved {
		if r.Plan != nil || len(r.Why) == 0 {
			t.Fatalf("verdict %d, plan %v, why %q\n%s", r.Verdict, r.Plan, r.Why, text(in))
		}
		return r
	}
	report, err := repack.Check(in, r.Plan)
	switch {
	case err != nil:
		t.Fatalf("%v\n%s", err, text(in))
	case !report.Valid():
		t.Fatalf("%s\n%s%s", strings.Join(report.Faults, "\n"), text(in), planText(r.Plan))
	case report.Figures != r.Figures:
		t.Fatalf("figures %+v, must be %+v\n%s%s", r.Figures, report.Figures, text(in), planText(r.Plan))
	}
	if w := worth(o.Objective, r.Figures); o.Objective != repack.Moved && (r.Bound > w || r.Proved && r.Bound < w) {
		t.Fatalf("bound %d, objective %d, proved %v\n%s%s", r.Bound, w, r.Proved, text(in), planText(r.Plan))
	}
	for range 4 {
		p := late(d, in, r.Plan)
		if p == nil {
			t.Fatalf("actions wait for each other\n%s%s", text(in), planText(r.Plan))
		}
		if faults := lateFaults(in, p); len(faults) > 0 {
			t.Fatalf("late: %s\n%s%s%s", strings.Join(faults, "\n"), text(in), planText(r.Plan), planText(p))
		}
	}
	return r
}

// quick are the options for small problems.
func quick(d dice) solve.Options {
	return solve.Options{Objective: repack.Objective(d.n(4)), Seed: uint64(d.n(100)), Iterations: 40, Workers: d.n(3), Explain: once(d, 4)}
}

// Every plan is right, whatever the problem: its figures too, and it may be late.
func TestPlansAreRight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawn{t}
		solved(t, d, problem(d, scope{nodes: 5, vms: 7, rules: 3, soft: true, gangs: true, power: true}), quick(d))
	})
}

// With one rule at a time, each of the catalogue.
func TestEachRule(t *testing.T) {
	for _, k := range rule.Catalogue() {
		t.Run(k.Name, func(t *testing.T) {
			for n := range seeds(t) {
				d := seed(n)
				s := scope{nodes: 4, vms: 6, rules: 2, only: k.Name, soft: once(d, 2), gangs: once(d, 4), power: once(d, 3)}
				run(t, n, func(t fatal) { solved(t, d, problem(d, s), quick(d)) })
			}
		})
	}
}

// Actions that take no time, too.
func TestInstantActions(t *testing.T) {
	for n := range 5 * seeds(t) {
		d := seed(n)
		run(t, n, func(t fatal) {
			solved(t, d, problem(d, scope{nodes: 4, vms: 6, rules: 1, power: true, instant: true}), quick(d))
		})
	}
}

// seeds is how many seeds a test tries.
func seeds(t *testing.T) uint64 {
	t.Helper()
	if testing.Short() {
		return 20 / pace.Slower
	}
	return 200 / pace.Slower
}

// run has the message of what fails begin with the seed.
func run(t *testing.T, seed uint64, f func(t fatal)) {
	t.Helper()
	f(named{t, fmt.Sprintf("seed %d: ", seed)})
}

type named struct {
	*testing.T
	name string
}

func (n named) Fatalf(format string, args ...any) {
	n.Helper()
	n.T.Fatalf("%s"+format, append([]any{n.name}, args...)...)
}

// What is proved to be the best is, no plan costs less than the bound, and what is
// said to be impossible is.
func TestAgainstEveryPlan(t *testing.T) {
	undecided := 0
	for n := range 3 * seeds(t) {
		d := seed(n)
		s := scope{nodes: 3, vms: 3, rules: 2, soft: once(d, 2), gangs: once(d, 4), power: once(d, 4), plain: once(d, 2)}
		if once(d, 3) { // those of which the bound makes something of its own
			s.only = []string{"lonely", "spread", "fence", "capacity", "root", "maxOnline"}[d.n(6)]
		}
		in, o := problem(d, s), quick(d)
		o.Objective = repack.Objective(d.n(3))
		run(t, n, func(t fatal) {
			if !against(t, d, in, o) {
				undecided++
			}
		})
	}
	t.Logf("%d undecided", undecided)
}

func against(t fatal, d dice, in *repack.Instance, o solve.Options) (done bool) {
	t.Helper()
	r := solved(t, d, in, o)
	limit := r.Bound
	if r.Verdict == solve.Impossible {
		limit = math.MaxInt64
	}
	p, done := cheaper(in, o.Objective, limit)
	if p != nil {
		t.Fatalf("verdict %d, bound %d, proved %v, but there is\n%s%s%q\n", r.Verdict, r.Bound, r.Proved, planText(p), text(in), r.Why)
	}
	if r.Verdict == solve.Impossible && timeless(in) {
		if p, done = reachable(in); p != nil {
			t.Fatalf("impossible, but there is\n%s%s%q\n", planText(p), text(in), r.Why)
		}
	}
	return done
}
