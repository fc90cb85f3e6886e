package tiny_test

import (
	"flag"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"vjob/repack"
	"vjob/repack/solve"
	"vjob/tests/brute"
	"vjob/tests/pace"
	"vjob/tests/tiny"
)

var (
	first    = flag.Uint64("first", 0, "the first seed")
	problems = flag.Uint64("problems", 400, "how many problems of each family")
	nodes    = flag.Int("nodes", 4, "nodes of a problem, at most")
	vms      = flag.Int("vms", 6, "VMs of a problem, at most")
	states   = flag.Int("states", 1500, "states that the exhaustive search looks at for one problem, at most")
	count    = flag.Bool("count", false, "count what the planner misses, instead of failing")
)

// The planner decides tiny problems: its plans are the best, and what has no plan is recognised. No
// proof is ever wrong. For more and larger problems: -problems=4000 -nodes=6 -vms=9 -states=20000.
func TestAgainstExhaustiveSearch(t *testing.T) {
	for _, f := range tiny.Families() {
		t.Run(f.String(), func(t *testing.T) {
			c := &score{missed: map[string][]uint64{}}
			var group sync.WaitGroup
			for i := range uint64(2) {
				group.Go(func() {
					for seed := *first + i; seed < *first+*problems/pace.Slower; seed += 2 {
						c.try(t, f, seed)
					}
				})
			}
			group.Wait()
			t.Logf("seeds %d to %d: %d plans, %d of them proved to be the best, %d impossible; %d too large for the exhaustive search; not the best by up to %.0f %%; longest %v (seed %d)",
				*first, *first+*problems/pace.Slower-1, c.solved, c.proved, c.impossible, c.open, 100*c.excess, c.longest.Round(time.Millisecond), c.slowest)
			for _, sort := range slices.Sorted(maps.Keys(c.missed)) {
				t.Logf("%d %s: seeds %d", len(c.missed[sort]), sort, c.missed[sort][:min(8, len(c.missed[sort]))])
			}
		})
	}
}

// score counts how the planner does.
type score struct {
	sync.Mutex
	solved, proved, impossible, open int

	missed  map[string][]uint64 // seeds
	excess  float64
	longest time.Duration
	slowest uint64 // seed
}

func (c *score) try(t *testing.T, f tiny.Family, seed uint64) {
	t.Helper()
	in := tiny.New(tiny.Options{Family: f, Seed: seed, Nodes: *nodes, VMs: *vms})
	start := time.Now()
	r, err := solve.Solve(in, solve.Options{Seed: 1})
	took := time.Since(start)
	if err != nil {
		t.Errorf("%s, seed %d: %v", f, seed, err)
		return
	}
	cost := brute.NoLimit
	if r.Verdict == solve.Solved {
		cost = r.Figures.Objective + r.Figures.Penalty
		if report, err := repack.Check(in, r.Plan); err != nil || !report.Valid() {
			t.Errorf("%s, seed %d: %v", f, seed, report.Faults)
		}
	}
	a := reference(in, cost)
	c.Lock()
	defer c.Unlock()
	if took > c.longest {
		c.longest, c.slowest = took, seed
	}
	c.count(r)
	miss := func(sort string) {
		c.missed[sort] = append(c.missed[sort], seed)
		if !*count && f < tiny.Soft { // soft rules on whole plans are not always decided
			t.Errorf("%s, seed %d: %s", f, seed, sort)
		}
	}
	switch {
	case !a.Done:
		c.open++
	case a.Plan != nil && (r.Verdict == solve.Impossible || r.Proved):
		t.Errorf("%s, seed %d: verdict %d, proved %d, but there is a plan for %d", f, seed, r.Verdict, cost, a.Cost)
	case a.Plan != nil && r.Verdict == solve.Solved:
		miss("plans that are not the best")
		c.excess = max(c.excess, float64(cost)/float64(max(1, a.Cost))-1)
	case a.Plan != nil:
		miss("solvable problems given up")
	case r.Verdict > solve.Impossible:
		miss("impossible problems not recognised")
	}
}

func (c *score) count(r *solve.Result) {
	switch {
	case r.Verdict == solve.Impossible:
		c.impossible++
	case r.Proved:
		c.proved++
		fallthrough
	case r.Verdict == solve.Solved:
		c.solved++
	}
}

// reference looks for a plan that costs less, or for any plan.
func reference(in *repack.Instance, cost int64) brute.Answer {
	if cost == brute.NoLimit && brute.Timeless(in) {
		return brute.Reachable(in, *states)
	}
	return brute.Cheapest(in, cost, *states)
}
