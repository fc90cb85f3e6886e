package queue

import (
	"cmp"
	"slices"
	"time"
)

// dueAt is when a vjob that waits comes before others; zero is never.
func (e DynamicEASY) dueAt(j *Job) time.Time {
	const never = float64(100 * 365 * 24 * time.Hour)
	wait := e.Due * float64(j.Walltime)
	if wait <= 0 || wait > never || j.State.Terminal() {
		return time.Time{}
	}
	return j.Submitted.Add(j.Ran + time.Duration(wait))
}

// dueOrder is the order of the queue in which those that have waited for long enough have
// come forward, as far as nobody of a higher level is before them. While one runs it has
// waited no less, so nobody loses his place by running.
func (e DynamicEASY) dueOrder(m *Input) []int {
	turns, last := make([]rankedJob, len(m.Jobs)), map[int]int{} // the furthest place of each level
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

// rankedJob is when a vjob is looked at.
type rankedJob struct {
	job, level int
	place      int // one that is due comes behind whoever has this place by the order
	due        bool
}

func (t rankedJob) compare(o rankedJob) int {
	switch {
	case t.place != o.place:
		return cmp.Compare(t.place, o.place)
	case t.due && o.due:
		return cmp.Or(cmp.Compare(o.level, t.level), cmp.Compare(t.job, o.job))
	default: // the one who has the place comes first
		return cmp.Compare(t.job, o.job)
	}
}
