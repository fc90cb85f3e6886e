package sim_test

import (
	"testing"

	"vjob/tests/sim"
)

// TestTimed runs seeds with reservations, alternatives and containers in which nobody
// meddles: what was confirmed begins in time.
func TestTimed(t *testing.T) {
	var sum sim.Counts
	for seed := *first/7*7 + 3; seed < *first+uint64(*seeds/10) && !t.Failed(); seed += 7 {
		opts := sim.Calm(seed)
		opts.Static = true
		sum.Add(run(t, opts).Counts)
	}
	t.Logf("%+v", sum)
}

// TestReservationsBegin runs seeds in which reservations began late once: since somebody had
// to move first, was resumed just before, must not be moved, or nobody woke up.
func TestReservationsBegin(t *testing.T) {
	for _, seed := range []uint64{311, 1263, 11273, 103155} {
		opts := sim.Calm(seed)
		opts.Static = true
		run(t, opts)
	}
}
