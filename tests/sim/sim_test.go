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
	seeds = flag.Int("seeds", 2000/pace.Slower, "how many seeds to run in TestSeeds")
	apart = flag.Int("apart", 8/pace.Slower, "how many runs TestEveryStep takes apart")
	steps = flag.Int("steps", 120, "at how many steps it does so, if there are more; 0: at each")
	first = flag.Uint64("seed", 1, "the first seed")
	only  = flag.String("policy", "", "draw policies of this name only")
	trace = flag.Bool("trace", false, "print everything that happens; for one seed")
	all   = flag.Bool("all", false, "let TestSeeds go on after a seed that fails")
)

// TestCalm runs without faults: whatever is violated then is our own mistake.
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

// TestPower runs seeds in which nodes are switched off and on, some of which do not
// come up: nothing goes off under its VMs, and in the end all are on.
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
	if sum.Presses == 0 || sum.Migrations == 0 {
		t.Errorf("too little happened to say anything: %+v", sum)
	}
	t.Logf("seeds %d to %d: %+v", *first, last, sum)
}

// TestBudgetChangesWhileANodeBoots runs the seed that once drew 610 of 549 W: a node that
// booted was not counted when the budget fell.
func TestBudgetChangesWhileANodeBoots(t *testing.T) {
	opts := sim.Calm(430)
	opts.Power, opts.Manage, opts.Policy = true, true, queue.EASY{}
	if run(t, opts).Counts.Presses == 0 {
		t.Error("no node was switched")
	}
	opts.Manage = false
	run(t, opts)
}

// TestImagesFindNoRoom runs the seed in which a vjob that stood still in memory could not be
// saved, since the image store was full, nor go on where it stood: it had come to need more
// CPU than its node has. Everybody waited for ever.
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

// TestEveryStep takes whole runs apart: the scheduler dies once at every point at
// which it can (before and after each commit, before and after each call), every
// single reply is lost, every single call is made twice (RELIABILITY G5). A long run is
// taken apart at some of its steps only, spread evenly.
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
				if run(t, opts); t.Failed() {
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

// TestPrune runs seeds with and without their history: what is old is of no
// consequence.
func TestPrune(t *testing.T) {
	var sum journal.Pruned
	for seed := *first; seed < *first+40/pace.Slower && !t.Failed(); seed++ {
		opts := sim.Harsh(seed)
		opts.Keep = 0
		whole := run(t, opts)
		opts.Keep = time.Duration(1+seed%7) * time.Minute
		pruned := run(t, opts)
		if pruned.Hash != whole.Hash {
			t.Errorf("seed %d: without its history it goes another way", seed)
		}
		sum = sum.Plus(pruned.Pruned)
	}
	if sum.Events == 0 || sum.Calls == 0 || sum.Plans == 0 || sum.VJobs == 0 {
		t.Errorf("too little was deleted to say anything: %+v", sum)
	}
	t.Logf("deleted: %+v", sum)
}
