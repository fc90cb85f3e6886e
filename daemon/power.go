package daemon

import (
	"fmt"

	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/power"
	"vjob/power/cycle"
	"vjob/scheduler"
	"vjob/settings"
)

// fleet makes the power drivers of the nodes.
func fleet(s *settings.Settings, d hypervisor.Driver) (power.Fleet, error) {
	f := power.Fleet{}
	for i := range s.Switching.Nodes {
		n := &s.Switching.Nodes[i]
		for _, id := range n.Switched() {
			nodes, ok := d.(*simulated.Driver)
			if !ok {
				return nil, fmt.Errorf("power.nodes[%d]: node %s is not simulated", i, id)
			}
			f[id] = nodes.Button(id)
		}
	}
	return f, nil
}

// switching is what the loop is told of it.
func switching(s *settings.Settings) scheduler.Switching {
	l := &s.Switching.Limits
	return scheduler.Switching{
		Nodes: s.SwitchedNodes(), Reply: l.Reply.Duration,
		Limits: cycle.Limits{
			Empty: l.Empty.Duration, Off: l.Off.Duration, On: l.On.Duration, Quiet: l.Quiet.Duration,
			Poll: l.Poll.Duration, Pause: l.Pause.Duration, Tries: l.Tries,
		},
	}
}
