package simulated

import (
	"math/rand/v2"
	"time"
)

// random draws the random numbers of a cluster.
type random struct {
	*rand.Rand
	source      *rand.PCG
	jitterShare float64 // see [Profile]
}

func newRandom(seed uint64, jitterShare float64) *random {
	source := rand.NewPCG(seed, 0x766a6f62)
	return &random{rand.New(source), source, jitterShare}
}

// jitter is a duration with the profile's jitter.
func (r *random) jitter(d time.Duration) time.Duration {
	j := r.jitterShare
	if j <= 0 || d <= 0 {
		return d
	}
	return time.Duration(float64(d) * (1 - j + 2*j*r.Float64()))
}

// bernoulli is true with a probability. It draws no number for 0, so that disabled faults do not
// change the random sequence.
func (r *random) bernoulli(chance float64) bool {
	return chance > 0 && r.Float64() < chance
}

// uniform draws a duration between 0 and a limit.
func (r *random) uniform(limit time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(limit)))
}

// exponential draws a duration with a mean.
func (r *random) exponential(mean time.Duration) time.Duration {
	return time.Duration(r.ExpFloat64() * float64(mean))
}
