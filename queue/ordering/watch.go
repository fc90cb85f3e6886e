package ordering

import (
	"slices"
	"time"

	"vjob/cluster"
)

// watch tells whether a decision is out of date although nothing has happened but that
// time went on, or that something was used.
type watch struct {
	seen    []cluster.VJobID // the order that was decided on
	doubt   bool             // the order may be another one
	stirred bool             // it is, or a quota has changed
	aged    time.Time        // when time changes a priority next; zero: it does not
	turned  time.Time        // when a quota changes next; zero: it does not
	hour    time.Time        // in which was last forgotten what does not count any more
}

// quietest is the least time between two looks at the order: priorities may change more
// often than anybody cares.
const quietest = time.Second

// Order is the vjobs in order. It stays the desk's own: it is right until the next call,
// and must not be changed.
func (d *Order) Order(now time.Time) []cluster.VJobID {
	w := &d.watch
	d.weigh()
	w.doubt = w.doubt || d.leapt || !w.aged.IsZero() && !now.Before(w.aged)
	if d.leapt {
		d.leapt = false
		for _, e := range d.jobs {
			if e.rank.FairShare != e.of.factor {
				e.rank.FairShare = e.of.factor
				d.line.Put(e.rank)
			}
		}
	}
	order := d.line.Order(now)
	if w.aged = d.line.Next(now); !w.aged.IsZero() && w.aged.Sub(now) < quietest {
		w.aged = now.Add(quietest)
	}
	return order
}

// Decided tells that a decision was taken on the order and the quotas of an instant: from
// now on stirs what differs from those.
func (d *Order) Decided(now time.Time) {
	w := &d.watch
	w.seen = append(w.seen[:0], d.Order(now)...)
	w.doubt, w.stirred = false, false
	if w.turned.IsZero() || !now.Before(w.turned) {
		w.turned, _ = d.rules.Quotas.Next(now)
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
	if w.stirred {
		return true
	}
	d.weigh()
	if w.stirred = !w.turned.IsZero() && !now.Before(w.turned); w.stirred {
		return true
	}
	if w.doubt || d.leapt || !w.aged.IsZero() && !now.Before(w.aged) {
		w.stirred = !slices.Equal(d.Order(now), w.seen)
		w.doubt = false
	}
	return w.stirred
}

// Next is when it is worth while to ask again whether time has changed anything; zero:
// never.
func (d *Order) Next() time.Time {
	w := &d.watch
	if w.aged.IsZero() || !w.turned.IsZero() && w.turned.Before(w.aged) {
		return w.turned
	}
	return w.aged
}
