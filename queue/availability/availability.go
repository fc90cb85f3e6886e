// Package availability keeps the capacity that is free over time, in sums over all nodes, and
// finds the earliest start for an amount and a length.
//
// A [Profile] is CPU and memory of a cluster, a [Limit] one amount with an upper bound that
// changes with time, such as a quota, and a [Timeline] the step function below both. Whether
// free capacity lies in pieces that are large enough for VMs is decided elsewhere.
package availability

import (
	"time"

	"vjob/cluster"
)

// Profile is the free CPU and memory from an instant on. It counts whole seconds: what begins within
// one begins with it, and what ends within one ends after it.
type Profile struct {
	now      time.Time
	cpu      *Timeline
	memory   *Timeline
	total    cluster.Resources
	first    Time        // first end of what is taken
	searches int         // number of searches
	cache    *noFitCache // nil before cacheFrom searches
	gaps     bool        // a booking begins later
}

// cacheFrom is the number of searches after which results are cached: the cache is large.
const cacheFrom = 100

// New returns the profile of a total of which so much is taken for good. If more is taken than there
// is, nothing is free.
func New(now time.Time, total, taken cluster.Resources) *Profile {
	total = cluster.Resources{CPU: max(0, total.CPU), Memory: max(0, total.Memory)}
	o := &Profile{
		now: now, total: total, first: Never,
		cpu: NewTimeline(int64(total.CPU)), memory: NewTimeline(int64(total.Memory)),
	}
	o.Occupy(taken, 0, false)
	return o
}

// Occupy takes capacity from now on, for a length of time or for good. More than there is takes all.
func (o *Profile) Occupy(need cluster.Resources, length time.Duration, ends bool) {
	to := Never
	if ends {
		to = max(1, seconds(length))
		o.first = min(o.first, to)
	}
	o.occupy(o.cpu, to, int64(need.CPU))
	o.occupy(o.memory, to, int64(need.Memory))
}

func (o *Profile) occupy(p *Timeline, to Time, amount int64) {
	if o.gaps || amount > p.Free(0) { // later less may be free than now
		book(p, 0, to, amount)
		return
	}
	p.Reserve(0, to, max(0, amount))
}

// Earliest returns the first instant from which so much is free for a length of time, or for good.
// With later, it is not before the first end of what is taken now. It reports false if no instant fits.
func (o *Profile) Earliest(need cluster.Resources, length time.Duration, ends, later bool) (start time.Time, ok bool) {
	at := Time(0)
	if later {
		at = o.first
	}
	return o.from(at, need, length, ends)
}

// From is [Profile.Earliest] from an instant on.
func (o *Profile) From(at time.Time, need cluster.Resources, length time.Duration, ends bool) (start time.Time, ok bool) {
	return o.from(seconds(at.Sub(o.now)), need, length, ends)
}

func (o *Profile) from(at Time, need cluster.Resources, length time.Duration, ends bool) (start time.Time, ok bool) {
	if need.CPU > o.total.CPU || need.Memory > o.total.Memory {
		return time.Time{}, false
	}
	span := Never
	if ends {
		span = max(1, seconds(length))
	}
	wanted := amounts{int64(need.CPU), int64(need.Memory), int64(span)}
	if o.searches++; o.searches == cacheFrom {
		o.cache = newNoFitCache(o.total)
	}
	whenever := at == 0
	if o.cache != nil {
		at = max(at, o.cache.earliest(wanted))
	}
	at = o.search(at, wanted)
	if o.cache != nil && whenever {
		o.cache.add(wanted, at)
	}
	if at > furthest {
		return time.Time{}, false
	}
	return o.now.Add(time.Duration(at) * time.Second), true
}

// search returns the first instant, from one on, from which all is free that is wanted.
func (o *Profile) search(at Time, wanted amounts) Time {
	cpu, memory, span := wanted[0], wanted[1], Time(wanted[2])
	for at < Never {
		next := o.cpu.Earliest(at, span, cpu, Never)
		next = max(next, o.memory.Earliest(at, span, memory, Never))
		if next == at {
			break
		}
		at = next
	}
	return at
}

// Reserve takes capacity from an instant on that [Profile.Earliest] has returned.
func (o *Profile) Reserve(start time.Time, need cluster.Resources, length time.Duration, ends bool) {
	from, to := seconds(start.Sub(o.now)), Never
	if ends {
		to = from.Plus(max(1, seconds(length)))
	}
	o.cpu.Reserve(from, to, int64(need.CPU))
	o.memory.Reserve(from, to, int64(need.Memory))
}

// Book takes capacity from an instant on for a length of time, or all there is where less is free.
func (o *Profile) Book(start time.Time, need cluster.Resources, length time.Duration) {
	from := seconds(start.Sub(o.now))
	to := from.Plus(max(1, seconds(length)))
	o.first, o.gaps = min(o.first, to), true
	book(o.cpu, from, to, int64(need.CPU))
	book(o.memory, from, to, int64(need.Memory))
}

func book(p *Timeline, from, to Time, amount int64) {
	type piece struct {
		at   Time
		free int64
	}
	var pieces []piece // before the change
	for at, free := range p.Steps(from) {
		if at >= to {
			break
		}
		pieces = append(pieces, piece{at, free})
	}
	for i, b := range pieces {
		end := to
		if i+1 < len(pieces) {
			end = pieces[i+1].at
		}
		p.Reserve(b.at, end, min(max(0, amount), b.free))
	}
}

// FirstShortage returns the first instant of a period at which something does not fit, and what is free then.
// It reports false if it fits all the time.
func (o *Profile) FirstShortage(from time.Time, length time.Duration, need cluster.Resources) (at time.Time, free cluster.Resources, short bool) {
	begin := seconds(from.Sub(o.now))
	end := begin.Plus(max(1, seconds(length)))
	first := Never
	for _, dim := range []struct {
		p    *Timeline
		need int64
	}{{o.cpu, int64(need.CPU)}, {o.memory, int64(need.Memory)}} {
		for t, free := range dim.p.Steps(begin) {
			if t >= end {
				break
			}
			if free < dim.need {
				first = min(first, t)
				break
			}
		}
	}
	if first > furthest {
		return time.Time{}, cluster.Resources{}, false
	}
	at = o.now.Add(time.Duration(first) * time.Second)
	return at, o.Free(at), true
}

// Free returns what is free at an instant.
func (o *Profile) Free(at time.Time) cluster.Resources {
	s := seconds(at.Sub(o.now))
	return cluster.Resources{CPU: cluster.MilliCPU(o.cpu.Free(s)), Memory: cluster.MiB(o.memory.Free(s))}
}

// seconds rounds up.
func seconds(d time.Duration) Time {
	return Time((max(0, d) + time.Second - 1) / time.Second)
}

// furthest is the last instant that searches return; later ones count as never.
const furthest = Time(200 * 365 * 24 * 3600)
