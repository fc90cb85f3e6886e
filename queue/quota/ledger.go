package quota

import (
	"maps"
	"slices"
	"time"

	"vjob/queue/availability"
)

// Ledger is the CPU time that was used, hour by hour. It belongs to one goroutine. The
// zero value is empty.
type Ledger struct {
	pages map[Who][]line // in order of hours
}

// line is what was used on behalf of somebody within one hour of UTC.
type line struct {
	hour    time.Time
	cpuTime int64 // milliseconds of one processor
}

var _ Past = (*Ledger)(nil)

// Charge adds CPU time, in milliseconds, to the hour of an instant.
func (l *Ledger) Charge(w Who, at time.Time, cpuTime int64) {
	if cpuTime <= 0 {
		return
	}
	if l.pages == nil {
		l.pages = map[Who][]line{}
	}
	page, hour := l.pages[w], at.UTC().Truncate(time.Hour)
	i, found := slices.BinarySearchFunc(page, hour, byHour)
	if found {
		page[i].cpuTime += cpuTime
		return
	}
	l.pages[w] = slices.Insert(page, i, line{hour, cpuTime})
}

func byHour(l line, hour time.Time) int { return l.hour.Compare(hour) }

// CPUTime is what all of a group have used since an instant, whose hour counts whole.
func (l *Ledger) CPUTime(group Who, since time.Time) (sum int64) {
	for w, page := range l.pages {
		if !group.has(w) {
			continue
		}
		from, _ := slices.BinarySearchFunc(page, since.Truncate(time.Hour), byHour)
		for _, line := range page[from:] {
			sum += line.cpuTime
		}
	}
	return sum
}

// Hour is CPU time that was used within an hour of UTC.
type Hour struct {
	From    time.Time
	CPUTime int64 // milliseconds of one processor
}

// fades is when an hour is not counted any more.
func (h *Hour) fades(within time.Duration) time.Time {
	return availability.Fades(h.From.Add(time.Hour), within)
}

// Hours are those in which a group has used something since an instant, in order.
func (l *Ledger) Hours(group Who, since time.Time) (hours []Hour) {
	sums := map[time.Time]int64{}
	for w, page := range l.pages {
		if !group.has(w) {
			continue
		}
		from, _ := slices.BinarySearchFunc(page, since.Truncate(time.Hour), byHour)
		for _, line := range page[from:] {
			sums[line.hour] += line.cpuTime
		}
	}
	for _, from := range slices.SortedFunc(maps.Keys(sums), time.Time.Compare) {
		hours = append(hours, Hour{from, sums[from]})
	}
	return hours
}

// Forget drops the hours that are over before an instant.
func (l *Ledger) Forget(before time.Time) {
	for w, page := range l.pages {
		from, _ := slices.BinarySearchFunc(page, before.Truncate(time.Hour), byHour)
		if l.pages[w] = slices.Delete(page, 0, from); len(l.pages[w]) == 0 {
			delete(l.pages, w)
		}
	}
}

// Rename has what a user has used count for another name, which has used nothing.
func (l *Ledger) Rename(user, name string) {
	for w, page := range maps.Clone(l.pages) {
		if w.User == user {
			delete(l.pages, w)
			w.User = name
			l.pages[w] = page
		}
	}
}

// Clone is a ledger that goes on by itself.
func (l *Ledger) Clone() *Ledger {
	c := &Ledger{pages: make(map[Who][]line, len(l.pages))}
	for w, page := range l.pages {
		c.pages[w] = slices.Clone(page)
	}
	return c
}
