package replay

import (
	"fmt"
	"time"

	"vjob/chart"
	"vjob/cluster"
)

// Figure is the picture of one or more results of the same workload.
func Figure(title string, results []*Result) *chart.Figure {
	f := &chart.Figure{Title: title}
	for _, r := range results {
		f.Subtitle = fmt.Sprintf("%d vjobs on %d nodes with %s; actions as in profile %q", len(r.VJobs), r.Nodes, r.Capacity, r.Profile)
		f.Runs = append(f.Runs, r.chart())
	}
	return f
}

func (r *Result) chart() chart.Run {
	s := r.Summary()
	run := chart.Run{
		Title: r.Policy, End: r.Total,
		Note: fmt.Sprintf("total %s · %d context switches · CPU used %.0f %%", Clock(r.Total), s.Switches, 100*s.CPUUsed),
	}
	for i := range r.VJobs {
		j := &r.VJobs[i]
		row := chart.Row{Label: j.Name}
		for _, span := range j.Spans {
			row.Spans = append(row.Spans, chart.Span{State: span.State.String(), From: span.From, To: span.To})
		}
		run.Rows = append(run.Rows, row)
	}
	switches := chart.Row{Label: "switches"}
	for i := range r.Switches {
		w := &r.Switches[i]
		switches.Spans = append(switches.Spans, chart.Span{
			State: chart.Switch, From: w.At, To: w.At + w.Took, Text: w.describe(),
		})
	}
	run.Rows = append(run.Rows, switches)
	cpu := chart.Series{Name: "CPU used", Unit: "processors", Capacity: float64(r.Capacity.CPU) / float64(cluster.CPU)}
	memory := chart.Series{Name: "Memory used", Unit: "GiB", Capacity: float64(r.Capacity.Memory) / float64(cluster.GiB)}
	for _, x := range r.Samples {
		cpu.Points = append(cpu.Points, chart.Point{At: x.At, Value: float64(x.CPU) / float64(cluster.CPU)})
		memory.Points = append(memory.Points, chart.Point{At: x.At, Value: float64(x.Memory) / float64(cluster.GiB)})
	}
	run.Series = []chart.Series{cpu, memory}
	return run
}

// describe is the switch in one line.
func (s *Switch) describe() string {
	return fmt.Sprintf("context switch %d at %s took %s, cost %d MiB: %d boots, %d stops, %d pauses, %d suspends, %d resumes (%d local), %d migrations",
		s.Plan, Clock(s.At), s.Took.Round(time.Second), s.CostMiB, s.Boots, s.Stops, s.Pauses, s.Suspends, s.Resumes, s.LocalResumes, s.Migrations)
}

// Clock prints a time of a replay as hours, minutes and seconds.
func Clock(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	s := int64(d.Round(time.Second) / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
