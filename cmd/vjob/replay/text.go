package replay

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/energy"
	"vjob/sim/replay"
	"vjob/sim/swf"
)

// replayedText is what is printed of vjobs that were run.
type replayedText struct {
	title   string
	log     *swf.Log // the source of the vjobs; nil for a workload file
	results []*replay.Result
	power   energy.Power
	all     bool // every vjob and every switch
}

// mostPrinted is how many vjobs or switches of one run are printed unless all are asked for.
const mostPrinted = 100

// showReplay prints the totals with the ways side by side, how those of each queue and
// each user fared, then the vjobs and the context switches.
func showReplay(a *cli.App, r *replayedText) error {
	var b strings.Builder
	first := r.results[0]
	fmt.Fprintf(&b, "%s\n%s on %s with %s; actions as in profile %s\n\n",
		display.Clean(r.title), cluster.Count(len(first.VJobs)+refused(first), "vjob"), cluster.Count(first.Nodes, "node"), first.Capacity, first.Profile)
	tables := []func(*strings.Builder) error{
		func(b *strings.Builder) error { return totals(r.results, r.power).Write(b, 0) },
		func(b *strings.Builder) error { return writeGroups(b, "QUEUE", r.results, queueOf) },
		func(b *strings.Builder) error { return writeGroups(b, "USER", r.results, userOf) },
		func(b *strings.Builder) error { return writeRefusals(b, r.results) },
		func(b *strings.Builder) error { return writeConventions(b, r.log) },
		r.vjobs, r.switches,
	}
	for _, table := range tables {
		if err := table(&b); err != nil {
			return err
		}
	}
	_, err := io.WriteString(a.Out, b.String())
	return err
}

// vjobs prints the times of each vjob.
func (r *replayedText) vjobs(b *strings.Builder) error {
	if n := len(r.results[0].VJobs); n > mostPrinted && !r.all {
		fmt.Fprintf(b, "\nPrint the times of the %d vjobs with --all, --starts or -o json.\n", n)
		return nil
	}
	b.WriteByte('\n')
	return vjobTimes(r.results).Write(b, 0)
}

// switches prints the context switches.
func (r *replayedText) switches(b *strings.Builder) error {
	for _, x := range r.results {
		fmt.Fprintf(b, "\n%s: %s\n", x.Policy, switchCount(len(x.Switches)))
		if len(x.Switches) == 0 || len(x.Switches) > mostPrinted && !r.all {
			continue
		}
		if err := switches(x).Write(b, 0); err != nil {
			return err
		}
	}
	return nil
}

// refused counts the vjobs that were.
func refused(r *replay.Result) (n int) {
	for i := range r.Refused {
		n += r.Refused[i].VJobs
	}
	return n
}

// totals has one column per policy.
func totals(results []*replay.Result, power energy.Power) *display.Table {
	t := &display.Table{Heads: []display.Column{{}}}
	sums := make([]replay.Summary, len(results))
	for i, r := range results {
		t.Heads = append(t.Heads, display.Column{Name: r.Policy, Right: true})
		sums[i] = r.Summary()
	}
	line := func(name string, value func(s *replay.Summary) string) {
		cells := []string{name}
		for i := range sums {
			cells = append(cells, value(&sums[i]))
		}
		t.Row(cells...)
	}
	line("total time", func(s *replay.Summary) string { return replay.Clock(s.Total) })
	line("vjobs ended", func(s *replay.Summary) string { return strconv.Itoa(s.Ended) })
	line("of these failed", func(s *replay.Summary) string { return strconv.Itoa(s.Failed) })
	some := func(name string, value func(s *replay.Summary) int) {
		if slices.ContainsFunc(sums, func(s replay.Summary) bool { return value(&s) > 0 }) {
			line(name, func(s *replay.Summary) string { return strconv.Itoa(value(s)) })
		}
	}
	some("of these ended by their walltime", func(s *replay.Summary) int { return s.Overdue })
	some("vjobs that never end", func(s *replay.Summary) int { return s.Left })
	some("vjobs refused", func(s *replay.Summary) int { return s.Refused })
	line("mean wait until the start", func(s *replay.Summary) string { return replay.Clock(display.Seconds(s.Wait.Mean)) })
	line("median", func(s *replay.Summary) string { return replay.Clock(display.Seconds(s.Wait.Median)) })
	line("95th percentile", func(s *replay.Summary) string { return replay.Clock(display.Seconds(s.Wait.P95)) })
	line("longest", func(s *replay.Summary) string { return replay.Clock(display.Seconds(s.Wait.Max)) })
	line("mean bounded slowdown", func(s *replay.Summary) string { return fmt.Sprintf("%.2f", s.Slowdown.Mean) })
	line("95th percentile", func(s *replay.Summary) string { return fmt.Sprintf("%.2f", s.Slowdown.P95) })
	line("mean time from submission to end", func(s *replay.Summary) string { return replay.Clock(s.MeanTurn) })
	line("CPU used", func(s *replay.Summary) string { return display.Percent(s.CPUUsed) })
	line("CPU needed by running VMs", func(s *replay.Summary) string { return display.Percent(s.CPUDemand) })
	line("memory used", func(s *replay.Summary) string { return display.Percent(s.MemoryUsed) })
	usageLines(t, results, sums)
	cells := []string{"energy of all nodes, always on"}
	for i, r := range results {
		cells = append(cells, fmt.Sprintf("%.1f kWh", drawn(r, &sums[i], power).KWh()))
	}
	t.Row(cells...)
	line("context switches", func(s *replay.Summary) string { return strconv.Itoa(s.Switches) })
	line("of these without cost", func(s *replay.Summary) string { return strconv.Itoa(s.Idle) })
	line("cost of all", func(s *replay.Summary) string { return display.MiB(s.CostMiB) })
	line("boots", func(s *replay.Summary) string { return strconv.Itoa(s.Boots) })
	some("pauses, in memory", func(s *replay.Summary) int { return s.Pauses })
	line("suspends", func(s *replay.Summary) string { return strconv.Itoa(s.Suspends) })
	line("resumes (local)", func(s *replay.Summary) string { return fmt.Sprintf("%d (%d)", s.Resumes, s.Local) })
	line("migrations", func(s *replay.Summary) string { return strconv.Itoa(s.Migrations) })
	return t
}

// usageLines adds how many nodes are in use, and what VMs go without.
func usageLines(t *display.Table, results []*replay.Result, sums []replay.Summary) {
	line := func(name string, value func(u *replay.Usage, s *replay.Summary) string) {
		cells := []string{name}
		for i, r := range results {
			cells = append(cells, value(&r.Usage, &sums[i]))
		}
		t.Row(cells...)
	}
	hours := func(d time.Duration) string { return fmt.Sprintf("%.2f h", d.Hours()) }
	line("nodes in use, mean", func(_ *replay.Usage, s *replay.Summary) string { return fmt.Sprintf("%.1f", s.NodesUsed) })
	line("at most", func(u *replay.Usage, _ *replay.Summary) string { return strconv.Itoa(u.MostNodes) })
	line("node-hours in use", func(u *replay.Usage, _ *replay.Summary) string { return hours(u.NodeTime) })
	line("until the first vjob ends", func(u *replay.Usage, _ *replay.Summary) string { return hours(u.FirstEnd) })
	line("VM-hours with too little CPU", func(u *replay.Usage, _ *replay.Summary) string { return hours(u.UnsatisfiedTime) })
	line("times of too little CPU", func(u *replay.Usage, _ *replay.Summary) string { return strconv.Itoa(u.Crises) })
	line("mean time until relief", func(u *replay.Usage, _ *replay.Summary) string { return replay.Clock(u.MeanReaction()) })
	line("longest", func(u *replay.Usage, _ *replay.Summary) string { return replay.Clock(u.LongestOne) })
	line("VM-hours in transfers", func(_ *replay.Usage, s *replay.Summary) string { return hours(s.SwitchTime) })
	line("run time beyond that alone", func(_ *replay.Usage, s *replay.Summary) string { return display.Percent(s.Overhead) })
}

// vjobTimes has the times of each vjob, policy by policy. It has columns about suspensions
// only if a vjob was suspended.
func vjobTimes(results []*replay.Result) *display.Table {
	t := &display.Table{Heads: display.Heads("VJOB >SUBMITTED")}
	named := make([]map[string]*replay.VJob, len(results))
	stood := make([]bool, len(results))
	for k, r := range results {
		named[k] = map[string]*replay.VJob{}
		for i := range r.VJobs {
			named[k][r.VJobs[i].Name] = &r.VJobs[i]
			stood[k] = stood[k] || turns(&r.VJobs[i]) > 0
		}
		t.Heads = append(t.Heads, display.Column{Name: r.Policy + " STARTED", Right: true}, display.Column{Name: "ENDED", Right: true})
		if stood[k] {
			t.Heads = append(t.Heads, display.Column{Name: "SUSPENDED", Right: true})
		}
	}
	for i := range results[0].VJobs {
		j := &results[0].VJobs[i]
		cells := []string{j.Name, replay.Clock(j.Submitted)}
		for k, vjobs := range named {
			cells = append(cells, timesOf(vjobs[j.Name], stood[k])...)
		}
		t.Row(cells...)
	}
	return t
}

// timesOf are the cells of one vjob under one policy; nil is one that was refused.
func timesOf(j *replay.VJob, stood bool) []string {
	cells := []string{"-", "refused", "-"}
	if j != nil {
		cells[0], cells[1] = replay.Clock(j.Started), replay.Clock(j.Ended)
		if j.State == cluster.Failed {
			cells[1] += " failed"
		}
		if n := turns(j); n > 0 {
			cells[2] = fmt.Sprintf("%s (%d)", replay.Clock(j.Spent(cluster.Suspended)+j.Spent(cluster.Paused)), n)
		}
	}
	if !stood {
		return cells[:2]
	}
	return cells
}

// turns counts how often a vjob was suspended, to disk or in memory.
func turns(j *replay.VJob) int { return j.Suspensions + j.Standstills }

func switches(r *replay.Result) *display.Table {
	t := &display.Table{Heads: display.Heads(">SWITCH >AT >TOOK >ESTIMATED >COST >BOOTS >STOPS >SUSPENDS >RESUMES >LOCAL >MIGRATIONS >SKEW STATE")}
	for i := range r.Switches {
		s := &r.Switches[i]
		t.Row(strconv.FormatInt(s.Plan, 10), replay.Clock(s.At), display.Span(s.Took.Round(100*time.Millisecond)), display.Span(s.Estimated.Round(100*time.Millisecond)),
			display.MiB(s.CostMiB), strconv.Itoa(s.Boots), strconv.Itoa(s.Stops), strconv.Itoa(s.Suspends), strconv.Itoa(s.Resumes),
			strconv.Itoa(s.LocalResumes), strconv.Itoa(s.Migrations), display.Span(s.Skew), strings.TrimSpace(s.State+" "+s.Note))
	}
	return t
}

func switchCount(n int) string {
	if n == 1 {
		return "1 context switch"
	}
	return fmt.Sprintf("%d context switches", n)
}
