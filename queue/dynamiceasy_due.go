package queue

import (
	"cmp"
	"slices"
	"time"
)

// dueAt returns when a waiting vjob comes before others; zero is never.
func (e DynamicEASY) dueAt(j *Job) time.Time {
	const never = float64(100 * 365 * 24 * time.Hour)
	wait := e.Due * float64(j.Walltime)
	if wait <= 0 || wait > never || j.State.Terminal() {
		return time.Time{}
	}
	return j.Submitted.Add(j.Ran + time.Duration(wait))
}

// dueOrder returns the indices of the jobs with due ones moved forward, but not before jobs of a
// higher level. A running vjob stays due, so that it does not lose its place by running.
func (e DynamicEASY) dueOrder(m *Input) []int {
	turns, last := make([]rankedJob, len(m.Jobs)), map[int]int{} // last place of each level
	for i := range m.Jobs {
		j, t := &m.Jobs[i], rankedJob{job: i, place: i + 1}
		t.level = j.Level
		if at := e.dueAt(j); !at.IsZero() && !at.After(m.Now) {
			t.due, t.place = true, 0
			for level, place := range last {
				if level > j.Level {
					t.place = max(t.place, place)
				}
			}
		}
		last[j.Level] = max(last[j.Level], t.place)
		turns[i] = t
	}
	slices.SortFunc(turns, rankedJob.compare)
	order := make([]int, len(turns))
	for k := range turns {
		order[k] = turns[k].job
	}
	return order
}

// rankedJob is a job with its place in the order.
type rankedJob struct {
	job, level int
	place      int // a due job comes behind the job at this place of the queue
	due        bool
}

func (t rankedJob) compare(o rankedJob) int {
	switch {
	case t.place != o.place:
		return cmp.Compare(t.place, o.place)
	case t.due && o.due:
		return cmp.Or(cmp.Compare(o.level, t.level), cmp.Compare(t.job, o.job))
	default: // the job that had this place comes first
		return cmp.Compare(t.job, o.job)
	}
}
