package memory

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/db/internal/check"
	"vjob/energy/power/cycle"
)

// stepPower replaces the power records of nodes.
func (s *Store) stepPower(records []cycle.Record, u *undo) error {
	if s.power == nil {
		s.power = map[cluster.NodeID]cycle.Record{}
	}
	for _, r := range records {
		if err := r.Check(); err != nil {
			return err
		}
		if _, known := s.nodes[r.Node]; !known {
			return check.NotFound("node", r.Node)
		}
		old, known := s.power[r.Node]
		u.replaced = append(u.replaced, func() {
			delete(s.power, r.Node)
			if known {
				s.power[r.Node] = old
			}
		})
		r.Since, r.RequestedAt = utc(r.Since), utc(r.RequestedAt)
		s.power[r.Node] = r
	}
	return nil
}

func (s *Store) sortedPower() []cycle.Record {
	var list []cycle.Record
	for _, id := range slices.Sorted(maps.Keys(s.power)) {
		list = append(list, s.power[id])
	}
	return list
}
