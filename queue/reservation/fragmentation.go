package reservation

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue"
)

// Each placement packs the whole cluster: so many starts are tried, and so many instants of each.
const (
	maxTrials   = 24
	maxInstants = maxStarts
)

// fragmented returns the first instant from another on at which the vjob cannot be placed beside those
// that run then although sums suffice, and what prevents it. Running VMs may be moved.
func (r *Request) fragmented(from time.Time) (at time.Time, short queue.Shortage, ok bool) {
	if r.Capacity == nil {
		return at, short, false
	}
	for _, at := range r.peakInstants(from) {
		capacity := r.Capacity()
		for i := range r.NonPreemptible {
			if r.keptAt(&r.NonPreemptible[i], at) {
				capacity.Take(r.NonPreemptible[i].ID)
			}
		}
		for i := range r.Others {
			if b := &r.Others[i]; b.Covers(at) {
				capacity.Take(b.VJob)
			}
		}
		if fits, short := capacity.Take(r.VJob); !fits {
			return at, short, true
		}
	}
	return at, short, false
}

// peakInstants returns the instants at which most is taken: the start, and the starts of others.
func (r *Request) peakInstants(from time.Time) []time.Time {
	list := []time.Time{from}
	for i := range r.Others {
		if at := r.Others[i].From; at.After(from) && at.Before(from.Add(r.Length)) {
			list = append(list, at)
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	list = slices.CompactFunc(list, time.Time.Equal)
	return list[:min(len(list), maxInstants)]
}

// keptAt reports whether a vjob that keeps its capacity may still run at an instant.
func (r *Request) keptAt(j *queue.Job, at time.Time) bool {
	left, ends := j.Left()
	return !ends || at.Before(r.Now.Add(left))
}

// next returns the first instant after another at which capacity becomes free, or quotas or power
// budgets change.
func (r *Request) next(after time.Time) (at time.Time, ok bool) {
	see := func(end time.Time) {
		if end.After(after) && (!ok || end.Before(at)) {
			at, ok = end, true
		}
	}
	for i := range r.NonPreemptible {
		if left, ends := r.NonPreemptible[i].Left(); ends {
			see(r.Now.Add(left))
		}
	}
	for i := range r.Others {
		see(r.Others[i].Until())
	}
	if r.NextChange != nil {
		if turn, changes := r.NextChange(after); changes {
			see(turn)
		}
	}
	return at, ok
}

// shortfall is an instant at which a reservation lacks something, and what.
type shortfall struct {
	at         time.Time
	free       cluster.Resources // in sum
	fragmented bool              // the sum suffices, the pieces are too small
	rule       string            // a rule that prevents it, in words
	limit      string            // an exhausted quota, in words
	power      string            // an exceeded power budget, in words
}

// firstShortfall returns the first obstacle to a reservation that begins at an instant.
func (r *Request) firstShortfall(from time.Time) (s shortfall, so bool) {
	if r.Limit != nil {
		if limit := r.Limit(from); limit != "" {
			return shortfall{at: from, limit: limit}, true
		}
	}
	o := r.profile()
	at, free, lacks := o.FirstShortage(from, r.Length, r.Need)
	if lacks {
		return shortfall{at: at, free: free}, true
	}
	if r.Power != nil {
		if at, why := r.Power(from, from.Add(r.Length)); why != "" {
			return shortfall{at: at, power: why}, true
		}
	}
	if at, lack, so := r.fragmented(from); so {
		return shortfall{at: at, free: o.Free(at), fragmented: true, rule: lack.Rule}, true
	}
	return s, false
}

// earliest returns the first start without a shortfall within maxTrials; otherwise the reason.
func (r *Request) earliest(from time.Time) (start time.Time, why string) {
	o := r.profile()
	for range maxTrials {
		start, ok := o.From(from, r.Need, r.Length, true)
		if !ok {
			return start, "there is no later start either"
		}
		if start = roundUp(start); r.beyond(start) {
			return start, "the earliest start is beyond " + cluster.Clock(r.Now.Add(r.Horizon), r.Now) + ", as far ahead as may be reserved"
		}
		if _, lacks := r.firstShortfall(start); !lacks {
			return start, ""
		}
		later, more := r.next(start)
		if !more {
			return start, "there is no later start either"
		}
		from = later
	}
	return from, "there is no start before " + cluster.Clock(from, r.Now) + " either"
}

// beyond reports whether an instant is after the horizon.
func (r *Request) beyond(at time.Time) bool { return r.Horizon > 0 && at.After(r.Now.Add(r.Horizon)) }
