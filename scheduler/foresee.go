package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/queue"
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
	retry := c.retryAt
	defer func() { c.retryAt = retry }()
	p := c.picture()
	scene := &forecast.Scene{Now: now, Strict: c.settings.Policy.Name() == queue.FCFS{}.Name()}
	for _, n := range p.intended.Nodes() {
		if n.Hosts() {
			scene.Nodes = append(scene.Nodes, n.Capacity)
			scene.Total = scene.Total.Plus(n.Capacity)
		}
	}
	f := Foreseen{At: now, Total: scene.Total, Nodes: len(scene.Nodes)}
	counts := needs(p.intended)
	for i, at := range p.lined {
		job := p.job(i, at, counts)
		scene.Jobs = append(scene.Jobs, c.foreseen(&job, p.aside[job.ID] != ""))
		f.VJobs = append(f.VJobs, job.Clone())
	}
	return func() Foreseen {
		f.Jobs, f.Schedule = scene.Jobs, forecast.Of(scene)
		return f
	}, nil
}

// foreseen is what the forecast is told of a vjob: what was last decided of it.
func (c *Core) foreseen(j *queue.Job, aside bool) forecast.Job {
	v, decided := c.verdicts[j.ID]
	f := forecast.Job{ID: j.ID, Need: j.Need, Reason: j.Reason}
	if decided && v.Reason != "" && (j.State.Ready() || v.Wish == queue.Run) {
		f.Reason = v.Reason
	}
	f.Left, f.Ends = j.Left()
	switch {
	case j.Busy:
		f.Runs, f.Stuck = j.Bound == queue.Run, j.Bound != queue.Run
	case j.State == cluster.Running:
		f.Runs = true
	default:
		f.Runs = decided && v.Wish == queue.Run
		f.Stuck = !f.Runs && (j.Held || j.Barred != "" || aside)
	}
	if j.State == cluster.Running {
		f.Since = j.Since
	}
	if j.State.Ready() && !f.Runs {
		f.Reserved = j.Reservation
	}
	return f
}
