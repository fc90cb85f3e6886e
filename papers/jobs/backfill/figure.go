package backfill

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"vjob/internal/chart"
)

// rows is how many jobs a figure shows at most.
const rows = 300

// Figure is the picture of the results of one log: when jobs waited and ran, and
// how many processors were used. Of many jobs it shows some, evenly spaced.
func Figure(title string, results []*Result) *chart.Figure {
	f := &chart.Figure{Title: title}
	for _, r := range results {
		n := len(r.Jobs)
		step := max(1, (n+rows-1)/rows)
		f.Subtitle = fmt.Sprintf("%d jobs on %d processors, in the order of their submission", n, r.Processors)
		if step > 1 {
			f.Subtitle += fmt.Sprintf("; 1 of %d is shown", step)
		}
		f.Runs = append(f.Runs, r.chart(step))
	}
	return f
}

func (r *Result) chart(step int) chart.Run {
	s := r.Summary()
	run := chart.Run{
		Title: r.Policy, End: Duration(s.Makespan),
		Note: fmt.Sprintf("mean wait %.0f s · bounded slowdown %.1f", s.Wait.Mean, s.Slowdown.Mean),
	}
	for i := 0; i < len(r.Jobs); i += step {
		j := &r.Jobs[i]
		from, start := Duration(Time(j.Submit)), Duration(r.Starts[i])
		row := chart.Row{Label: strconv.FormatInt(j.Number, 10)}
		if start > from {
			row.Spans = append(row.Spans, chart.Span{State: "waiting", From: from, To: start})
		}
		row.Spans = append(row.Spans, chart.Span{State: "running", From: start, To: Duration(r.end(i))})
		run.Rows = append(run.Rows, row)
	}
	var busy, queued flow
	for i := range r.Jobs {
		j := &r.Jobs[i]
		busy.during(r.Starts[i], r.end(i), j.Processors)
		queued.during(Time(j.Submit), r.Starts[i], 1)
	}
	run.Series = []chart.Series{
		{Name: "Processors used", Unit: "processors", Capacity: float64(r.Processors), Points: busy.points()},
		{Name: "Jobs waiting", Unit: "jobs", Points: queued.points()},
	}
	return run
}

// flow is an amount that comes and goes.
type flow []change

type change struct {
	at     Time
	amount int64
}

// during adds to the amount for a while.
func (f *flow) during(from, to Time, amount int64) {
	if from < to {
		*f = append(*f, change{from, amount}, change{to, -amount})
	}
}

// points is the amount from each change on.
func (f flow) points() []chart.Point {
	slices.SortFunc(f, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var points []chart.Point
	now := int64(0)
	for i, c := range f {
		now += c.amount
		if i+1 == len(f) || f[i+1].at > c.at {
			points = append(points, chart.Point{At: Duration(c.at), Value: float64(now)})
		}
	}
	return points
}

// Duration is a time as others measure it: 292 years at most.
func Duration(t Time) time.Duration {
	return time.Duration(min(t, math.MaxInt64/Time(time.Second))) * time.Second
}
