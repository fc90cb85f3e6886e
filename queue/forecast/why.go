package forecast

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// maxNamed is how many ends a reason names at most.
const maxNamed = 3

// why is what must end before a vjob can start, as it continues the reason of the decision: "; 12 and 15 end at
// 18:40 and 19:10: then there is room".
func (f *forecast) why(j *Job, start time.Time, b cause, known bool) reason {
	switch {
	case known && b.limit != "":
		return reason{before: "; from " + f.clock(start) + " on it is within " + b.limit}
	case !known && b.limit != "" && len(f.endless) > 0:
		return f.unknown("; when it comes to be within " + b.limit)
	case !known && b.limit != "":
		return reason{before: "; it never comes to be within " + b.limit}
	case b.infeasible:
		return reason{before: "; the rules leave it no places on the nodes as they are, whichever vjobs end"}
	case b.preempts:
		return reason{before: "; from " + f.clock(start) + " on there is room beside those before it, if others make theirs"}
	case b.late:
		return reason{before: "; it cannot come to its end before " + f.clock(f.Until)}
	case !known && len(f.endless) > 0:
		return f.unknown("; when there will be room")
	case !known: // something else than capacity is missing
		return reason{}
	}
	before := f.lastEnds(j, start)
	if len(before) == 0 {
		return reason{}
	}
	ids, times := make([]cluster.VJobID, len(before)), make([]string, len(before))
	for i, e := range before {
		ids[i], times[i] = e.job, f.clock(e.at.Add(-f.Gap))
	}
	verb := " ends at "
	if len(ids) > 1 {
		verb = " end at "
	}
	then := ": then"
	if f.Gap > 0 {
		then = ": " + f.Gap.String() + " later"
	}
	room := " there is room"
	if b.fragmented {
		room = " there are places for its VMs"
	}
	return reason{before: "; ", named: ids, after: verb + cluster.Enumerate(times, 0) + then + room}
}

// unknown is that an instant cannot be known, since some vjobs have no walltime.
func (f *forecast) unknown(what string) reason {
	verb, n := " have", len(f.endless)
	if n == 1 {
		verb = " has"
	}
	named := f.endless[:min(n, maxNamed)]
	return reason{what + " cannot be known: ", named, n - len(named), verb + " no walltime"}
}

// reason continues the reason of the last decision. It may name vjobs.
type reason struct {
	before string
	named  []cluster.VJobID // may be none
	more   int              // vjobs that it does not name beside those
	after  string
}

// Why is the reason, with what a waiting vjob waits for.
func (e *Estimate) Why() string {
	r, named := &e.because, ""
	if len(r.named) > 0 {
		names := make([]string, len(r.named))
		for i, id := range r.named {
			names[i] = id.String()
		}
		named = cluster.Enumerate(names, r.more)
	}
	return e.job.Reason + r.before + named + r.after
}

// Discreet is the reason for users that must not see all of the vjobs that it names.
func (e *Estimate) Discreet() string {
	r, named := &e.because, ""
	switch n := len(r.named) + r.more; {
	case n == 1:
		named = "another vjob"
	case n > 1:
		named = fmt.Sprintf("%d other vjobs", n)
	}
	return cmp.Or(e.job.Discreet, e.job.Reason) + r.before + named + r.after
}

// Named are the vjobs that the reason names.
func (e *Estimate) Named() []cluster.VJobID { return slices.Concat(e.job.Named, e.because.named) }

// lastEnds returns the ends that free what is missing now, in order, the last of them at the start; at
// most maxNamed.
func (f *forecast) lastEnds(j *Job, start time.Time) []end {
	f.sort()
	n, _ := slices.BinarySearchFunc(f.ends, start, func(e end, t time.Time) int {
		if e.at.After(t) {
			return 1
		}
		return -1
	})
	missing := j.Need.Minus(f.available.Free(f.Now))
	from := n
	for from > 0 && n-from < maxNamed && (from == n || missing.CPU > 0 || missing.Memory > 0) {
		from--
		missing = missing.Minus(f.ends[from].need)
	}
	return f.ends[from:n]
}

// sort sorts the ends. Those added since the last call are few, or near the end.
func (f *forecast) sort() {
	compare := func(a, b end) int { return a.at.Compare(b.at) }
	if f.sorted == 0 {
		slices.SortStableFunc(f.ends, compare)
		f.sorted = len(f.ends)
	}
	for ; f.sorted < len(f.ends); f.sorted++ {
		e := f.ends[f.sorted]
		at, _ := slices.BinarySearchFunc(f.ends[:f.sorted], e, func(a, b end) int {
			if a.at.After(b.at) {
				return 1
			}
			return -1
		})
		copy(f.ends[at+1:f.sorted+1], f.ends[at:f.sorted])
		f.ends[at] = e
	}
}

func (f *forecast) clock(at time.Time) string { return cluster.Clock(at, f.Now) }
