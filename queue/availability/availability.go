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

// Profile is what is free from an instant on. It counts in whole seconds: what begins
// within one begins with it, and what ends within one ends after it.
type Profile struct {
	now      time.Time
	cpu      *Timeline
	memory   *Timeline
	total    cluster.Resources
	first    Time        // when the first of what is taken ends
	searches int         // how often a place was looked for
	cache    *noFitCache // nil until that is worth it
	gaps     bool        // something is taken that begins later
}

// cacheFrom is from how many questions on they are remembered: the memo is large.
const cacheFrom = 100

// New has a total of room of which so much is taken for good. It may be more than
// there is: then nothing is free.
func New(now time.Time, total, taken cluster.Resources) *Profile {
	total = cluster.Resources{CPU: max(0, total.CPU), Memory: max(0, total.Memory)}
	o := &Profile{
		now: now, total: total, first: Never,
		cpu: NewTimeline(int64(total.CPU)), memory: NewTimeline(int64(total.Memory)),
	}
	o.Occupy(taken, 0, false)
	return o
}

// Occupy takes room from now on: for a length of time, or for good if it has no end.
// More than there is takes all there is.
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
	if o.gaps || amount > p.Free(0) { // there may be less later than now, or more
		book(p, 0, to, amount)
		return
	}
	p.Reserve(0, to, max(0, amount))
}

// Earliest is the first instant from which there is room for a length of time, or for
// good if it has no end. With later, it is not before something has ended that is
// taken now. It reports false when there is none.
func (o *Profile) Earliest(need cluster.Resources, length time.Duration, ends, later bool) (start time.Time, ok bool) {
	at := Time(0)
	if later {
		at = o.first
	}
	return o.from(at, need, length, ends)
}

// From is as [Profile.Earliest], but not before an instant.
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

// search is the first instant, from one on, from which all is free that is wanted.
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

// Reserve takes room from an instant on that [Profile.Earliest] has found.
func (o *Profile) Reserve(start time.Time, need cluster.Resources, length time.Duration, ends bool) {
	from, to := seconds(start.Sub(o.now)), Never
	if ends {
		to = from.Plus(max(1, seconds(length)))
	}
	o.cpu.Reserve(from, to, int64(need.CPU))
	o.memory.Reserve(from, to, int64(need.Memory))
}

// Book takes room from an instant on for a length of time; where there is less it takes
// all there is.
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
	var pieces []piece // as they are before any is taken
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

// Least is the first instant of a stretch of time at which something does not fit, and
// what is free then; it reports false if it fits all the time.
func (o *Profile) Least(from time.Time, length time.Duration, need cluster.Resources) (at time.Time, free cluster.Resources, short bool) {
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

// Free is what is free at an instant.
func (o *Profile) Free(at time.Time) cluster.Resources {
	s := seconds(at.Sub(o.now))
	return cluster.Resources{CPU: cluster.MilliCPU(o.cpu.Free(s)), Memory: cluster.MiB(o.memory.Free(s))}
}

// seconds rounds up.
func seconds(d time.Duration) Time {
	return Time((max(0, d) + time.Second - 1) / time.Second)
}

// furthest is how far ahead an instant can be told: what begins later never does.
const furthest = Time(200 * 365 * 24 * 3600)
