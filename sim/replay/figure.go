package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/internal/chart"
)

// rows is the maximum number of vjobs in a figure.
const rows = 300

// Figure draws one or more results of the same workload. Of many vjobs it shows an evenly
// spaced sample. Several results are also compared by queue and by user.
func Figure(title string, results []*Result) *chart.Figure {
	f := &chart.Figure{Title: title}
	for _, r := range results {
		n := len(r.VJobs)
		step := max(1, (n+rows-1)/rows)
		f.Subtitle = fmt.Sprintf("%d vjobs on %d nodes with %s; actions as in profile %q", n, r.Nodes, r.Capacity, r.Profile)
		if step > 1 {
			f.Subtitle += fmt.Sprintf("; 1 of %d is shown", step)
		}
		f.Runs = append(f.Runs, r.chart(step))
	}
	if len(results) > 1 {
		f.Bars = append(f.Bars, bars(results, "queue", func(j *VJob) string { return j.Queue })...)
		f.Bars = append(f.Bars, bars(results, "user", func(j *VJob) string { return j.Owner })...)
	}
	return f
}

// maxGroups is the maximum number of groups that a figure compares: the largest ones.
const maxGroups = 12

// bars returns charts of the waiting time and the slowdown of each group, or nil if there is
// only one group.
func bars(results []*Result, noun string, name func(*VJob) string) []chart.Bars {
	first := results[0].Groups(name)
	if len(first) < 2 {
		return nil
	}
	waits := chart.Bars{Title: "Mean wait by " + noun, Unit: "min"}
	slowdowns := chart.Bars{Title: "Mean bounded slowdown by " + noun}
	groups := make([][]Group, len(results))
	for i, r := range results {
		groups[i] = r.Groups(name)
	}
	for _, g := range first[:min(len(first), maxGroups)] {
		wait, slowdown := chart.BarGroup{Label: cmp.Or(g.Name, "-")}, chart.BarGroup{Label: cmp.Or(g.Name, "-")}
		for _, of := range groups {
			w, s := -1.0, -1.0 // the result has no vjobs of the group
			if i := slices.IndexFunc(of, func(o Group) bool { return o.Name == g.Name }); i >= 0 {
				w, s = of[i].Wait.Mean/60, of[i].Slowdown.Mean
			}
			wait.Values, slowdown.Values = append(wait.Values, w), append(slowdown.Values, s)
		}
		waits.Groups, slowdowns.Groups = append(waits.Groups, wait), append(slowdowns.Groups, slowdown)
	}
	return []chart.Bars{waits, slowdowns}
}

// chart is one column of the figure, with every step-th vjob.
func (r *Result) chart(step int) chart.Run {
	s := r.Summary()
	run := chart.Run{
		Title: r.Policy, End: r.Total,
		Note: fmt.Sprintf("total %s · %d context switches · CPU used %.0f %%", Clock(r.Total), s.Switches, 100*s.CPUUsed),
	}
	for i := 0; i < len(r.VJobs); i += step {
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

// describe returns the context switch as one line of text.
func (s *Switch) describe() string {
	return fmt.Sprintf("context switch %d at %s took %s, cost %d MiB: %d boots, %d stops, %d pauses, %d suspends, %d resumes (%d local), %d migrations",
		s.Plan, Clock(s.At), s.Took.Round(time.Second), s.CostMiB, s.Boots, s.Stops, s.Pauses, s.Suspends, s.Resumes, s.LocalResumes, s.Migrations)
}

// Clock formats a time of a replay as hours, minutes and seconds.
func Clock(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	s := int64(d.Round(time.Second) / time.Second)
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
