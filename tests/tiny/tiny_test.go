package tiny_test

import (
	"flag"
	"fmt"
	"math"
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
	states   = flag.Int("states", 20_000, "states that the exhaustive search looks at for one problem, at most")
)

// tally counts how the planner does on a family.
type tally struct {
	sync.Mutex
	solved, proved, impossible             int
	undecided, givenUp, worse, much, blind int
	factor                                 float64
	longest                                time.Duration
	longestSeed                            uint64
	examples                               map[string][]uint64
}

func (c *tally) example(sort string, seed uint64) {
	if len(c.examples[sort]) < 8 {
		c.examples[sort] = append(c.examples[sort], seed)
	}
}

// The planner decides every tiny problem: its plans are the best, and what has no plan is recognised.
func TestAgainstExhaustiveSearch(t *testing.T) {
	for _, f := range tiny.Families() {
		t.Run(f.String(), func(t *testing.T) {
			c := &tally{examples: map[string][]uint64{}}
			var group sync.WaitGroup
			for i := range uint64(2) {
				group.Go(func() {
					for seed := *first + i; seed < *first+*problems/pace.Slower; seed += 2 {
						c.try(t, f, seed)
					}
				})
			}
			group.Wait()
			t.Logf("%d to %d: solved %d, proved %d, impossible %d, undecided %d; given up %d, not recognised %d, not the best %d (%d by 5 %%, factor %.2f); longest %v (%d)",
				*first, *first+*problems-1, c.solved, c.proved, c.impossible, c.undecided, c.givenUp, c.blind, c.worse, c.much, c.factor, c.longest.Round(time.Millisecond), c.longestSeed)
			t.Log(c.examples)
		})
	}
}

func (c *tally) try(t *testing.T, f tiny.Family, seed uint64) {
	in := tiny.New(tiny.Options{Family: f, Seed: seed, Nodes: *nodes, VMs: *vms})
	name := fmt.Sprintf("%s %d", f, seed)
	start := time.Now()
	r, err := solve.Solve(in, solve.Options{Seed: 1, Iterations: 1024})
	took := time.Since(start)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	c.Lock()
	defer c.Unlock()
	if took > c.longest {
		c.longest, c.longestSeed = took, seed
	}
	limit := int64(math.MaxInt64)
	switch r.Verdict {
	case solve.Solved:
		c.solved++
		if r.Proved {
			c.proved++
		}
		limit = r.Figures.Objective + r.Figures.Penalty
		if report, err := repack.Check(in, r.Plan); err != nil || !report.Valid() {
			t.Errorf("%s: %v", name, report.Faults)
		}
	case solve.Impossible:
		c.impossible++
	}
	c.Unlock()
	var a brute.Answer
	if r.Verdict != solve.Solved && brute.Timeless(in) {
		a = brute.Reachable(in, *states)
	} else {
		a = brute.Cheapest(in, min(limit, brute.NoLimit), *states/2)
	}
	c.Lock()
	switch {
	case !a.Done:
		c.undecided++
		c.example("undecided", seed)
	case r.Verdict == solve.Impossible && a.Plan != nil:
		t.Errorf("%s: is possible at %d", name, a.Cost)
	case r.Verdict == solve.Solved && a.Plan != nil && r.Proved:
		t.Errorf("%s: proved to be %d, but there is %d", name, limit, a.Cost)
	case r.Verdict == solve.Solved && a.Plan != nil:
		c.worse++
		c.example("worse", seed)
		factor := float64(limit) / float64(a.Cost)
		c.factor = max(c.factor, factor)
		if factor > 1.05 {
			c.much++
		}
	case r.Verdict > solve.Impossible && a.Plan != nil:
		c.givenUp++
		c.example("given up", seed)
	case r.Verdict > solve.Impossible:
		c.blind++
		c.example("not recognised", seed)
	}
}
