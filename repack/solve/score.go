package solve

import (
	"vjob/repack"
)

// scoreOf measures a complete schedule of the placement.
func scoreOf(s *State, c *Schedule) score {
	penalty := penalties(s, c)
	switch s.objective {
	case repack.Makespan:
		return score{int64(c.last) + penalty, c.cost}
	case repack.Migrations:
		return score{c.countKind(repack.Migrate) + penalty, c.cost}
	case repack.Moved:
		return score{c.in.Cost(c.plan()) + penalty, c.cost}
	default:
		return score{c.cost + penalty, int64(c.last)}
	}
}

// What soft rules cost: guards count most of it while VMs get their nodes; the rest
// can be said of a whole plan only.

// penalties are what the soft rules that a complete schedule breaks cost.
func penalties(s *State, c *Schedule) int64 {
	if s.uncounted {
		return judge(s.Problem, c.plan())
	}
	return s.penalty + c.migrationPenalties()
}

// judge has the soft rules themselves say what they have against a plan.
func judge(m *Problem, p *repack.Plan) (sum int64) {
	t, _ := repack.Trace(m.in, p)
	for _, r := range m.in.Rules {
		if r.Penalty == 0 {
			continue
		}
		for _, b := range r.Check(t) {
			sum += r.Penalty * int64(1+b.More)
		}
	}
	return sum
}
