package quota

import (
	"cmp"
	"slices"
	"time"
)

// Status is the state of one quota for one group at the instant of a tally.
type Status struct {
	Name        string
	Window      string      // that applies now; "" outside its windows
	Until       time.Time   // next change of the window; zero: never
	Association Association // "" matches all
	Within      time.Duration
	Limits      Limits
	Used        Limits // of the measures in Limits
}

// Statuses returns the state of all groups that were counted or asked for, and of quotas without [Each]; in
// the order of the quotas, then of the groups.
func (t *Tally) Statuses() (list []Status) {
	for i := range t.book.quotas {
		q := &t.book.quotas[i]
		if q.User != Each && q.Project != Each && q.Queue != Each {
			t.counter(key{i, Association{q.User, q.Project, q.Queue}})
		}
	}
	counters := slices.Clone(t.counters)
	slices.SortFunc(counters, func(a, b counter) int {
		return cmp.Or(
			cmp.Compare(a.quota, b.quota), cmp.Compare(a.group.User, b.group.User),
			cmp.Compare(a.group.Project, b.group.Project), cmp.Compare(a.group.Queue, b.group.Queue))
	})
	for i := range counters {
		c := &counters[i]
		q := &t.book.quotas[c.quota]
		s := Status{Name: q.Name, Association: c.group, Within: q.Within, Limits: c.limits, Used: Limits{}}
		_, s.Window = q.Limits.At(t.now)
		s.Until, _ = q.Limits.Next(t.now)
		for m := range c.limits {
			s.Used[m] = c.used[m]
		}
		list = append(list, s)
	}
	return list
}

// Include adds the groups of a vjob that may not run, so that Statuses contains them.
func (t *Tally) Include(w Association) { t.countersOf(w) }
