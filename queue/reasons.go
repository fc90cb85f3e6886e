package queue

import (
	"strconv"
	"strings"

	"vjob/cluster"
)

// position returns the position of the next waiting vjob: "3rd in line behind 12 and 15".
func (w *scan) position() string {
	place := Ordinal(len(w.waiting)+1) + " in line"
	if len(w.waiting) == 0 {
		return place
	}
	return place + " behind " + w.list(w.waiting)
}

// earlierRunning names the vjobs before the i-th that are to run.
func (w *scan) earlierRunning(i int) string {
	var before []int
	for k := range i {
		if w.runs[k] {
			before = append(before, k)
		}
	}
	if len(before) == 0 {
		return "what is under way"
	}
	return w.list(before)
}

// preempted returns the cause of the suspension of vjob i: it makes room for the earlier vjobs that are
// to start. If none is, capacity was lost, and it makes room for the earlier ones that stay running.
func (w *scan) preempted(i int, short Shortage) *cluster.Cause {
	c := &cluster.Cause{Kind: cluster.CausePreempted, Short: short.Missing, Text: short.String()}
	var stay []cluster.VJobRef
	for k := range i {
		switch j := &w.jobs[k]; {
		case !w.runs[k]:
		case j.State.Ready():
			c.VJobs = append(c.VJobs, j.Ref())
		case len(stay) < maxListed:
			stay = append(stay, j.Ref())
		default:
			c.Hidden++
		}
	}
	if len(c.VJobs) > 0 {
		c.Hidden = 0
		return c
	}
	c.VJobs = stay
	return c
}

// kept returns the cause of a wait for capacity that is kept for other purposes; nil for others.
func (s *Shortage) kept() *cluster.Cause {
	if s.Kept == "" {
		return nil
	}
	return &cluster.Cause{Kind: s.Kind, Short: s.Missing, Text: s.Kept}
}

// maxListed is how many vjobs a reason names before it only counts.
const maxListed = 3

// list names vjobs: "12", "12 and 15", "12, 15, 16 and 4 more".
func (w *scan) list(indices []int) string {
	last := len(indices) - 1
	switch {
	case last >= maxListed:
		return w.names(indices[:maxListed]) + " and " + strconv.Itoa(len(indices)-maxListed) + " more"
	case last == 0:
		return w.names(indices)
	default:
		return w.names(indices[:last]) + " and " + w.names(indices[last:])
	}
}

// names names all of some vjobs: "12, 15".
func (w *scan) names(indices []int) string {
	names := make([]string, len(indices))
	for i, k := range indices {
		names[i] = w.jobs[k].ID.String()
	}
	return strings.Join(names, ", ")
}

// Ordinal is "1st", "2nd", "3rd", "11th".
func Ordinal(n int) string {
	suffix := "th"
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// WhyHeld returns that a vjob is held, and by which user or why if known: "is held by ann".
func WhyHeld(j *cluster.VJob) string {
	if j.Hold.Is(cluster.CauseOrder) {
		return "is " + j.Hold.Text + " by " + j.Hold.By
	}
	return "is held" + j.Hold.Clause(j.State)
}
