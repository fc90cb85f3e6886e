package ordering

import (
	"time"

	"vjob/cluster"
	"vjob/queue/fairshare"
	"vjob/queue/quota"
)

// Usage is what was used on somebody's behalf within one hour of UTC: what was reserved,
// for as long as it ran.
type Usage struct {
	User, Project, Queue string
	Hour                 time.Time // when it began
	CPUTime              int64     // milliseconds of one processor
	MemoryTime           int64     // MiB·s
}

// Charge counts that a vjob of the desk has run, until an instant, for so long, and what
// it took of memory meanwhile, in MiB·s. It returns what is to be kept, so that
// [Order.Restore] can count it again: for both it counts from the beginning of its hour
// on. A vjob that is not there is passed over, and one inside a container, which counts.
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

// Restore counts what was used before the desk was there.
func (d *Order) Restore(u Usage) { d.count(&u) }

// Rename has what a user has used count for another name.
func (d *Order) Rename(user, name string) {
	d.charged = true
	d.shares.Rename(user, name)
	d.ledger.Rename(user, name)
}

func (d *Order) count(u *Usage) {
	d.charged = true
	d.shares.Charge(accountPath(u.User, u.Project), u.Hour, fairshare.Use{
		CPUSec: float64(u.CPUTime) / 1000, GiBSec: float64(u.MemoryTime) / float64(cluster.GiB),
	})
	if d.rules.Quotas.Within() > 0 {
		d.ledger.Charge(quota.Who{User: u.User, Project: u.Project, Queue: u.Queue}, u.Hour, u.CPUTime)
	}
}

// updateFactors looks whether the factors of those have changed who have vjobs here, if anything
// was used since.
func (d *Order) updateFactors() {
	if !d.charged || d.rules.Rank.FairShare == 0 {
		return
	}
	d.charged = false
	for name, h := range d.accounts {
		if factor := d.hysteresis.Update(name, d.shares.Factor(h.path)); factor != h.factor {
			h.factor, d.factorsChanged = factor, true
		}
	}
}

// forget drops what was used so long ago that no rule counts it any more.
func (d *Order) forget(now time.Time) {
	d.ledger.Forget(now.Add(-d.rules.Quotas.Within()))
	d.hysteresis.Forget(func(name string) bool { return d.accounts[name] != nil })
}
