package pool

import "slices"

// Summary is the figures of a result, over all jobs from the first to the last.
type Summary struct {
	Jobs     int
	AtOnce   int // started when they were submitted
	Wait     Spread
	Slowdown Spread  // bounded: short jobs count as if they ran for 10 seconds
	Makespan Time    // from the first submission to the last end
	Used     float64 // share of the processors in this time, 0..1
}

// Spread is how a figure is distributed. A percentile is the value of the job at
// that share of the sorted list, cut to a whole index.
type Spread struct{ Mean, Median, P95, Most float64 }

// bound is the run time below which the slowdown does not count (Feitelson).
const bound = 10

// Summary computes the figures.
func (r *Result) Summary() Summary {
	s := Summary{Jobs: len(r.Jobs)}
	waits, slowdowns := make([]float64, len(r.Jobs)), make([]float64, len(r.Jobs))
	work := 0.0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		wait := r.Starts[i] - Time(j.Submit)
		if wait == 0 {
			s.AtOnce++
		}
		waits[i] = float64(wait)
		slowdowns[i] = max(1, float64(wait+Time(j.Run))/float64(max(j.Run, bound)))
		work += float64(j.Processors) * float64(j.Run)
		s.Makespan = max(s.Makespan, r.end(i))
	}
	s.Wait, s.Slowdown = spread(waits), spread(slowdowns)
	s.Used = work / (float64(r.Processors) * float64(s.Makespan))
	return s
}

// spread sorts the values.
func spread(values []float64) Spread {
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	n := len(values)
	return Spread{Mean: sum / float64(n), Median: values[n/2], P95: values[int(0.95*float64(n))], Most: values[n-1]}
}
