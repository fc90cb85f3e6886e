package quota

import (
	"maps"
	"slices"
	"time"

	"vjob/queue/availability"
)

// Ledger is the CPU time that was used, by hours. It belongs to one goroutine. The zero value is empty.
type Ledger struct {
	users map[Association][]hourUse // in order of hours
}

// hourUse is what was used within one hour of UTC.
type hourUse struct {
	hour    time.Time
	cpuTime int64 // milliseconds of one processor
}

var _ History = (*Ledger)(nil)

// Charge adds CPU time, in milliseconds, to the hour of an instant.
func (l *Ledger) Charge(w Association, at time.Time, cpuTime int64) {
	if cpuTime <= 0 {
		return
	}
	if l.users == nil {
		l.users = map[Association][]hourUse{}
	}
	page, hour := l.users[w], at.UTC().Truncate(time.Hour)
	i, found := slices.BinarySearchFunc(page, hour, byHour)
	if found {
		page[i].cpuTime += cpuTime
		return
	}
	l.users[w] = slices.Insert(page, i, hourUse{hour, cpuTime})
}

func byHour(l hourUse, hour time.Time) int { return l.hour.Compare(hour) }

// CPUTime returns the use of a group since an instant, with its whole hour.
func (l *Ledger) CPUTime(group Association, since time.Time) (sum int64) {
	for w, page := range l.users {
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

// fades returns when an hour no longer counts.
func (h *Hour) fades(within time.Duration) time.Time {
	return availability.Expires(h.From.Add(time.Hour), within)
}

// Hours returns the hours in which a group has used CPU time since an instant, in order.
func (l *Ledger) Hours(group Association, since time.Time) (hours []Hour) {
	sums := map[time.Time]int64{}
	for w, page := range l.users {
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

// Forget drops hours that ended before an instant.
func (l *Ledger) Forget(before time.Time) {
	for w, page := range l.users {
		from, _ := slices.BinarySearchFunc(page, before.Truncate(time.Hour), byHour)
		if l.users[w] = slices.Delete(page, 0, from); len(l.users[w]) == 0 {
			delete(l.users, w)
		}
	}
}

// Rename moves the use of a user to another name, which has used nothing.
func (l *Ledger) Rename(user, name string) {
	for w, page := range maps.Clone(l.users) {
		if w.User == user {
			delete(l.users, w)
			w.User = name
			l.users[w] = page
		}
	}
}

// Clone returns an independent copy.
func (l *Ledger) Clone() *Ledger {
	c := &Ledger{users: make(map[Association][]hourUse, len(l.users))}
	for w, page := range l.users {
		c.users[w] = slices.Clone(page)
	}
	return c
}
