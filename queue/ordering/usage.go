package ordering

import (
	"time"

	"vjob/cluster"
	"vjob/queue/fairshare"
	"vjob/queue/quota"
)

// Usage is what was used for a user, a project and a queue within one hour of UTC: what was reserved, for
// as long as it ran.
type Usage struct {
	User, Project, Queue string
	Hour                 time.Time // its beginning
	CPUTime              int64     // milliseconds of one processor
	MemoryTime           int64     // MiB·s
}

// Charge counts that a vjob has run so long until an instant, and its use of memory meanwhile in MiB·s. It
// returns what must be stored, so that [Order.Restore] can count it again: both count from the beginning
// of the hour on. Unknown vjobs are ignored, and vjobs inside a container, which counts itself.
func (d *Order) Charge(id cluster.VJobID, at time.Time, ran time.Duration, memory int64) (u Usage, ok bool) {
	e, known := d.jobs[id]
	if !known || e.inner {
		return Usage{}, false
	}
	u = Usage{
		User: e.who.User, Project: e.who.Project, Queue: e.who.Queue, Hour: at.UTC().Truncate(time.Hour),
		CPUTime: int64(float64(e.need.CPU) * ran.Seconds()), MemoryTime: memory,
	}
	if u.CPUTime <= 0 && u.MemoryTime <= 0 {
		return Usage{}, false
	}
	d.count(&u)
	return u, true
}

// Restore counts stored use.
func (d *Order) Restore(u Usage) { d.count(&u) }

// Rename moves the use of a user to another name.
func (d *Order) Rename(user, name string) {
	d.charged = true
	d.shares.Rename(user, name)
	d.ledger.Rename(user, name)
}

func (d *Order) count(u *Usage) {
	d.charged = true
	d.shares.Charge(accountPath(u.User, u.Project), u.Hour, fairshare.Usage{
		CPUSec: float64(u.CPUTime) / 1000, GiBSec: float64(u.MemoryTime) / float64(cluster.GiB),
	})
	if d.settings.Quotas.Within() > 0 {
		d.ledger.Charge(quota.Association{User: u.User, Project: u.Project, Queue: u.Queue}, u.Hour, u.CPUTime)
	}
}

// updateFactors updates the factors of accounts with vjobs if use has changed.
func (d *Order) updateFactors() {
	if !d.charged || d.settings.Rank.FairShare == 0 {
		return
	}
	d.charged = false
	for name, h := range d.accounts {
		if factor := d.hysteresis.Update(name, d.shares.Factor(h.path)); factor != h.factor {
			h.factor, d.factorsChanged = factor, true
			d.factors.Set(name, factor)
		}
	}
}

// forget drops use that no quota counts any more.
func (d *Order) forget(now time.Time) {
	d.ledger.Forget(now.Add(-d.settings.Quotas.Within()))
	d.hysteresis.Forget(func(name string) bool { return d.accounts[name] != nil })
}
