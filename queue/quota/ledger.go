package quota

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Ledger is the CPU time that was used, hour by hour. It belongs to one goroutine. The
// zero value is empty.
type Ledger struct {
	pages map[Who][]Line // in order of hours
}

// Line is what was used on behalf of somebody within one hour of UTC: plain data for a
// store.
type Line struct {
	Who     Who
	Hour    time.Time
	CPUTime int64 // milliseconds of one processor
}

var _ Past = (*Ledger)(nil)

// Charge adds CPU time that was used evenly between two instants, in milliseconds. If
// they are the same, all is charged to that hour.
func (l *Ledger) Charge(w Who, from, to time.Time, cpuTime int64) {
	if cpuTime <= 0 || to.Before(from) {
		return
	}
	span, left := to.Sub(from), cpuTime
	for at := from; ; {
		next := at.Truncate(time.Hour).Add(time.Hour)
		if !next.Before(to) {
			l.add(w, at, left)
			return
		}
		part := int64(float64(cpuTime) * float64(next.Sub(at)) / float64(span))
		l.add(w, at, min(part, left))
		left -= min(part, left)
		at = next
	}
}

func (l *Ledger) add(w Who, at time.Time, cpuTime int64) {
	if l.pages == nil {
		l.pages = map[Who][]Line{}
	}
	page, line := l.pages[w], Line{Who: w, Hour: at.UTC().Truncate(time.Hour), CPUTime: cpuTime}
	i, found := slices.BinarySearchFunc(page, line.Hour, byHour)
	if found {
		page[i].CPUTime += cpuTime
		return
	}
	l.pages[w] = slices.Insert(page, i, line)
}

func byHour(l Line, hour time.Time) int { return l.Hour.Compare(hour) }

// CPUTime is what all of a group have used since an instant, whose hour counts whole.
func (l *Ledger) CPUTime(group Who, since time.Time) (sum int64) {
	for w, page := range l.pages {
		if !group.has(w) {
			continue
		}
		from, _ := slices.BinarySearchFunc(page, since.Truncate(time.Hour), byHour)
		for _, line := range page[from:] {
			sum += line.CPUTime
		}
	}
	return sum
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

// Clone is a ledger that goes on by itself.
func (l *Ledger) Clone() *Ledger {
	c := &Ledger{pages: make(map[Who][]Line, len(l.pages))}
	for w, page := range l.pages {
		c.pages[w] = slices.Clone(page)
	}
	return c
}

// Lines are all that is in the ledger, in order; [Ledger.Restore] takes them back.
func (l *Ledger) Lines() []Line {
	var lines []Line
	for _, w := range slices.SortedFunc(maps.Keys(l.pages), func(a, b Who) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Queue, b.Queue))
	}) {
		lines = append(lines, l.pages[w]...)
	}
	return lines
}

// Restore adds lines.
func (l *Ledger) Restore(lines []Line) {
	for _, line := range lines {
		l.add(line.Who, line.Hour, line.CPUTime)
	}
}
