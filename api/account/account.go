// Package account says who has drawn how much energy over a time, what that has cost, and
// what it would have cost if nobody had waited for a lower price.
//
// It is pure. It refuses to know how energy is written down.
package account

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/price"
)

// Line is the energy of one name. Costs are in what the unit of the prices counts.
type Line struct {
	Name     string
	Energy   energy.Joules
	Priced   energy.Joules // of it, the price of which is known
	Cost     float64       // of what is priced
	AtOnce   float64       // what the same would have cost if nobody had waited for a lower price
	Compared energy.Joules // of those that have waited, where the prices of both times are known
}

// Account is what was drawn over a time.
type Account struct {
	Lines  []Line // the largest first
	Unused Line   // drawn for no vjob: by nodes that were empty, or off
	Total  Line   // of all these
}

// Of adds rows up by their names.
func Of(rows []journal.EnergyRow, prices *price.Series) Account {
	lines := map[string]*Line{}
	var a Account
	for i := range rows {
		r := &rows[i]
		to := &a.Unused
		if !r.Unused {
			if lines[r.Name] == nil {
				lines[r.Name] = &Line{Name: r.Name}
			}
			to = lines[r.Name]
		}
		l := worth(r, prices)
		to.add(&l)
		a.Total.add(&l)
	}
	for _, l := range lines {
		a.Lines = append(a.Lines, *l)
	}
	slices.SortFunc(a.Lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Energy, a.Energy), strings.Compare(a.Name, b.Name))
	})
	return a
}

// worth is one row with its costs: by the mean price of its hour, and by that of the hour
// in which the same would have been drawn without the wait.
func worth(r *journal.EnergyRow, prices *price.Series) Line {
	e := energy.Joules(r.Millijoules) / 1000
	l := Line{Energy: e}
	now, known := prices.Cost(e, r.Hour, r.Hour.Add(time.Hour))
	if !known {
		return l
	}
	l.Priced, l.Cost, l.AtOnce = e, now, now
	if then := r.Hour.Add(-r.Waited); r.Waited > 0 {
		if once, known := prices.Cost(e, then, then.Add(time.Hour)); known {
			l.AtOnce, l.Compared = once, e
		}
	}
	return l
}

func (l *Line) add(o *Line) {
	l.Energy += o.Energy
	l.Priced += o.Priced
	l.Cost += o.Cost
	l.AtOnce += o.AtOnce
	l.Compared += o.Compared
}
