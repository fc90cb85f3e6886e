package queue

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// Settling is how long settings let vjobs settle under [FirstFit]: what it takes to suspend a
// VM of 1 GiB and to resume it on the hosts of the thesis, and not so long that anybody would
// mind.
const Settling = time.Minute

// grade is that of those who need not wait for others to settle.
type grade struct{ level, priority int }

func gradeOf(j *Job) grade { return grade{j.Level, j.Priority} }

func (g grade) compare(o grade) int {
	return cmp.Or(cmp.Compare(g.level, o.level), cmp.Compare(g.priority, o.priority))
}

// hysteresisOrder is the order of the queue in which those that wait since lately have stepped back
// behind those that have just begun, unless these are of a lower grade. Nobody steps back
// for long: neither before those that go on, nor once he has waited. Nil: nobody does.
func (f FirstFit) hysteresisOrder(m *Input) []int {
	last := map[grade]int{} // the last place of those that have just begun
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

// startedRecently reports whether a vjob has just begun.
func (f FirstFit) startedRecently(j *Job, now time.Time) bool {
	return j.State == cluster.Running && !j.Busy && now.Sub(j.Since) < f.Settle
}

// queuedRecently reports whether a vjob waits since lately.
func (f FirstFit) queuedRecently(j *Job, now time.Time) bool {
	return j.State.Ready() && !j.Busy && now.Sub(j.waitingSince()) < f.Settle
}

// waitingSince is since when one that waits does.
func (j *Job) waitingSince() time.Time {
	if j.Since.After(j.Submitted) {
		return j.Since
	}
	return j.Submitted
}
