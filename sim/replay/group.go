package replay

import (
	"cmp"
	"maps"
	"slices"

	"vjob/internal/chart"
)

// Group is the results of vjobs with a common property.
type Group struct {
	Name     string
	VJobs    int
	Wait     chart.Distribution // in seconds, from submission to the first start
	Slowdown chart.Distribution // bounded, as in [Summary]
}

// Groups groups the vjobs by name, such as that of their queue. Larger groups come first.
func (r *Result) Groups(name func(*VJob) string) []Group {
	of := map[string]*totals{}
	for i := range r.VJobs {
		n := name(&r.VJobs[i])
		if of[n] == nil {
			of[n] = &totals{}
		}
		of[n].add(&r.VJobs[i])
	}
	list := make([]Group, 0, len(of))
	for _, n := range slices.Sorted(maps.Keys(of)) {
		f := of[n]
		list = append(list, Group{Name: n, VJobs: f.vjobs, Wait: chart.Distribute(f.waits), Slowdown: chart.Distribute(f.slowdowns)})
	}
	slices.SortStableFunc(list, func(a, b Group) int { return cmp.Compare(b.VJobs, a.VJobs) })
	return list
}

// totals collects the waiting times and slowdowns of vjobs.
type totals struct {
	vjobs            int
	waits, slowdowns []float64
}

func (f *totals) add(j *VJob) {
	f.vjobs++
	if j.Started >= 0 {
		f.waits = append(f.waits, (j.Started - j.Submitted).Seconds())
	}
	if j.Ended >= 0 && j.Started >= 0 {
		f.slowdowns = append(f.slowdowns, chart.BoundedSlowdown((j.Ended-j.Submitted).Seconds(), j.Length.Seconds()))
	}
}
