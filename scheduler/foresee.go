package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/queue/forecast"
)

// Foreseen is the schedule of all vjobs that have not ended, as it is going to be.
type Foreseen struct {
	At    time.Time
	Total cluster.Resources // of the nodes that take VMs
	Nodes int               // of them
	VJobs []*cluster.VJob   // in the order of their turns
	Jobs  []forecast.Job    // what was reckoned with of each
	forecast.Schedule
}

// Foresee prepares the schedule; the answer itself takes a while and needs the core no
// more.
func (c *Core) Foresee(now time.Time) (answer func() Foreseen, err error) {
	c.now = now
	if !c.exec.Surveyed() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	p := c.picture()
	scene := p.Scene(c.verdicts)
	f := Foreseen{At: now, Total: scene.Total, Nodes: len(scene.Nodes), Jobs: scene.Jobs}
	for i := range p.VJobs {
		f.VJobs = append(f.VJobs, p.VJobs[i].Job.Clone())
	}
	return func() Foreseen {
		f.Schedule = forecast.Of(scene)
		return f
	}, nil
}
