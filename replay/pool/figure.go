package pool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"vjob/chart"
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
		Note: fmt.Sprintf("mean wait %.0f s · mean bounded slowdown %.1f · used %.1f %%", s.Wait.Mean, s.Slowdown.Mean, 100*s.Used),
	}
	for i := 0; i < len(r.Jobs); i += step {
		j := &r.Jobs[i]
		from, start := Duration(Time(j.Submit)), Duration(r.Starts[i])
		row := chart.Row{Label: strconv.FormatInt(j.Number, 10)}
		if start > from {
			row.Spans = append(row.Spans, chart.Span{State: "waiting", From: from, To: start})
		}
		row.Spans = append(row.Spans, chart.Span{State: "running", From: start, To: Duration(r.Starts[i] + Time(j.Run))})
		run.Rows = append(run.Rows, row)
	}
	run.Series = []chart.Series{{
		Name: "Processors", Unit: "processors", Capacity: float64(r.Processors), Points: r.used(),
	}}
	return run
}

// used is how many processors are used, from each change on.
func (r *Result) used() []chart.Point {
	type change struct {
		at    Time
		width int64
	}
	changes := make([]change, 0, 2*len(r.Jobs))
	for i := range r.Jobs {
		j := &r.Jobs[i]
		changes = append(changes, change{r.Starts[i], j.Processors}, change{r.Starts[i] + Time(j.Run), -j.Processors})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var points []chart.Point
	now := int64(0)
	for i, c := range changes {
		now += c.width
		if i+1 == len(changes) || changes[i+1].at > c.at {
			points = append(points, chart.Point{At: Duration(c.at), Value: float64(now)})
		}
	}
	return points
}

// Duration is a time as others measure it: 292 years at most.
func Duration(t Time) time.Duration {
	return time.Duration(min(t, math.MaxInt64/Time(time.Second))) * time.Second
}
