package sim_test

import (
	"testing"

	"vjob/tests/sim"
)

// TestTimed runs seeds with reservations, shapes and containers and without user actions:
// confirmed reservations begin on time.
func TestTimed(t *testing.T) {
	var sum sim.Counts
	for seed := *first/7*7 + 3; seed < *first+uint64(*seeds/10) && !t.Failed(); seed += 7 {
		opts := sim.Calm(seed)
		opts.Static = true
		sum.Add(run(t, opts).Counts)
	}
	t.Logf("%+v", sum)
}

// TestReservationsBegin runs seeds with reservations that once began late: because another vjob
// had to move first, was resumed just before, or must not move, or because no pass was due.
func TestReservationsBegin(t *testing.T) {
	for _, seed := range []uint64{311, 1263, 11273, 103155} {
		opts := sim.Calm(seed)
		opts.Static = true
		run(t, opts)
	}
}
