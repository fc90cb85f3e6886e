package calendar

import (
	"fmt"
	"time"
)

// day is a date, with the day of the week that it falls on.
type day struct {
	year    int
	month   time.Month
	day     int
	weekday time.Weekday
}

// dayOf is the date of the wall clock.
func dayOf(t time.Time) day {
	d := day{weekday: t.Weekday()}
	d.year, d.month, d.day = t.Date()
	return d
}

// plus is the date that many days later.
func (d day) plus(days int) day {
	return dayOf(time.Date(d.year, d.month, d.day+days, 0, 0, 0, 0, time.UTC))
}

// String is such as "Thu 2026-12-24".
func (d day) String() string {
	return fmt.Sprintf("%s %04d-%02d-%02d", d.weekday.String()[:3], d.year, d.month, d.day)
}

// inYear orders the dates of one year.
func (d day) inYear() int { return 32*int(d.month) + d.day }

// ever orders all dates.
func (d day) ever() int { return 512*d.year + d.inYear() }

// interval is a range of dates, including the last. Without years it applies to every year, and
// may include New Year.
type interval struct{ from, to day }

func (i interval) has(d day) bool {
	switch {
	case i.from.year != 0:
		return i.from.ever() <= d.ever() && d.ever() <= i.to.ever()
	case i.from.inYear() <= i.to.inYear():
		return i.from.inYear() <= d.inYear() && d.inYear() <= i.to.inYear()
	default:
		return i.from.inYear() <= d.inYear() || d.inYear() <= i.to.inYear()
	}
}

// days is a set of dates: the intersection of its fields. A zero field contains all dates.
type days struct {
	dates     []interval
	months    set // 1 to 12
	monthdays set // 1 to 31
	weekdays  set // of time.Weekday
	except    []days
}

func (s *days) has(d day) bool {
	if !s.months.allows(int(d.month)) || !s.monthdays.allows(d.day) || !s.weekdays.allows(int(d.weekday)) {
		return false
	}
	dated := len(s.dates) == 0
	for _, i := range s.dates {
		dated = dated || i.has(d)
	}
	if !dated {
		return false
	}
	for i := range s.except {
		if s.except[i].has(d) {
			return false
		}
	}
	return true
}

// weekly reports whether every week has the same days of the set.
func (s *days) weekly() bool {
	return len(s.dates) == 0 && s.months == 0 && s.monthdays == 0 && len(s.except) == 0
}

// last is an upper bound of the last date of the set; ends is false if the set is infinite.
func (s *days) last() (d day, ends bool) {
	for _, i := range s.dates {
		if i.to.year == 0 {
			return day{}, false
		}
		if i.to.ever() > d.ever() {
			d = i.to
		}
	}
	return d, len(s.dates) > 0
}

// set is a set of small numbers, one bit each.
type set uint64

func (s set) allows(n int) bool { return s == 0 || s>>n&1 == 1 }
