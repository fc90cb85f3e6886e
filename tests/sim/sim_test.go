package sim_test

import (
	"flag"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/queue"
	"vjob/tests/pace"
	"vjob/tests/sim"
)

var (
	seeds = flag.Int("seeds", 1000/pace.Slower, "how many seeds to run in TestSeeds")
	apart = flag.Int("apart", 8/pace.Slower, "how many runs TestEveryStep repeats step by step")
	steps = flag.Int("steps", 60, "the maximum number of steps of a run at which it does so; 0: all")
	first = flag.Uint64("seed", 1, "the first seed")
	only  = flag.String("policy", "", "only policies of this name")
	trace = flag.Bool("story", false, "print every change; for one seed")
	all   = flag.Bool("all", false, "continue TestSeeds after a seed that fails")
)

// TestCalm runs without faults: every violation is a defect of vjob.
func TestCalm(t *testing.T) {
	for seed := *first; seed < *first+40 && !t.Failed(); seed++ {
		run(t, sim.Calm(seed))
	}
}

// TestSeeds runs with faults and crashes, on all processors.
func TestSeeds(t *testing.T) {
	begin := time.Now()
	var (
		next   atomic.Uint64
		mu     sync.Mutex
		sum    sim.Counts
		broken = map[string][]uint64{} // the seeds that break an invariant first, by its number
		joined sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		joined.Go(func() {
			for *all || !t.Failed() {
				i := next.Add(1) - 1
				if i >= uint64(*seeds) {
					return
				}
				result := run(t, sim.Harsh(*first+i))
				mu.Lock()
				sum.Add(result.Counts)
				if len(result.Violations) > 0 {
					number := strings.Trim(strings.Fields(result.Violations[0])[1], ":")
					broken[number] = append(broken[number], *first+i)
				}
				mu.Unlock()
			}
		})
	}
	joined.Wait()
	t.Logf("seeds %d to %d in %s: %+v", *first, *first+uint64(*seeds)-1, time.Since(begin).Round(time.Second), sum)
	for _, number := range slices.Sorted(maps.Keys(broken)) {
		slices.Sort(broken[number])
		t.Logf("%s is broken first by %d seeds: %d", number, len(broken[number]), broken[number])
	}
}

// TestPower runs seeds in which nodes are switched off and on, and some fail to boot. No node
// with VMs is switched off, and in the end all nodes are on.
func TestPower(t *testing.T) {
	var sum sim.Counts
	last := *first + uint64(max(2, *seeds/80)) - 1
	for seed := *first; seed <= last && !t.Failed(); seed++ {
		for _, opts := range []sim.Options{sim.Calm(seed), sim.Harsh(seed)} {
			opts.Power = true
			sum.Add(run(t, opts).Counts)
			opts.Manage = true
			sum.Add(run(t, opts).Counts)
		}
	}
	if sum.Offs == 0 || sum.Migrations == 0 {
		t.Errorf("too little happened to prove anything: %+v", sum)
	}
	t.Logf("seeds %d to %d: %+v", *first, last, sum)
}

// TestBudgetChangesWhileANodeBoots runs a seed that drew 610 of 549 W: a booting node was not
// counted when the budget fell.
func TestBudgetChangesWhileANodeBoots(t *testing.T) {
	opts := sim.Calm(430)
	opts.Power, opts.Manage, opts.Policy = true, true, queue.EASY{}
	if run(t, opts).Counts.Offs == 0 {
		t.Error("no node was switched")
	}
	opts.Manage = false
	run(t, opts)
}

// TestImagesFindNoRoom runs a seed that was a deadlock: a vjob paused in memory could not be
// saved, since the image store was full, and could not resume, since it needed more CPU than
// its node has.
func TestImagesFindNoRoom(t *testing.T) {
	for _, opts := range []sim.Options{sim.Calm(628), sim.Harsh(628)} {
		opts.Power, opts.Policy = true, queue.FirstFit{Count: queue.Predicted, Patience: 30 * time.Second}
		run(t, opts)
		opts.Manage = true
		run(t, opts)
	}
}

func run(t *testing.T, opts sim.Options) sim.Result {
	t.Helper()
	if *trace {
		opts.Trace = func(line string) { t.Log(line) }
	}
	if opts.Policy == nil {
		opts.Policy = sim.PolicyOf(opts.Seed, *only)
	}
	result, err := sim.Run(opts)
	if err != nil {
		t.Errorf("seed %d: %v", opts.Seed, err)
	}
	for i, v := range result.Violations {
		if i == 5 {
			t.Errorf("seed %d: and %d more", opts.Seed, len(result.Violations)-i)
			break
		}
		t.Errorf("seed %d: %s", opts.Seed, v)
	}
	return result
}

// TestEveryStep repeats a run with one fault at each of its steps: the scheduler dies (before
// and after each commit and call), one reply is lost, or one call is made twice. Of a long run it takes some steps, evenly spread.
func TestEveryStep(t *testing.T) {
	for seed := *first; seed < *first+uint64(*apart); seed++ {
		plain := run(t, sim.Calm(seed))
		for _, way := range []struct {
			name string
			n    int
			set  func(o *sim.Options, at int)
		}{
			{"crash", plain.Points, func(o *sim.Options, at int) { o.CrashAt = at }},
			{"lost reply", plain.Calls, func(o *sim.Options, at int) { o.LoseAt = at }},
			{"repeated", plain.Calls, func(o *sim.Options, at int) { o.RepeatAt = at }},
		} {
			stride := 1
			if *steps > 0 {
				stride = 1 + (way.n-1) / *steps
			}
			for at := 1 + int(seed)%stride; at <= way.n; at += stride {
				opts := sim.Calm(seed)
				way.set(&opts, at)
				run(t, opts)
				if t.Failed() {
					t.Fatalf("seed %d, %s at %d of %d", seed, way.name, at, way.n)
				}
			}
		}
		t.Logf("seed %d: %d crashes, %d lost replies, %d repetitions", seed, plain.Points, plain.Calls, plain.Calls)
	}
}

// TestDeterminism runs a seed twice.
func TestDeterminism(t *testing.T) {
	for _, seed := range []uint64{*first, *first + 1, *first + 2} {
		a, b := run(t, sim.Harsh(seed)), run(t, sim.Harsh(seed))
		if a.Hash != b.Hash {
			t.Errorf("seed %d: two runs, two journals", seed)
		}
	}
}

// TestPrune runs seeds with and without their history, which must make no difference.
func TestPrune(t *testing.T) {
	var sum journal.Pruned
	for seed := *first; seed < *first+40/pace.Slower && !t.Failed(); seed++ {
		opts := sim.Harsh(seed)
		opts.Keep = 0
		whole := run(t, opts)
		opts.Keep = time.Duration(1+seed%7) * time.Minute
		pruned := run(t, opts)
		if pruned.Hash != whole.Hash {
			t.Errorf("seed %d: the run differs without its history", seed)
		}
		sum = sum.Plus(pruned.Pruned)
	}
	if sum.Events == 0 || sum.Calls == 0 || sum.Plans == 0 || sum.VJobs == 0 {
		t.Errorf("too little was deleted to prove anything: %+v", sum)
	}
	t.Logf("deleted: %+v", sum)
}
