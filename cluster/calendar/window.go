package calendar

import (
	"cmp"
	"slices"
)

const perDay = 24 * 60 // minutes

// Window is a set of times of the wall clock, see [Parse].
type Window struct {
	text  string
	parts []part
}

// part is some times of day on some days.
type part struct {
	days  days
	spans []span
}

// span is a range of minutes of the day. Its end is excluded and may be on the next day:
// 22:00-06:00 is from 1320 to 1800.
type span struct{ from, to int }

func (s span) meets(o span) bool { return s.from < o.to && o.from < s.to }

// joined merges adjacent spans, so that each edge is a change.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var list []span
	for _, s := range spans {
		if n := len(list); n > 0 && s.from <= list[n-1].to {
			list[n-1].to = max(list[n-1].to, s.to)
		} else {
			list = append(list, s)
		}
	}
	return list
}

// String is the window as it was written.
func (w Window) String() string { return w.text }

// MarshalText writes the window as it was written.
func (w Window) MarshalText() ([]byte, error) { return []byte(w.text), nil }

// UnmarshalText reads a window, as [Parse] does.
func (w *Window) UnmarshalText(text []byte) (err error) {
	*w, err = Parse(string(text))
	return err
}

// holds reports whether the window contains a minute of a day. A span across midnight belongs to
// the day on which it begins.
func (w *Window) holds(today day, minute int) bool {
	for i := range w.parts {
		p := &w.parts[i]
		if has(p.spans, minute) && p.days.has(today) {
			return true
		}
		if has(p.spans, minute+perDay) && p.days.has(today.plus(-1)) {
			return true
		}
	}
	return false
}

func has(spans []span, minute int) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.from <= minute && minute < s.to })
}

// The Gregorian calendar with its days of the week repeats itself after 400 years. All dates of
// windows are within these.
const (
	firstYear = 2000
	lastYear  = 2399
)

// weekly reports whether the window depends only on days of the week.
func (w *Window) weekly() bool {
	return !slices.ContainsFunc(w.parts, func(p part) bool { return !p.days.weekly() })
}

// overlaps finds the first day on which both windows have a minute.
func (w *Window) overlaps(o Window) (first day, both bool) {
	for i := range w.parts {
		for k := range o.parts {
			d, ok := w.parts[i].overlaps(&o.parts[k])
			if ok && (!both || d.ever() < first.ever()) {
				first, both = d, true
			}
		}
	}
	return first, both
}

func (p *part) overlaps(o *part) (first day, both bool) {
	same, after, before := p.meet(o, 0), p.meet(o, perDay), o.meet(p, perDay)
	if !same && !after && !before {
		return day{}, false
	}
	d := day{year: firstYear, month: 1, day: 1}.plus(0)
	last := day{year: lastYear, month: 12, day: 31}
	if p.days.weekly() && o.days.weekly() {
		last = d.plus(6) // the day after that is like the first
	}
	for d.ever() <= last.ever() {
		next := d.plus(1)
		switch {
		case same && p.days.has(d) && o.days.has(d):
			return d, true
		case after && p.days.has(d) && o.days.has(next), before && o.days.has(d) && p.days.has(next):
			return next, true
		}
		d = next
	}
	return day{}, false
}

// meet reports whether times of p overlap those of o on a day that begins that many minutes
// later.
func (p *part) meet(o *part, later int) bool {
	return slices.ContainsFunc(p.spans, func(s span) bool {
		return slices.ContainsFunc(o.spans, func(t span) bool { return s.meets(span{t.from + later, t.to + later}) })
	})
}
