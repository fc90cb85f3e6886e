package sim_test

import (
	"flag"
	"testing"
	"time"

	"vjob/tests/sim"
)

var (
	seeds = flag.Int("seeds", 2000, "how many seeds to run in TestSeeds")
	first = flag.Uint64("seed", 1, "the first seed")
	trace = flag.Bool("trace", false, "print everything that happens; for one seed")
)

// TestCalm runs without faults: whatever is violated then is our own mistake.
func TestCalm(t *testing.T) {
	for seed := *first; seed < *first+40; seed++ {
		run(t, sim.Calm(seed))
	}
}

// TestSeeds runs with faults and crashes.
func TestSeeds(t *testing.T) {
	var sum sim.Counts
	begin := time.Now()
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		sum.Add(run(t, sim.Harsh(seed)).Counts)
		if t.Failed() {
			break
		}
	}
	t.Logf("seeds %d to %d in %s: %+v", *first, *first+uint64(*seeds)-1, time.Since(begin).Round(time.Second), sum)
}

func run(t *testing.T, opts sim.Options) sim.Result {
	t.Helper()
	if *trace {
		opts.Trace = func(line string) { t.Log(line) }
	}
	result, err := sim.Run(opts)
	if err != nil {
		t.Fatalf("seed %d: %v", opts.Seed, err)
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

// TestDeterminism runs a seed twice.
func TestDeterminism(t *testing.T) {
	for _, seed := range []uint64{*first, *first + 1, *first + 2} {
		a, b := run(t, sim.Harsh(seed)), run(t, sim.Harsh(seed))
		if a.Hash != b.Hash {
			t.Errorf("seed %d: two runs, two journals", seed)
		}
	}
}
