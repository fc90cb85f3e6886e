package schedule

import (
	"cmp"

	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Stuck simulates the placement and returns in words why tasks never start; nil if all start.
func Stuck(s *placement.State) (why []string) {
	c := simulate(s, nil, false)
	if c.pending == 0 {
		return nil
	}
	for i := range c.tasks {
		if t := &c.tasks[i]; !t.started && len(why) < problem.MaxReasons {
			why = append(why, c.waitText(t))
		}
	}
	if narrow := cmp.Or(c.traffic.lackText(), c.slots.lackText()); narrow != "" {
		return append(why, narrow)
	}
	return append(why, "they wait for each other, and no other node has the room to let one of them pass; VMs that may be suspended for a while (sleepable) could")
}
