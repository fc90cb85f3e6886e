package ordering

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/queue/fairshare"
	"vjob/queue/quota"
)

// Standing is how queues, quotas and shares stand at an instant, for people.
type Standing struct {
	At       time.Time
	Queues   []QueueStanding // in the order in which they come first
	Quotas   []quota.Standing
	Shares   []ShareStanding
	HalfLife time.Duration // of what Shares have used
}

// QueueStanding is a queue with what is in it.
type QueueStanding struct {
	Queue
	Standard bool // takes what names no queue
	Running  int  // vjobs that run, or are under way to
	Waiting  int  // all others that have not ended
}

// ShareStanding is an account; one of a user's tells whose it is.
type ShareStanding struct {
	fairshare.Standing
	User string
}

// Standing looks at everything; the tally is that of the quotas, which knows what runs.
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

// accountsNow lists the accounts that have shares, have used something, or have vjobs.
// Their factors are those of now, ranks may lag behind by a leap.
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

// userOf is whose account it is; that of a project is nobody's.
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

// Queue is the name of the queue in which a vjob counts; "" for one that is not there.
func (d *Order) Queue(id cluster.VJobID) string {
	if e, known := d.jobs[id]; known {
		return e.who.Queue
	}
	return ""
}
