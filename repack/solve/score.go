package solve

import (
	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/schedule"
)

// scoreOf scores a complete schedule of the placement.
func scoreOf(s *placement.State, c *schedule.Schedule) score {
	penalty := c.Penalty(s)
	switch s.Objective {
	case repack.Makespan:
		return score{int64(c.Last) + penalty, c.Cost}
	case repack.Migrations:
		return score{c.CountKind(repack.Migrate) + penalty, c.Cost}
	case repack.Moved:
		return score{c.In.Cost(c.Plan()) + penalty, c.Cost}
	default:
		return score{c.Cost + penalty, int64(c.Last)}
	}
}
