package ordering

import (
	"slices"
	"time"

	"vjob/queue/fairshare"
	"vjob/queue/quota"
)

// Status is the state of queues, quotas and shares at an instant, for users.
type Status struct {
	At       time.Time
	Queues   []QueueStatus // by priority
	Quotas   []quota.Status
	Shares   []ShareStatus
	HalfLife time.Duration // of the use in Shares
}

// QueueStatus is a queue with the number of its vjobs.
type QueueStatus struct {
	Queue
	Default bool // the default of submissions
	Running int  // vjobs that run or are under way to
	Waiting int  // all others that have not ended
}

// ShareStatus is an account, with the user if it is one of a user.
type ShareStatus struct {
	fairshare.Status
	User string
}

// Status returns the state of everything; the tally is that of the quotas, with what runs.
func (d *Order) Status(now time.Time, tally *quota.Tally) Status {
	for _, e := range d.jobs {
		tally.Include(e.who)
	}
	return Status{
		At: now, Queues: d.queues(), Quotas: tally.Statuses(), Shares: d.accountsNow(now), HalfLife: d.settings.Shares.HalfLife,
	}
}

func (d *Order) queues() (list []QueueStatus) {
	running, all := map[string]int{}, map[string]int{}
	for id, e := range d.jobs {
		all[e.who.Queue]++
		if rank, _ := d.sorter.Factors(id); rank.Runs {
			running[e.who.Queue]++
		}
	}
	for _, name := range d.settings.Queues.Names() {
		list = append(list, QueueStatus{
			Queue: *d.settings.Queues.of(name), Default: name == d.settings.Queues.of("").Name,
			Running: running[name], Waiting: all[name] - running[name],
		})
	}
	return list
}

// accountsNow returns the accounts that have shares, use or vjobs. Their factors are current; those of
// priorities may differ by hysteresis.
func (d *Order) accountsNow(now time.Time) (list []ShareStatus) {
	known := map[string]bool{}
	for _, s := range d.shares.Statuses(now) {
		known[s.Path.String()] = true
		list = append(list, ShareStatus{Status: s, User: d.userOf(&s)})
	}
	for name, h := range d.accounts {
		if !known[name] {
			s := fairshare.Status{Path: h.path, Factor: d.shares.Factor(h.path)}
			list = append(list, ShareStatus{Status: s, User: h.path[len(h.path)-1]})
		}
	}
	slices.SortStableFunc(list, func(a, b ShareStatus) int { return slices.Compare(a.Path, b.Path) })
	return list
}

// userOf returns the user of an account; "" for a project.
func (d *Order) userOf(s *fairshare.Status) string {
	isProject := func(p Project) bool { return p.Name == s.Path[0] }
	switch {
	case len(s.Path) > 1:
		return s.Path[len(s.Path)-1]
	case s.Group || slices.ContainsFunc(d.settings.Projects, isProject):
		return ""
	default:
		return s.Path[0]
	}
}
