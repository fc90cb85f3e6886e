package schedule

import (
	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Soft rules: guards count most of their cost while VMs are placed; the rest needs a whole
// plan.

// Penalty returns the cost of the soft rules that a complete schedule of a placement breaks.
func (c *Schedule) Penalty(s *placement.State) int64 {
	if s.Uncounted {
		return judge(s.Problem, c.Plan())
	}
	return s.Penalty + c.migrationPenalties()
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

// migrationPenalties returns the cost of soft rules against migrations.
func (c *Schedule) migrationPenalties() (sum int64) {
	seen := map[int]bool{}
	for i := range c.tasks {
		if t := &c.tasks[i]; t.kind == repack.Migrate && !seen[t.vm] {
			seen[t.vm] = true
			sum += c.MigrationPenalty[t.vm]
		}
	}
	return sum
}
