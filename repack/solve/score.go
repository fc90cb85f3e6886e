package solve

import (
	"slices"

	"vjob/repack"
)

// score measures a complete schedule of the placement.
func (s *state) score(c *schedule) score {
	penalty := s.penalties(c)
	switch s.aim {
	case Makespan:
		return score{int64(c.last) + penalty, c.cost}
	case Migrations:
		return score{c.count(func(*task) int64 { return 1 }, repack.Migrate) + penalty, c.cost}
	case Moved:
		return score{c.count(c.moved, repack.Migrate, repack.Suspend, repack.Resume) + penalty, c.cost}
	default:
		return score{c.cost + penalty, int64(c.last)}
	}
}

// count adds up something of the tasks of some kinds.
func (c *schedule) count(what func(t *task) int64, kinds ...repack.Kind) (sum int64) {
	for i := range c.list {
		if t := &c.list[i]; slices.Contains(kinds, t.kind) {
			sum += what(t)
		}
	}
	return sum
}

// moved is the memory that a task moves (thesis table 8.3), see [repack.VM.Moved].
func (c *schedule) moved(t *task) int64 {
	v := repack.VM{State: repack.Running, Host: t.from, Next: c.in.VMs[t.vm].Next}
	if t.kind == repack.Resume {
		v.State = repack.Sleeping
	}
	return v.Moved(t.to)
}

// What soft rules cost: guards count most of it while VMs get their nodes; the rest
// can be said of a whole plan only.

// penalties are what the soft rules that a complete schedule breaks cost.
func (s *state) penalties(c *schedule) int64 {
	if s.judged {
		return s.judge(c.plan())
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
func (m *model) judge(p *repack.Plan) (sum int64) {
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
