package report

import (
	"fmt"
	"strings"
	"time"

	"vjob/oar"
)

// Layout is one of the tables of oarstat.
type Layout uint8

// The layouts.
const (
	Short         Layout = iota // the default: formats 2 and 3
	Classic                     // format 1: with names and submission dates
	Arrays                      // with the index of each job in its array
	ClassicArrays               // with array indices, in format 1
	Compact                     // an array is one line
)

// Table formats jobs as a table, or "" without jobs.
func Table(jobs []oar.Job, layout Layout, now time.Time) string {
	if len(jobs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(heads[layout])
	if layout == Compact {
		jobs = compacted(jobs)
	}
	for i := range jobs {
		row(&b, &jobs[i], layout, now)
	}
	return b.String()
}

var heads = map[Layout]string{
	Short: `Job id    S User     Duration   System message
--------- - -------- ---------- ------------------------------------------------
`,
	Compact: `Job id    S User     Duration   System message
--------- - -------- ---------- ------------------------------------------------
`,
	Classic: `Job id     Name           User           Submission Date     S Queue
---------- -------------- -------------- ------------------- - ----------
`,
	ClassicArrays: `Job id    A. id     A. index  Name       User     Submission Date     S Queue
--------- --------- --------- ---------- -------- ------------------- - --------
`,
	Arrays: `Job id    A. id     index S User     Duration   System message
--------- --------- ----- - -------- ---------- --------------------------------
`,
}

func row(b *strings.Builder, j *oar.Job, layout Layout, now time.Time) {
	id, letter := fmt.Sprint(j.ID), oar.State(j.State).Letter()
	if j.ID == 0 { // an array; see compacted
		id, letter = fmt.Sprintf("%d@%d", j.ArrayIndex, j.ArrayID), "-"
	}
	lasts, text, name := Duration(j, now), oar.Printable(j.Message), ""
	if j.Name != nil {
		name = oar.Printable(*j.Name)
	}
	switch layout {
	case ClassicArrays:
		fmt.Fprintf(b, "%-9.9s %-9.9s %-9.9s %-10.10s %-8.8s %-19.19s %1.1s %-8.8s\n", id, fmt.Sprint(j.ArrayID), fmt.Sprint(j.ArrayIndex), name, j.Owner, date(j.Submitted, now), letter, j.Queue)
	case Classic:
		fmt.Fprintf(b, "%-10.10s %-14.14s %-14.14s %-19.19s %1.1s %-10.10s\n", id, name, j.Owner, date(j.Submitted, now), letter, j.Queue)
	case Arrays:
		fmt.Fprintf(b, "%-9.9s %-9.9s %-5.5s %1.1s %-8.8s %10.10s %s\n", id, fmt.Sprint(j.ArrayID), fmt.Sprint(j.ArrayIndex), letter, j.Owner, lasts, text)
	case Short, Compact:
		fmt.Fprintf(b, "%-9.9s %1.1s %-8.8s %10.10s %s\n", id, letter, j.Owner, lasts, text)
	}
}

// compacted replaces the jobs of each array by one without a number; its index is their count.
func compacted(jobs []oar.Job) (list []oar.Job) {
	at := map[int64]int{}
	for _, j := range jobs {
		i, seen := at[j.ArrayID]
		if !seen {
			at[j.ArrayID] = len(list)
			j.ArrayIndex, j.Resources = 1, nil
			list = append(list, j)
			continue
		}
		list[i].ID = 0
		list[i].ArrayIndex++
	}
	return list
}

// Duration returns the running time of a job, as h:mm:ss.
func Duration(j *oar.Job, now time.Time) string {
	end := now.Unix()
	if j.Stopped != 0 {
		end = j.Stopped
	}
	s := int64(0)
	if j.Started != 0 {
		s = max(end-j.Started, 0)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// date formats a time in the zone of now, or "" if unset.
func date(at int64, now time.Time) string {
	if at == 0 {
		return ""
	}
	return time.Unix(at, 0).In(now.Location()).Format(time.DateTime)
}

// States lists the states of jobs, one line each.
func States(jobs []oar.Job) string {
	var b strings.Builder
	for i := range jobs {
		fmt.Fprintf(&b, "%d: %s\n", jobs[i].ID, jobs[i].State)
	}
	return b.String()
}

// Events lists the events of jobs, one line each.
func Events(jobs []oar.Job, now time.Time) string {
	var b strings.Builder
	for i := range jobs {
		for _, e := range jobs[i].Events {
			fmt.Fprintf(&b, "%s| %d| %s: %s\n", date(e.At, now), jobs[i].ID, e.Type, oar.Printable(e.Text))
		}
	}
	return b.String()
}
