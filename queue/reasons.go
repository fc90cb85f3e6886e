package queue

import (
	"strconv"
	"strings"

	"vjob/cluster"
)

// line is what the reasons of vjobs that wait for capacity have in common. In a long queue their texts are much of a decision.
type line struct {
	short Shortage // of the last vjob that was refused
	lacks string   // as text
	ahead string   // the first vjobs in line, as many as a reason names
	text  []byte   // of the last reason
}

// lacking is the text of a shortage.
func (l *line) lacking(short *Shortage) string {
	if l.lacks == "" || *short != l.short {
		l.short, l.lacks = *short, short.String()
	}
	return l.lacks
}

// reason returns the reason of the next waiting vjob, with its position: "waits: …; 3rd in line behind 12 and 15".
func (w *scan) reason(why string) string {
	l, before := &w.line, len(w.waiting)
	l.text = append(append(append(l.text[:0], "waits: "...), why...), "; "...)
	l.text = append(appendOrdinal(l.text, before+1), " in line"...)
	switch {
	case before == 0:
		return string(l.text)
	case before <= maxListed:
		return string(append(append(l.text, " behind "...), w.list(w.waiting)...))
	case l.ahead == "":
		l.ahead = " behind " + w.names(w.waiting[:maxListed]) + " and "
	}
	l.text = strconv.AppendInt(append(l.text, l.ahead...), int64(before-maxListed), 10)
	return string(append(l.text, " more"...))
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
func Ordinal(n int) string { return string(appendOrdinal(nil, n)) }

func appendOrdinal(text []byte, n int) []byte {
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
	return append(strconv.AppendInt(text, int64(n), 10), suffix...)
}

// WhyHeld returns that a vjob is held, and by which user or why if known: "is held by ann".
func WhyHeld(j *cluster.VJob) string {
	if j.Hold.Is(cluster.CauseOrder) {
		return "is " + j.Hold.Text + " by " + j.Hold.By
	}
	return "is held" + j.Hold.Clause(j.State)
}
