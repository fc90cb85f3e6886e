package queue

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// DefaultHysteresis is the default of the policy parameter settle, [FirstFit.Hysteresis]: what it
// takes to suspend and resume a VM of 1 GiB on the hosts of the thesis.
const DefaultHysteresis = time.Minute

// grade compares vjobs for which no other waits: level, then priority.
type grade struct{ level, priority int }

func gradeOf(j *Job) grade { return grade{j.Level, j.Priority} }

func (g grade) compare(o grade) int {
	return cmp.Or(cmp.Compare(g.level, o.level), cmp.Compare(g.priority, o.priority))
}

// hysteresisOrder returns the indices of the jobs in a changed order: a vjob that has waited for
// less than Hysteresis comes after the vjobs of the same or a higher grade that have run for less
// than Hysteresis. It returns nil if that changes nothing, so that nothing changes either when the time is over.
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
	type position struct{ place, job int }
	positions, moved := make([]position, len(m.Jobs)), false
	for i := range m.Jobs {
		j, p := &m.Jobs[i], position{2 * i, i}
		if f.queuedRecently(j, m.Now) {
			for g, at := range last {
				if at > i && gradeOf(j).compare(g) <= 0 {
					p.place, moved = max(p.place, 2*at+1), true
				}
			}
		}
		positions[i] = p
	}
	if !moved {
		return nil
	}
	slices.SortFunc(positions, func(a, b position) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.job, b.job)) })
	order := make([]int, len(positions))
	for k := range positions {
		order[k] = positions[k].job
	}
	return order
}

// startedRecently reports whether a vjob has run for less than Hysteresis.
func (f FirstFit) startedRecently(j *Job, now time.Time) bool {
	return j.State == cluster.Running && !j.Busy && now.Sub(j.Since) < f.Hysteresis
}

// queuedRecently reports whether a vjob has waited for less than Hysteresis.
func (f FirstFit) queuedRecently(j *Job, now time.Time) bool {
	return j.State.Ready() && !j.Busy && now.Sub(j.waitingSince()) < f.Hysteresis
}

// waitingSince returns when a waiting vjob began to wait.
func (j *Job) waitingSince() time.Time {
	if j.Since.After(j.Submitted) {
		return j.Since
	}
	return j.Submitted
}
