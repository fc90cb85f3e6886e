package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"vjob/oar"
)

// window is the length of the windows by which OAR accounts, in seconds.
const window = 86_400

// Used is what each user asked for and used between two moments: processors times
// seconds of walltime, and of the time between start and end, each as far as it lies
// between the moments.
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

// within is how much of a stretch lies between two moments.
func within(start, stop, from, to int64) int64 { return max(min(stop, to)-max(start, from), 0) }

// processors is what R= says in the message of a job.
func processors(j *oar.Job) int64 {
	text, _, _ := strings.Cut(strings.TrimPrefix(j.Message, "R="), ",")
	n, _ := strconv.ParseInt(text, 10, 64) // every message begins with R=
	return n
}
