package solve

import (
	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/schedule"
)

// scoreOf scores a complete schedule of the placement.
func scoreOf(s *placement.State, c *schedule.Schedule) score {
	penalty := penalties(s, c)
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

// Soft rules: guards count most of their cost while VMs are placed; the rest needs a whole
// plan.

// penalties returns the cost of the soft rules that a complete schedule breaks.
func penalties(s *placement.State, c *schedule.Schedule) int64 {
	if s.Uncounted {
		return judge(s.Problem, c.Plan())
	}
	return s.Penalty + c.MigrationPenalties()
}

// judge checks the soft rules on a plan and returns their cost.
func judge(m *problem.Problem, p *repack.Plan) (sum int64) {
	t, _ := repack.Trace(m.In, p)
	for _, r := range m.In.Rules {
		if r.Penalty == 0 {
			continue
		}
		for _, b := range r.Check(t) {
			sum += r.Penalty * int64(1+b.More)
		}
	}
	return sum
}
