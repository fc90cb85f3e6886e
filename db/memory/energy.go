package memory

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// stepEnergy stores new budgets and prices, and adds to what nodes have drawn.
func (s *Store) stepEnergy(step *journal.Step, u *undo) {
	if step.Budgets != nil {
		keep(u, &s.budgets)
		s.budgets = *step.Budgets
		s.budgets.At = utc(s.budgets.At)
	}
	if step.Prices != nil {
		keep(u, &s.prices)
		s.prices = *step.Prices
		s.prices.At = utc(s.prices.At)
	}
	if len(step.Drawn) == 0 {
		return
	}
	keep(u, &s.drawn)
	s.drawn = maps.Clone(s.drawn) // clones of the store share the old one
	if s.drawn == nil {
		s.drawn = map[cluster.NodeID]int64{}
	}
	for _, d := range step.Drawn {
		s.drawn[d.Node] += d.Joules
	}
}

func (s *Store) sortedDrawn() (list []journal.NodeEnergy) {
	for _, id := range slices.Sorted(maps.Keys(s.drawn)) {
		list = append(list, journal.NodeEnergy{Node: id, Joules: s.drawn[id]})
	}
	return list
}
