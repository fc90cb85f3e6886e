// Package account adds up the energy drawn in a period and its cost, by owner, project, queue,
// vjob or node. It also prices the energy as if no vjob had waited for a lower price.
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

// Line is the energy of one name. Costs are in the currency of the prices.
type Line struct {
	Name     string
	Energy   energy.Joules
	Priced   energy.Joules // the part with a known price
	Cost     float64       // of the priced energy
	AtOnce   float64       // the cost if no vjob had waited for a lower price
	Compared energy.Joules // of vjobs that waited, if the prices of both hours are known
}

// Report is the energy drawn in a period.
type Report struct {
	Lines  []Line // the largest first
	Unused Line   // drawn by empty or switched-off nodes
	Total  Line   // sum of all
}

// Of adds up rows by name.
func Of(rows []journal.EnergyRow, prices *price.Series) Report {
	lines := map[string]*Line{}
	var a Report
	for i := range rows {
		r := &rows[i]
		to := &a.Unused
		if !r.Unused {
			if lines[r.Name] == nil {
				lines[r.Name] = &Line{Name: r.Name}
			}
			to = lines[r.Name]
		}
		l := priced(r, prices)
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

// priced returns a row with its costs: at the mean price of its hour, and at that of the hour
// in which the energy would have been drawn without the wait.
func priced(r *journal.EnergyRow, prices *price.Series) Line {
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
