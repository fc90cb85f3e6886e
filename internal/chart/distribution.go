package chart

import "slices"

// Distribution summarizes the values of a figure. A percentile is the value at that share
// of the sorted list, at a whole index rounded down (Feitelson's convention).
type Distribution struct{ Mean, Median, P95, Max float64 }

// Distribute sorts the values and summarizes them. Without values all fields are 0.
func Distribute(values []float64) Distribution {
	n := len(values)
	if n == 0 {
		return Distribution{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Distribution{Mean: sum / float64(n), Median: values[n/2], P95: values[int(0.95*float64(n))], Max: values[n-1]}
}

// minRuntime is the run time, in seconds, below which a slowdown counts no further.
const minRuntime = 10

// BoundedSlowdown is the turnaround time of a job relative to its run time, both in
// seconds. It is at least 1, and a run time below 10 seconds counts as 10 (Feitelson).
func BoundedSlowdown(turnaround, runtime float64) float64 {
	return max(1, turnaround/max(runtime, minRuntime))
}
