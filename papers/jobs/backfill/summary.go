package backfill

import "vjob/internal/chart"

// Summary is the figures of a result, over all jobs from the first to the last.
type Summary struct {
	Jobs     int
	AtOnce   int // started when they were submitted
	Wait     chart.Distribution
	Slowdown chart.Distribution // bounded: short jobs count as if they ran for 10 seconds
	Makespan Time               // from the first submission to the last end
	Used     float64            // share of the processors in this time, 0..1
}

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
		slowdowns[i] = chart.BoundedSlowdown(float64(wait+Time(j.Run)), float64(j.Run))
		work += float64(j.Processors) * float64(j.Run)
		s.Makespan = max(s.Makespan, r.end(i))
	}
	s.Wait, s.Slowdown = chart.Distribute(waits), chart.Distribute(slowdowns)
	s.Used = work / (float64(r.Processors) * float64(s.Makespan))
	return s
}
