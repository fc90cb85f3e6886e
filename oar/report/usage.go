package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"vjob/oar"
)

// window is the length of OAR's accounting windows in seconds.
const window = 86_400

// Used returns what each user requested and used in a period, in CPU seconds: processors times
// walltime, and processors times running time, as far as they are within the period.
func Used(jobs []oar.Job, from, to, now int64) []oar.Usage {
	by := map[string]*oar.Usage{}
	for i := range jobs {
		j := &jobs[i]
		if j.Started == 0 {
			continue
		}
		stop := j.Stopped
		if stop == 0 {
			stop = now
		}
		used, asked := within(j.Started, stop, from, to), within(j.Started, j.Started+j.Walltime, from, to)
		if used == 0 && asked == 0 {
			continue
		}
		u := by[j.Owner]
		if u == nil {
			u = &oar.Usage{User: j.Owner, First: j.Started}
			by[j.Owner] = u
		}
		u.First = min(u.First, max(j.Started, from))
		u.Last = max(u.Last, min(stop, to))
		u.Asked += asked * processors(j)
		u.Used += used * processors(j)
	}
	list := []oar.Usage{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		u := by[name]
		u.First -= u.First % window
		u.Last += window - 1 - u.Last%window
		list = append(list, *u)
	}
	return list
}

// within returns the overlap of two intervals.
func within(start, stop, from, to int64) int64 { return max(min(stop, to)-max(start, from), 0) }

// processors returns the number in R= of a job's message.
func processors(j *oar.Job) int64 {
	text, _, _ := strings.Cut(strings.TrimPrefix(j.Message, "R="), ",")
	n, _ := strconv.ParseInt(text, 10, 64) // every message begins with R=
	return n
}
