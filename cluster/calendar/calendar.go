// Package calendar says which of the windows in time that an administrator writes
// holds at an instant, and when that changes: by day, by night, at week-ends, over
// Christmas. What holds in a window is the caller's: a limit, a budget, a name.
//
// It is pure: time and zone are arguments. It refuses to know what windows are for.
package calendar

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"vjob/cluster"
)

// Entry gives a window its name and what holds in it.
type Entry[V any] struct {
	Name  string
	When  Window
	Value V
}

// Calendar is a value that depends on the clock on the wall of one time zone. It does
// not change: any number of goroutines may read it.
//
// A window holds exactly while that clock shows a time within it. When the clock is put
// forward, the times that it leaves out do not happen, and a window that lies wholly
// among them does not hold on that day; when it is put back, a window among the times
// that happen twice holds twice.
type Calendar[V any] struct {
	zone     *time.Location
	standard V
	entries  []Entry[V]
	edges    []time.Duration // times of day at which a window may begin or end; the last is 24 hours
	until    time.Time       // nothing changes from then on; zero: there is always something
}

// New makes a calendar with the value that holds outside all windows. Windows of
// different entries that overlap are an error that names both.
func New[V any](zone *time.Location, standard V, entries ...Entry[V]) (*Calendar[V], error) {
	c := &Calendar[V]{zone: zone, standard: standard, entries: slices.Clone(entries)}
	for i, e := range entries {
		if e.Name == "" || len(e.When.parts) == 0 {
			return nil, cluster.BadField("window", e.Name, "a name and a time")
		}
		for k, other := range entries[:i] {
			if other.Name == e.Name {
				return nil, cluster.BadField("window", e.Name, "a name that no other window of the calendar has")
			}
			if d, both := other.When.overlaps(e.When); both {
				return nil, &cluster.FieldError{Field: "window", Value: e.title(), Want: fmt.Sprintf(
					"a time that does not overlap that of window %s, as it does on %s", entries[k].title(), meeting(&e.When, &other.When, d))}
			}
		}
	}
	c.edges = c.findEdges()
	c.until = c.end()
	return c, nil
}

// title names an entry, with its window if that is not its name.
func (e *Entry[V]) title() string {
	if e.Name == e.When.text {
		return fmt.Sprintf("%q", e.Name)
	}
	return fmt.Sprintf("%q (%s)", e.Name, e.When)
}

// meeting is a day on which two windows overlap: that of the week if they know no others.
func meeting(a, b *Window, d day) string {
	if a.weekly() && b.weekly() {
		return d.weekday.String() + "s"
	}
	return d.String()
}

// Always is the calendar in which one value holds for ever.
func Always[V any](value V) *Calendar[V] { return &Calendar[V]{zone: time.UTC, standard: value} }

// At is what holds at an instant, and the name of the window; "" is none.
func (c *Calendar[V]) At(t time.Time) (value V, window string) {
	i := c.index(t)
	if i < 0 {
		return c.standard, ""
	}
	return c.entries[i].Value, c.entries[i].Name
}

// Values are all that may hold: that outside the windows, then those in them.
func (c *Calendar[V]) Values() []V {
	values := []V{c.standard}
	for _, e := range c.entries {
		values = append(values, e.Value)
	}
	return values
}

// index is the entry that holds at an instant; -1 is none.
func (c *Calendar[V]) index(t time.Time) int {
	local := t.In(c.zone)
	hour, minute, _ := local.Clock()
	today := dayOf(local)
	return slices.IndexFunc(c.entries, func(e Entry[V]) bool { return e.When.holds(today, 60*hour+minute) })
}

// foresight is how far ahead a change is looked for: dates fall on the same days of the
// week again after at most 40 years, those of leap years included.
const foresight = 40

// Next is the first instant after t at which something else holds; it reports false if
// there is none within 40 years.
func (c *Calendar[V]) Next(t time.Time) (change time.Time, ok bool) {
	if len(c.entries) == 0 {
		return time.Time{}, false
	}
	holds, limit := c.index(t), c.limit(t)
	for at := t; at.Before(limit); {
		at = c.step(at)
		if c.index(at) != holds {
			return at, true
		}
	}
	return time.Time{}, false
}

// limit is until when a change that follows an instant has come, if there is one.
func (c *Calendar[V]) limit(t time.Time) time.Time {
	weekly := true
	for part := range c.parts() {
		weekly = weekly && part.days.weekly()
	}
	switch limit := t.AddDate(foresight, 0, 0); {
	case weekly:
		return t.AddDate(0, 0, 15) // two weeks, if the clock leaves something out in the first
	case !c.until.IsZero() && c.until.Before(limit):
		return c.until
	default:
		return limit
	}
}

// parts are those of all windows.
func (c *Calendar[V]) parts() iter.Seq[*part] {
	return func(yield func(*part) bool) {
		for i := range c.entries {
			for k := range c.entries[i].When.parts {
				if !yield(&c.entries[i].When.parts[k]) {
					return
				}
			}
		}
	}
}

// idle reports whether no window has any time of a day.
func (c *Calendar[V]) idle(today day) bool {
	yesterday := today.plus(-1)
	for part := range c.parts() {
		if part.days.has(today) || part.days.has(yesterday) {
			return false
		}
	}
	return true
}

// step is the next instant at which a window may begin or end: an edge of one, or the
// clock is put forward or back.
func (c *Calendar[V]) step(t time.Time) time.Time {
	local := t.In(c.zone)
	shown := sinceMidnight(local)
	i, found := slices.BinarySearch(c.edges, shown)
	if found {
		i++
	}
	if c.idle(dayOf(local)) {
		i = len(c.edges) - 1 // midnight
	}
	next := local.Add(c.edges[i] - shown)
	// Far ahead, where only a zone's rule tells, the end may be given as one that is over.
	if _, end := local.ZoneBounds(); end.After(t) && end.Before(next) {
		return end
	}
	return next
}

// sinceMidnight is what a clock shows.
func sinceMidnight(t time.Time) time.Duration {
	hour, minute, second := t.Clock()
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second +
		time.Duration(t.Nanosecond())
}

// findEdges lists the times of day at which any window begins or ends, and midnight.
func (c *Calendar[V]) findEdges() []time.Duration {
	list := []time.Duration{24 * time.Hour}
	for part := range c.parts() {
		for _, s := range part.spans {
			for _, minute := range []int{s.from, s.to} {
				list = append(list, time.Duration(minute%perDay)*time.Minute)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// end is when the last window is over for good, if each has dates with years.
func (c *Calendar[V]) end() time.Time {
	var last time.Time
	for part := range c.parts() {
		d, ends := part.days.last()
		if !ends {
			return time.Time{}
		}
		// Two days on, every zone has passed what begins on that day and ends on the next.
		if t := time.Date(d.year, d.month, d.day+2, 0, 0, 0, 0, c.zone); t.After(last) {
			last = t
		}
	}
	return last
}
