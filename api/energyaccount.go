package api

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/price"
)

// EnergyLine is the energy of one name. Costs are in the currency of the prices.
type EnergyLine struct {
	Name     string
	Energy   energy.Joules
	Priced   energy.Joules // the part with a known price
	Cost     float64       // of the priced energy
	AtOnce   float64       // the cost if no vjob had waited for a lower price
	Compared energy.Joules // of vjobs that waited, if the prices of both hours are known
}

// EnergyReport is the energy drawn in a period.
type EnergyReport struct {
	Lines  []EnergyLine // the largest first
	Unused EnergyLine   // drawn by empty or switched-off nodes
	Total  EnergyLine   // sum of all
}

// AccountEnergy adds up rows by name: the energy drawn, its cost, and the cost if no vjob had waited for
// a lower price.
func AccountEnergy(rows []journal.EnergyRow, prices *price.Series) EnergyReport {
	lines := map[string]*EnergyLine{}
	var a EnergyReport
	for i := range rows {
		r := &rows[i]
		to := &a.Unused
		if !r.Unused {
			if lines[r.Name] == nil {
				lines[r.Name] = &EnergyLine{Name: r.Name}
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
	slices.SortFunc(a.Lines, func(a, b EnergyLine) int {
		return cmp.Or(cmp.Compare(b.Energy, a.Energy), strings.Compare(a.Name, b.Name))
	})
	return a
}

// priced returns a row with its costs: at the mean price of its hour, and at that of the hour
// in which the energy would have been drawn without the wait.
func priced(r *journal.EnergyRow, prices *price.Series) EnergyLine {
	e := energy.Joules(r.Millijoules) / 1000
	l := EnergyLine{Energy: e}
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

func (l *EnergyLine) add(o *EnergyLine) {
	l.Energy += o.Energy
	l.Priced += o.Priced
	l.Cost += o.Cost
	l.AtOnce += o.AtOnce
	l.Compared += o.Compared
}
