package queue

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// DefaultHysteresis is the Settle of [FirstFit] in settings: what it takes to suspend and resume a VM of
// 1 GiB on the hosts of the thesis.
const DefaultHysteresis = time.Minute

// grade compares vjobs for which no other waits: level, then priority.
type grade struct{ level, priority int }

func gradeOf(j *Job) grade { return grade{j.Level, j.Priority} }

func (g grade) compare(o grade) int {
	return cmp.Or(cmp.Compare(g.level, o.level), cmp.Compare(g.priority, o.priority))
}

// hysteresisOrder returns the indices of the jobs with those that wait since less than Settle moved
// behind those of no higher grade that started within Settle. It returns nil if none started.
func (f FirstFit) hysteresisOrder(m *Input) []int {
	last := map[grade]int{} // last place of those that started recently
	for i := range m.Jobs {
		if f.startedRecently(&m.Jobs[i], m.Now) {
			last[gradeOf(&m.Jobs[i])] = i
		}
	}
	if len(last) == 0 {
		return nil
	}
	type turn struct{ place, job int }
	turns := make([]turn, len(m.Jobs))
	for i := range m.Jobs {
		j, t := &m.Jobs[i], turn{2 * i, i}
		if f.queuedRecently(j, m.Now) {
			for g, at := range last {
				if at > i && gradeOf(j).compare(g) <= 0 {
					t.place = max(t.place, 2*at+1)
				}
			}
		}
		turns[i] = t
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.job, b.job)) })
	order := make([]int, len(turns))
	for k := range turns {
		order[k] = turns[k].job
	}
	return order
}

// startedRecently reports whether a vjob runs since less than Settle.
func (f FirstFit) startedRecently(j *Job, now time.Time) bool {
	return j.State == cluster.Running && !j.Busy && now.Sub(j.Since) < f.Hysteresis
}

// queuedRecently reports whether a vjob waits since less than Settle.
func (f FirstFit) queuedRecently(j *Job, now time.Time) bool {
	return j.State.Ready() && !j.Busy && now.Sub(j.waitingSince()) < f.Hysteresis
}

// waitingSince returns since when a waiting vjob waits.
func (j *Job) waitingSince() time.Time {
	if j.Since.After(j.Submitted) {
		return j.Since
	}
	return j.Submitted
}
