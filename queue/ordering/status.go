package ordering

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue/fairshare"
	"vjob/queue/quota"
)

// Standing is the state of queues, quotas and shares at an instant, for users.
type Standing struct {
	At       time.Time
	Queues   []QueueStanding // by priority
	Quotas   []quota.Standing
	Shares   []ShareStanding
	HalfLife time.Duration // of the use in Shares
}

// QueueStanding is a queue with the number of its vjobs.
type QueueStanding struct {
	Queue
	Standard bool // the default of submissions
	Running  int  // vjobs that run or are under way to
	Waiting  int  // all others that have not ended
}

// ShareStanding is an account, with the user if it is one of a user.
type ShareStanding struct {
	fairshare.Standing
	User string
}

// Standing returns the state of everything; the tally is that of the quotas, with what runs.
func (d *Order) Standing(now time.Time, tally *quota.Tally) Standing {
	for _, e := range d.jobs {
		tally.Know(e.who)
	}
	return Standing{
		At: now, Queues: d.queues(), Quotas: tally.Standings(), Shares: d.accountsNow(now), HalfLife: d.rules.Shares.HalfLife,
	}
}

func (d *Order) queues() (list []QueueStanding) {
	running, all := map[string]int{}, map[string]int{}
	for _, e := range d.jobs {
		all[e.who.Queue]++
		if e.rank.Runs {
			running[e.who.Queue]++
		}
	}
	for _, name := range d.rules.Queues.Names() {
		list = append(list, QueueStanding{
			Queue: *d.rules.Queues.Of(name), Standard: name == d.rules.Queues.Of("").Name,
			Running: running[name], Waiting: all[name] - running[name],
		})
	}
	return list
}

// accountsNow returns the accounts that have shares, use or vjobs. Their factors are current; those of
// priorities may differ by hysteresis.
func (d *Order) accountsNow(now time.Time) (list []ShareStanding) {
	known := map[string]bool{}
	for _, s := range d.shares.Standings(now) {
		known[s.Path.String()] = true
		list = append(list, ShareStanding{Standing: s, User: d.userOf(&s)})
	}
	for name, h := range d.accounts {
		if !known[name] {
			s := fairshare.Standing{Path: h.path, Factor: d.shares.Factor(h.path)}
			list = append(list, ShareStanding{Standing: s, User: h.path[len(h.path)-1]})
		}
	}
	slices.SortStableFunc(list, func(a, b ShareStanding) int { return slices.Compare(a.Path, b.Path) })
	return list
}

// userOf returns the user of an account; "" for a project.
func (d *Order) userOf(s *fairshare.Standing) string {
	isProject := func(p Project) bool { return p.Name == s.Path[0] }
	switch {
	case len(s.Path) > 1:
		return s.Path[len(s.Path)-1]
	case s.Group || slices.ContainsFunc(d.rules.Projects, isProject):
		return ""
	default:
		return s.Path[0]
	}
}

// Queue returns the queue in which a vjob counts; "" for an unknown one.
func (d *Order) Queue(id cluster.VJobID) string {
	if e, known := d.jobs[id]; known {
		return e.who.Queue
	}
	return ""
}
