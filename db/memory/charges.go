package memory

import (
	"slices"
	"time"

	"vjob/ctxswitch/journal"
	"vjob/db/internal/check"
)

// charge adds to what accounts were charged in an hour. The list is copied: readers
// and clones hold the old one.
func (s *Store) charge(list []journal.Charge, u *undo) {
	if len(list) == 0 {
		return
	}
	keep(u, &s.charges)
	sums := slices.Clone(s.charges)
	for _, c := range list {
		c.Hour = utc(c.Hour)
		i, found := slices.BinarySearchFunc(sums, c, journal.Charge.Compare)
		if !found {
			sums = slices.Insert(sums, i, c)
			continue
		}
		sums[i].CPUTime += c.CPUTime
		sums[i].MemoryTime += c.MemoryTime
	}
	s.charges = sums
}

func (s *Store) pruneCharges(before time.Time) int {
	n := 0
	for n < min(len(s.charges), check.PruneRows) && s.charges[n].Hour.Before(before) {
		n++
	}
	s.charges = slices.Clone(s.charges[n:])
	return n
}
