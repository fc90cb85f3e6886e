// Package calendar finds the window of time that applies at an instant, and when that changes:
// by day, by night, at weekends, over Christmas. The caller chooses the value of a window: a
// limit, a budget, a name. The package is pure: time and zone are arguments.
package calendar

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"vjob/cluster"
)

// Entry is a window with its name and its value.
type Entry[V any] struct {
	Name  string
	When  Window
	Value V
}

// Calendar is a value that depends on the wall clock of one time zone. It is immutable and safe
// for concurrent use.
//
// A window applies exactly while the wall clock shows a time within it. When the clock is put
// forward, a window within the skipped times does not apply on that day; when it is put back, a
// window within the repeated times applies twice.
type Calendar[V any] struct {
	zone     *time.Location
	standard V
	entries  []Entry[V]
	edges    []time.Duration // times of day at which a window may begin or end; the last is 24 hours
	until    time.Time       // nothing changes from then on; zero: there is always something
}

// New returns a calendar; standard is the value outside all windows. If windows of different
// entries overlap, the error names both.
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

// title is the name of an entry, with its window if that differs.
func (e *Entry[V]) title() string {
	if e.Name == e.When.text {
		return fmt.Sprintf("%q", e.Name)
	}
	return fmt.Sprintf("%q (%s)", e.Name, e.When)
}

// meeting names a day on which two windows overlap: a day of the week if both are weekly.
func meeting(a, b *Window, d day) string {
	if a.weekly() && b.weekly() {
		return d.weekday.String() + "s"
	}
	return d.String()
}

// Always returns a calendar with one value for ever.
func Always[V any](value V) *Calendar[V] { return &Calendar[V]{zone: time.UTC, standard: value} }

// At returns the value at an instant and the name of the window, "" outside all windows.
func (c *Calendar[V]) At(t time.Time) (value V, window string) {
	i := c.index(t)
	if i < 0 {
		return c.standard, ""
	}
	return c.entries[i].Value, c.entries[i].Name
}

// Values returns all values: first that outside the windows, then those of the entries.
func (c *Calendar[V]) Values() []V {
	values := []V{c.standard}
	for _, e := range c.entries {
		values = append(values, e.Value)
	}
	return values
}

// index is the index of the entry that applies at an instant, or -1.
func (c *Calendar[V]) index(t time.Time) int {
	local := t.In(c.zone)
	hour, minute, _ := local.Clock()
	today := dayOf(local)
	return slices.IndexFunc(c.entries, func(e Entry[V]) bool { return e.When.holds(today, 60*hour+minute) })
}

// foresight is how far ahead Next searches: dates fall on the same days of the week again after
// at most 40 years, even 29 February.
const foresight = 40

// Next returns the first instant after t at which another entry applies; ok is false without a
// change within 40 years.
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

// limit is the latest time of the next change after an instant, if there is a change.
func (c *Calendar[V]) limit(t time.Time) time.Time {
	weekly := true
	for part := range c.parts() {
		weekly = weekly && part.days.weekly()
	}
	switch limit := t.AddDate(foresight, 0, 0); {
	case weekly:
		return t.AddDate(0, 0, 15) // two weeks, in case the clock skips a window in the first
	case !c.until.IsZero() && c.until.Before(limit):
		return c.until
	default:
		return limit
	}
}

// parts iterates over the parts of all windows.
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

// idle reports whether no window applies on a day.
func (c *Calendar[V]) idle(today day) bool {
	yesterday := today.plus(-1)
	for part := range c.parts() {
		if part.days.has(today) || part.days.has(yesterday) {
			return false
		}
	}
	return true
}

// step is the next instant at which a window may begin or end: an edge of a window, or a change
// of the clock.
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
	// Far ahead, where only the rule of a zone applies, the end may be reported in the past.
	if _, end := local.ZoneBounds(); end.After(t) && end.Before(next) {
		return end
	}
	return next
}

// sinceMidnight is the time of day of the wall clock.
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

// end is when the last window ends for ever, if all windows have dates with years.
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
