package forecast

import (
	"slices"
	"time"

	"vjob/cluster"
)

// cause is what a vjob waits for last, beside capacity in sum.
type cause struct {
	limit      string // a limit, in words; "" for none
	fragmented bool   // the free pieces were too small for its VMs
	preempts   bool   // later vjobs are suspended for it
	late       bool   // it would end after Until
	infeasible bool   // the rules allow no placement
}

// earliest returns the first start from an instant on at which a vjob fits in sum and on nodes, and is
// within its limits.
func (f *forecast) earliest(j *Job, from time.Time) (start time.Time, b cause, ok bool) {
	if start, ok = f.withinLimits(j, from, &b); start.After(f.Now) || !ok { // capacity may be free before
		from, start = start, f.Now
	} else {
		start, ok = f.available.Earliest(j.Need, j.Left, j.Ends, !f.leaving)
	}
	for tries := 0; ok; tries++ {
		if f.tooLate(j, cluster.Later(start, from)) {
			return start, cause{late: true}, false
		}
		if start.Before(from) {
			start, ok = f.available.From(from, j.Need, j.Left, j.Ends)
			continue
		}
		if from, ok = f.withinLimits(j, start, &b); from.After(start) || !ok {
			continue
		}
		end, again := f.nextEnd(start)
		if !again || tries >= maxTries || f.placesFit(j, start) && f.satisfiesRules(j, start) {
			return start, b, f.isKnown(start)
		}
		from, b = end, cause{fragmented: true}
	}
	return start, b, false
}

// tooLate reports whether a vjob with this start would end after Until.
func (f *forecast) tooLate(j *Job, start time.Time) bool {
	return !f.Until.IsZero() && (!j.Ends || start.Add(j.Left-f.Gap).After(f.Until))
}

// maxTries bounds the ends after which placement is tried.
const maxTries = 64

// withinLimits returns when all limits allow a vjob to start, from an instant on.
func (f *forecast) withinLimits(j *Job, from time.Time, b *cause) (start time.Time, ok bool) {
	start = from
	for _, part := range j.Parts {
		at, possible := part.Earliest(start, j.Left, j.Ends)
		if !possible {
			*b = cause{limit: part.Of.At(start).Name}
			return start, false
		}
		if at.After(start) {
			start, *b = at, cause{limit: part.Of.At(at).Name}
		}
	}
	if j.Pool == nil {
		return start, true
	}
	at, limit, ok := j.Pool.Earliest(start, j.Left, j.Ends)
	if !ok {
		*b = cause{limit: limit}
		return start, false
	}
	if at.After(start) {
		*b = cause{limit: limit}
	}
	return at, true
}

// nextEnd returns the first instant after another at which capacity becomes free.
func (f *forecast) nextEnd(after time.Time) (at time.Time, ok bool) {
	f.sort()
	i, _ := slices.BinarySearchFunc(f.ends, after, func(e end, t time.Time) int {
		if e.at.After(t) {
			return 1
		}
		return -1
	})
	if i == len(f.ends) {
		return at, false
	}
	return f.ends[i].at, true
}

// maxEffort bounds the effort for placement, in VMs and nodes: some tenths of a second. Later vjobs
// are forecast by sums.
const maxEffort = 10_000_000

// placesFit reports whether a vjob can be placed at an instant beside all that run then: the largest
// VMs first, each on the first node with capacity.
func (f *forecast) placesFit(j *Job, at time.Time) bool {
	if len(j.VMs) == 0 || f.effort <= 0 {
		return true
	}
	sizes := map[cluster.Resources]int{}
	for i := range f.Jobs {
		if f.runsAt(i, at) {
			f.effort -= count(sizes, f.Jobs[i].VMs)
		}
	}
	f.effort -= count(sizes, j.VMs) + len(f.Jobs)
	order := make([]cluster.Resources, 0, len(sizes))
	for size := range sizes {
		order = append(order, size)
	}
	slices.SortFunc(order, f.larger)
	free := slices.Clone(f.Nodes)
	for _, size := range order {
		left := sizes[size]
		for n := 0; n < len(free) && left > 0; n++ {
			for ; left > 0 && size.Fits(free[n]); left-- {
				free[n] = free[n].Minus(size)
			}
		}
		f.effort -= len(free)
		if left > 0 {
			return false
		}
	}
	return true
}

// count adds VMs to the number of their size and returns how many they are.
func count(sizes map[cluster.Resources]int, vms []cluster.Resources) int {
	for _, size := range vms {
		sizes[size]++
	}
	return len(vms)
}

// larger compares sizes: first those that need a larger share of the cluster's CPU or memory.
func (f *forecast) larger(a, b cluster.Resources) int {
	share := func(r cluster.Resources) float64 {
		return max(float64(r.CPU)/float64(max(1, f.Total.CPU)), float64(r.Memory)/float64(max(1, f.Total.Memory)))
	}
	switch x, y := share(a), share(b); {
	case x > y:
		return -1
	case x < y:
		return 1
	case a.CPU != b.CPU:
		return int(b.CPU - a.CPU)
	default:
		return int(b.Memory - a.Memory)
	}
}
