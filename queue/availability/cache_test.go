package availability_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

// The cache changes no result.
func TestCacheChangesNoResult(t *testing.T) {
	type piece struct {
		start  time.Time
		need   cluster.Resources
		length time.Duration
		ends   bool
	}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		total := size(1+rng.Int64N(40), 1+rng.Int64N(1<<rng.IntN(20)))
		o := availability.New(start, total, cluster.Resources{})
		var taken []piece
		fresh := func() *availability.Profile {
			o := availability.New(start, total, cluster.Resources{})
			for _, p := range taken {
				o.Reserve(p.start, p.need, p.length, p.ends)
			}
			return o
		}
		longest := time.Duration(1) << (6 + rng.IntN(24)) // seconds, up to years
		for range 400 {
			p := piece{
				need:   cluster.Resources{CPU: cluster.MilliCPU(rng.Int64N(int64(total.CPU) + 2)), Memory: cluster.MiB(rng.Int64N(int64(total.Memory) + 2))},
				length: time.Duration(rng.Int64N(int64(longest)))*time.Second + time.Duration(rng.IntN(2)), ends: rng.IntN(100) > 0,
			}
			later := rng.IntN(5) == 0
			got, ok := o.Earliest(p.need, p.length, p.ends, later)
			want, found := fresh().Earliest(p.need, p.length, p.ends, later)
			if !got.Equal(want) || ok != found {
				t.Fatalf("seed %d: %s for %s: %s, %t; without memory %s, %t", seed, p.need, p.length, got, ok, want, found)
			}
			if ok && rng.IntN(4) > 0 {
				p.start = got
				o.Reserve(p.start, p.need, p.length, p.ends)
				taken = append(taken, p)
			}
		}
	}
}
