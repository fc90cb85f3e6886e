package ordering

import (
	"slices"
	"time"

	"vjob/cluster"
)

// watch tells whether a decision is out of date although nothing has happened but that
// time went on, or that something was used.
type watch struct {
	seen         []cluster.VJobID // the order that was decided on
	maybeChanged bool             // the order may be another one
	changed      bool             // it is, or a quota has changed
	nextAging    time.Time        // when time changes a priority next; zero: it does not
	nextQuota    time.Time        // when a quota changes next; zero: it does not
	hour         time.Time        // in which was last forgotten what does not count any more
}

// minInterval is the least time between two looks at the order: priorities may change more
// often than anybody cares.
const minInterval = time.Second

// Order is the vjobs in order. It stays the desk's own: it is right until the next call,
// and must not be changed.
func (d *Order) Order(now time.Time) []cluster.VJobID {
	w := &d.watch
	d.updateFactors()
	w.maybeChanged = w.maybeChanged || d.factorsChanged || !w.nextAging.IsZero() && !now.Before(w.nextAging)
	if d.factorsChanged {
		d.factorsChanged = false
		for _, e := range d.jobs {
			if e.rank.FairShare != e.account.factor {
				e.rank.FairShare = e.account.factor
				d.sorter.Put(e.rank)
			}
		}
	}
	order := d.sorter.Order(now)
	if w.nextAging = d.sorter.Next(now); !w.nextAging.IsZero() && w.nextAging.Sub(now) < minInterval {
		w.nextAging = now.Add(minInterval)
	}
	return order
}

// Decided tells that a decision was taken on the order and the quotas of an instant: from
// now on stirs what differs from those.
func (d *Order) Decided(now time.Time) {
	w := &d.watch
	w.seen = append(w.seen[:0], d.Order(now)...)
	w.maybeChanged, w.changed = false, false
	if w.nextQuota.IsZero() || !now.Before(w.nextQuota) {
		w.nextQuota, _ = d.rules.Quotas.Next(now)
	}
	if hour := now.Truncate(time.Hour); !hour.Equal(w.hour) {
		w.hour = hour
		d.forget(now)
	}
}

// Stirs reports whether time, or what was used, has changed the order or a quota since
// the last decision. If nothing has, it takes next to no time to say so.
func (d *Order) Stirs(now time.Time) bool {
	w := &d.watch
	if w.changed {
		return true
	}
	d.updateFactors()
	if w.changed = !w.nextQuota.IsZero() && !now.Before(w.nextQuota); w.changed {
		return true
	}
	if w.maybeChanged || d.factorsChanged || !w.nextAging.IsZero() && !now.Before(w.nextAging) {
		w.changed = !slices.Equal(d.Order(now), w.seen)
		w.maybeChanged = false
	}
	return w.changed
}

// Next is when it is worth while to ask again whether time has changed anything; zero:
// never.
func (d *Order) Next() time.Time {
	w := &d.watch
	if w.nextAging.IsZero() || !w.nextQuota.IsZero() && w.nextQuota.Before(w.nextAging) {
		return w.nextQuota
	}
	return w.nextAging
}
