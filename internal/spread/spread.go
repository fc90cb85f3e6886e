// Package spread says how the values of a figure are distributed.
//
// It is pure. It refuses to know what they are values of.
package spread

import "slices"

// Spread is the mean of some values and where they lie. A percentile is the value at
// that share of the sorted list, cut to a whole index (Feitelson's convention).
type Spread struct{ Mean, Median, P95, Most float64 }

// Of sorts the values. Those of nothing are all 0.
func Of(values []float64) Spread {
	n := len(values)
	if n == 0 {
		return Spread{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Spread{Mean: sum / float64(n), Median: values[n/2], P95: values[int(0.95*float64(n))], Most: values[n-1]}
}

// slowest is the run time below which a slowdown does not count.
const slowest = 10

// Slowdown is how many times longer something took than it ran, both in seconds; what
// ran for less than ten counts as if it had run for so long (Feitelson's bounded
// slowdown).
func Slowdown(took, ran float64) float64 { return max(1, took/max(ran, slowest)) }
