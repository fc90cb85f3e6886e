package pool

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/queue/availability"
)

// Forecast is what is going to be reserved in the pools of a hierarchy, if vjobs use their whole walltimes. It belongs
// to one goroutine.
type Forecast struct {
	h      *Hierarchy
	now    time.Time
	within [][len(resources)]*availability.Timeline // free amount of plenty: what is reserved in each member
	effort int                                      // left for pools with reservations of their own, in steps of timelines
}

const (
	plenty    = 1 << 52 // more than can be reserved
	maxEffort = 20_000_000
	furthest  = availability.Time(200 * 365 * 24 * 3600)
)

// Forecast returns a forecast from an instant on of a hierarchy that has pools and no VMs.
func (h *Hierarchy) Forecast(now time.Time) *Forecast {
	f := &Forecast{h: h, now: now, within: make([][len(resources)]*availability.Timeline, len(h.members)), effort: maxEffort}
	for i := range h.members {
		for k := range resources {
			t := availability.NewTimeline(plenty)
			if kept := *resources[k].amount(&h.within[i]); kept > 0 {
				t.Reserve(0, availability.Never, kept)
			}
			f.within[i][k] = t
		}
	}
	return f
}

// Need returns what a vjob takes in a pool that reserves so much there, for a forecast of it.
func (f *Forecast) Need(pool string, more cluster.Resources) *ForecastNeed {
	return &ForecastNeed{f: f, at: f.h.pools[pool], more: more}
}

// ForecastNeed is what one vjob reserves in its pool.
type ForecastNeed struct {
	f    *Forecast
	at   int // the pool
	more cluster.Resources
}

// piece is an amount that is reserved between two instants.
type piece struct {
	from, to availability.Time
	amount   int64
}

// Take reserves the need from an instant on, for a length of time or for good, whatever the limits.
func (n *ForecastNeed) Take(from time.Time, length time.Duration, ends bool) {
	start := n.f.seconds(from)
	for k := range resources {
		pieces := n.pieces(start, span(length, ends), k)
		for i := n.at; i >= 0 && len(pieces) > 0; i = n.f.h.members[i].Parent {
			above := n.f.raised(i, k, pieces)
			for _, p := range pieces {
				n.f.within[i][k].Reserve(p.from, p.to, p.amount)
			}
			pieces = above
		}
	}
}

// pieces returns the need of a resource, as one piece; none if it is 0.
func (n *ForecastNeed) pieces(start, length availability.Time, k int) []piece {
	if amount := *resources[k].amount(&n.more); amount > 0 {
		return []piece{{start, start.Plus(length), amount}}
	}
	return nil
}

// absorbs reports whether a pool has a reservation of its own, within which what is reserved in it takes nothing more.
// When the effort is used up none has, so that starts are estimated too late rather than too early.
func (f *Forecast) absorbs(i, k int) bool {
	return f.effort > 0 && resources[k].of(&f.h.members[i].Settings).Reservation > 0
}

// raised returns by how much more a pool keeps of its own pool when pieces are reserved in it.
func (f *Forecast) raised(i, k int, pieces []piece) (above []piece) {
	if !f.absorbs(i, k) {
		return pieces
	}
	own := resources[k].of(&f.h.members[i].Settings).Reservation
	for _, p := range pieces {
		f.eachStep(i, k, p, func(from, to availability.Time, reserved int64) bool {
			f.effort--
			more := max(own, reserved+p.amount) - max(own, reserved)
			switch last := len(above) - 1; {
			case more <= 0:
			case last >= 0 && above[last].to == from && above[last].amount == more:
				above[last].to = to
			default:
				above = append(above, piece{from, to, more})
			}
			return true
		})
	}
	return above
}

// eachStep calls a function with what is reserved in a member while a piece lasts, step by step, until it returns false.
func (f *Forecast) eachStep(i, k int, p piece, do func(from, to availability.Time, reserved int64) bool) {
	from, reserved, begun := p.from, int64(0), false
	for at, free := range f.within[i][k].Steps(p.from) {
		if begun && at > from {
			if !do(from, min(at, p.to), reserved) {
				return
			}
		}
		if at >= p.to {
			return
		}
		from, reserved, begun = max(at, p.from), plenty-free, true
	}
	do(from, p.to, reserved)
}

// Earliest returns the first instant, from one on, at which the vjob may begin that runs for a length of time, or for
// good, and the limit for which it waits until then, in words. It reports false if no instant does.
func (n *ForecastNeed) Earliest(from time.Time, length time.Duration, ends bool) (start time.Time, limit string, ok bool) {
	at, start := n.f.seconds(from), from
	for moved := true; moved; {
		moved = false
		for k := range resources {
			next, by := n.earliest(at, span(length, ends), k)
			if next >= furthest {
				return start, by, false
			}
			if next > at {
				at, limit, moved = next, by, true
			}
		}
	}
	if later := n.f.now.Add(time.Duration(at) * time.Second); later.After(from) {
		start = later
	}
	return start, limit, true
}

// earliest returns the first instant, from one on, at which no limit of a resource is exceeded, and the last limit for
// which it waits.
func (n *ForecastNeed) earliest(at, length availability.Time, k int) (availability.Time, string) {
	by := ""
	for at < furthest {
		whole := n.pieces(at, length, k)
		pieces, again, constant := whole, false, true
		for i := n.at; i >= 0 && len(pieces) > 0 && !again; i = n.f.h.members[i].Parent {
			next := at
			if constant {
				next = n.f.earliest(i, k, whole[0], length)
			} else if since, violated := n.f.violated(i, k, pieces); violated {
				next = n.nextChange(i, k, since)
			}
			if again = next > at; again {
				at, by = next, n.f.name(i, k)
				continue
			}
			constant = constant && !n.f.absorbs(i, k)
			pieces = n.f.raised(i, k, pieces)
		}
		if !again {
			return at, by
		}
	}
	return furthest, by
}

// limit returns the limit of a member, and whether it can be exceeded.
func (f *Forecast) limit(i, k int) (most int64, limited bool) {
	most = resources[k].of(&f.h.members[i].Settings).Limit
	return most, most < plenty
}

// earliest returns the first instant at which a need that takes as much all the time is within the limit of a member.
func (f *Forecast) earliest(i, k int, p piece, length availability.Time) availability.Time {
	most, limited := f.limit(i, k)
	if !limited {
		return p.from
	}
	return f.within[i][k].Earliest(p.from, length, plenty-most+p.amount, availability.Never)
}

// violated reports whether pieces exceed the limit of a member, and from when on they do so at first.
func (f *Forecast) violated(i, k int, pieces []piece) (since availability.Time, violated bool) {
	most, limited := f.limit(i, k)
	if !limited {
		return 0, false
	}
	for _, p := range pieces {
		f.eachStep(i, k, p, func(from, _ availability.Time, reserved int64) bool {
			f.effort--
			if reserved+p.amount > most {
				since, violated = from, true
			}
			return !violated
		})
		if violated {
			return since, true
		}
	}
	return 0, false
}

// nextChange returns when what is reserved changes after an instant, from the pool of the vjob up to a member. A vjob
// that begins before takes as much of that member, and so violates a limit that it violates at the instant.
func (n *ForecastNeed) nextChange(member, k int, after availability.Time) availability.Time {
	next := availability.Never
	for i := n.at; ; i = n.f.h.members[i].Parent {
		for at := range n.f.within[i][k].Steps(after) {
			if at > after {
				next = min(next, at)
				break
			}
		}
		if i == member {
			return next
		}
	}
}

// name returns a limit in words, such as "the limit of pool physics, 8 CPU".
func (f *Forecast) name(i, k int) string {
	r, m := &resources[k], &f.h.members[i]
	if i == 0 {
		return fmt.Sprintf("what the pools leave of the cluster, %s", r.text(r.of(&m.Settings).Limit))
	}
	return fmt.Sprintf("the limit of pool %s, %s", m.Name, r.text(r.of(&m.Settings).Limit))
}

// seconds rounds up.
func (f *Forecast) seconds(t time.Time) availability.Time {
	return availability.Time((max(0, t.Sub(f.now)) + time.Second - 1) / time.Second)
}

func span(length time.Duration, ends bool) availability.Time {
	if !ends {
		return availability.Never
	}
	return max(1, availability.Time((length+time.Second-1)/time.Second))
}
