package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/replay"
)

// showReplay prints the totals and the vjobs with the policies side by side, then
// the context switches of each.
func (a *app) showReplay(title string, results []*replay.Result, power energy.Power) error {
	var b strings.Builder
	first := results[0]
	vms := fmt.Sprintf("%d vjobs on %d nodes with %s; actions as in profile %s", len(first.VJobs), first.Nodes, first.Capacity, first.Profile)
	fmt.Fprintf(&b, "%s\n%s\n\n", clean(title), vms)
	if err := totals(results, power).write(&b, 0); err != nil {
		return err
	}
	b.WriteByte('\n')
	if err := vjobTimes(results).write(&b, 0); err != nil {
		return err
	}
	for _, r := range results {
		fmt.Fprintf(&b, "\n%s: %s\n", r.Policy, switchCount(len(r.Switches)))
		if len(r.Switches) > 0 {
			if err := switches(r).write(&b, 0); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// totals has one column per policy.
func totals(results []*replay.Result, power energy.Power) *table {
	t := &table{heads: []column{{"", false}}}
	sums := make([]replay.Summary, len(results))
	for i, r := range results {
		t.heads = append(t.heads, column{r.Policy, true})
		sums[i] = r.Summary()
	}
	line := func(name string, value func(s *replay.Summary) string) {
		cells := []string{name}
		for i := range sums {
			cells = append(cells, value(&sums[i]))
		}
		t.row(cells...)
	}
	line("total time", func(s *replay.Summary) string { return replay.Clock(s.Total) })
	line("vjobs ended", func(s *replay.Summary) string { return strconv.Itoa(s.Ended) })
	line("of these failed", func(s *replay.Summary) string { return strconv.Itoa(s.Failed) })
	line("mean wait until the start", func(s *replay.Summary) string { return replay.Clock(seconds(s.Wait.Mean)) })
	line("median", func(s *replay.Summary) string { return replay.Clock(seconds(s.Wait.Median)) })
	line("95th percentile", func(s *replay.Summary) string { return replay.Clock(seconds(s.Wait.P95)) })
	line("longest", func(s *replay.Summary) string { return replay.Clock(seconds(s.Wait.Most)) })
	line("mean bounded slowdown", func(s *replay.Summary) string { return fmt.Sprintf("%.2f", s.Slowdown.Mean) })
	line("95th percentile", func(s *replay.Summary) string { return fmt.Sprintf("%.2f", s.Slowdown.P95) })
	line("mean time from submission to end", func(s *replay.Summary) string { return replay.Clock(s.MeanTurn) })
	line("CPU used", func(s *replay.Summary) string { return percent(s.CPUUsed) })
	line("CPU needed by running VMs", func(s *replay.Summary) string { return percent(s.CPUDemand) })
	line("memory used", func(s *replay.Summary) string { return percent(s.MemoryUsed) })
	cells := []string{"energy of all nodes, always on"}
	for i, r := range results {
		cells = append(cells, fmt.Sprintf("%.1f kWh", drawn(r, &sums[i], power).KWh()))
	}
	t.row(cells...)
	line("context switches", func(s *replay.Summary) string { return strconv.Itoa(s.Switches) })
	line("of these without cost", func(s *replay.Summary) string { return strconv.Itoa(s.Idle) })
	line("cost of all", func(s *replay.Summary) string { return mib(s.CostMiB) })
	line("boots", func(s *replay.Summary) string { return strconv.Itoa(s.Boots) })
	if slices.ContainsFunc(sums, func(s replay.Summary) bool { return s.Pauses > 0 }) {
		line("pauses, in memory", func(s *replay.Summary) string { return strconv.Itoa(s.Pauses) })
	}
	line("suspends", func(s *replay.Summary) string { return strconv.Itoa(s.Suspends) })
	line("resumes (local)", func(s *replay.Summary) string { return fmt.Sprintf("%d (%d)", s.Resumes, s.Local) })
	line("migrations", func(s *replay.Summary) string { return strconv.Itoa(s.Migrations) })
	return t
}

// vjobTimes has the times of each vjob, policy by policy.
func vjobTimes(results []*replay.Result) *table {
	t := &table{heads: heads("VJOB >SUBMITTED")}
	for _, r := range results {
		for _, name := range []string{"STARTED", "ENDED", "SUSPENDED", "TIMES"} {
			t.heads = append(t.heads, column{r.Policy + " " + name, true})
		}
	}
	for i := range results[0].VJobs {
		j := &results[0].VJobs[i]
		cells := []string{j.Name, replay.Clock(j.Submitted)}
		for _, r := range results {
			k := &r.VJobs[i]
			ended := replay.Clock(k.Ended)
			if k.State == cluster.Failed {
				ended += " failed"
			}
			cells = append(cells, replay.Clock(k.Started), ended, replay.Clock(k.Spent(cluster.Suspended)+k.Spent(cluster.Paused)), strconv.Itoa(k.Suspensions+k.Standstills))
		}
		t.row(cells...)
	}
	return t
}

func switches(r *replay.Result) *table {
	t := &table{heads: heads(">SWITCH >AT >TOOK >ESTIMATED >COST >BOOTS >STOPS >SUSPENDS >RESUMES >LOCAL >MIGRATIONS >SKEW STATE")}
	for i := range r.Switches {
		s := &r.Switches[i]
		t.row(strconv.FormatInt(s.Plan, 10), replay.Clock(s.At), span(s.Took.Round(100*time.Millisecond)), span(s.Estimated.Round(100*time.Millisecond)),
			mib(s.CostMiB), strconv.Itoa(s.Boots), strconv.Itoa(s.Stops), strconv.Itoa(s.Suspends), strconv.Itoa(s.Resumes),
			strconv.Itoa(s.LocalResumes), strconv.Itoa(s.Migrations), span(s.Skew), strings.TrimSpace(s.State+" "+s.Note))
	}
	return t
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func switchCount(n int) string {
	if n == 1 {
		return "1 context switch"
	}
	return fmt.Sprintf("%d context switches", n)
}
