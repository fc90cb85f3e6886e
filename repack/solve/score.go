package solve

import (
	"vjob/repack"
)

// scoreOf measures a complete schedule of the placement.
func scoreOf(s *state, c *schedule) score {
	penalty := penalties(s, c)
	switch s.aim {
	case Makespan:
		return score{int64(c.last) + penalty, c.cost}
	case Migrations:
		return score{c.count(repack.Migrate) + penalty, c.cost}
	case Moved:
		return score{c.in.Cost(c.plan()) + penalty, c.cost}
	default:
		return score{c.cost + penalty, int64(c.last)}
	}
}

// count is how many tasks are of a kind.
func (c *schedule) count(kind repack.Kind) (sum int64) {
	for i := range c.list {
		if c.list[i].kind == kind {
			sum++
		}
	}
	return sum
}

// What soft rules cost: guards count most of it while VMs get their nodes; the rest
// can be said of a whole plan only.

// penalties are what the soft rules that a complete schedule breaks cost.
func penalties(s *state, c *schedule) int64 {
	if s.judged {
		return judge(s.model, c.plan())
	}
	sum, seen := s.penalty, map[int]bool{}
	for i := range c.list {
		if t := &c.list[i]; t.kind == repack.Migrate && !seen[t.vm] {
			seen[t.vm] = true
			sum += s.grudge[t.vm]
		}
	}
	return sum
}

// judge has the soft rules themselves say what they have against a plan.
func judge(m *model, p *repack.Plan) (sum int64) {
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
