package schedule

import (
	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Of returns the complete schedule of actions with known times, sorted by start. [Schedule.Plan] says
// when VMs that stay get their share.
func Of(m *problem.Problem, actions []repack.Action) *Schedule {
	c := &Schedule{Problem: m}
	for i := range actions {
		a := &actions[i]
		if a.Kind == repack.Allocate {
			continue
		}
		c.tasks = append(c.tasks, task{
			vm: a.VM, kind: a.Kind, from: a.From, to: a.To, takes: a.End - a.Start, rate: a.Rate,
			start: a.Start, end: a.End, started: true, number: i, then: -1,
		})
		c.Last = max(c.Last, a.End)
		if a.VM != repack.Nowhere {
			c.Cost += int64(a.End) * m.In.VMs[a.VM].Weight
		}
	}
	return c
}

// Place places all VMs where the schedule leaves them. None has a place yet.
func (c *Schedule) Place(s *placement.State) { placeAt(s, c.tasks) }
