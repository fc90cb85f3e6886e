package ordering

import (
	"time"

	"vjob/cluster"
)

// watch tells whether time alone, or use, has made the last decision out of date.
type watch struct {
	seen         []cluster.VJobID        // the order of the last decision
	newcomers    map[cluster.VJobID]bool // have come since then
	maybeChanged bool                    // the order may have changed
	changed      bool                    // it has, or a quota has
	nextAging    time.Time               // next change of a priority by time; zero: none
	nextQuota    time.Time               // next change of a quota; zero: none
	hour         time.Time               // of the last cleaning
}

// minInterval is the least time between two checks of the order: priorities may change more often than
// matters.
const minInterval = time.Second

// Sorted returns the vjobs in order. The result is valid until the next call; callers must not change it.
func (d *Order) Sorted(now time.Time) []cluster.VJobID {
	w := &d.watch
	d.updateFactors()
	w.maybeChanged = w.maybeChanged || d.factorsChanged || !w.nextAging.IsZero() && !now.Before(w.nextAging)
	if d.factorsChanged {
		d.factorsChanged = false
		for id, e := range d.jobs {
			if rank, _ := d.sorter.Factors(id); rank.FairShare != e.account.factor {
				rank.FairShare = e.account.factor
				d.sorter.Put(rank)
			}
		}
	}
	order := d.sorter.Order(now)
	if w.nextAging = d.sorter.Next(now); !w.nextAging.IsZero() && w.nextAging.Sub(now) < minInterval {
		w.nextAging = now.Add(minInterval)
	}
	return order
}

// Decided records that a decision used the order and the quotas of an instant: [Order.Changed] compares with
// these.
func (d *Order) Decided(now time.Time) {
	w := &d.watch
	w.seen = append(w.seen[:0], d.Sorted(now)...)
	w.newcomers = nil
	w.maybeChanged, w.changed = false, false
	if w.nextQuota.IsZero() || !now.Before(w.nextQuota) {
		w.nextQuota, _ = d.settings.Quotas.Next(now)
	}
	if hour := now.Truncate(time.Hour); !hour.Equal(w.hour) {
		w.hour = hour
		d.forget(now)
	}
}

// joined records that a vjob has come.
func (w *watch) joined(id cluster.VJobID) {
	if w.newcomers == nil {
		w.newcomers = map[cluster.VJobID]bool{}
	}
	w.newcomers[id] = true
}

// differs reports whether an order differs from that of the last decision, newcomers aside.
func (w *watch) differs(order []cluster.VJobID) bool {
	k := 0
	for _, id := range order {
		switch {
		case k < len(w.seen) && w.seen[k] == id:
			k++
		case !w.newcomers[id]:
			return true
		}
	}
	return k < len(w.seen)
}

// Changed reports whether time or use has changed the order or a quota since the last decision; that vjobs have come
// since is no change. Without a change it is cheap.
func (d *Order) Changed(now time.Time) bool {
	w := &d.watch
	if w.changed {
		return true
	}
	d.updateFactors()
	if w.changed = !w.nextQuota.IsZero() && !now.Before(w.nextQuota); w.changed {
		return true
	}
	if w.maybeChanged || d.factorsChanged || !w.nextAging.IsZero() && !now.Before(w.nextAging) {
		w.changed = w.differs(d.Sorted(now))
		w.maybeChanged = false
	}
	return w.changed
}

// Next returns when time may have changed something; zero: never.
func (d *Order) Next() time.Time {
	w := &d.watch
	if w.nextAging.IsZero() || !w.nextQuota.IsZero() && w.nextQuota.Before(w.nextAging) {
		return w.nextQuota
	}
	return w.nextAging
}
