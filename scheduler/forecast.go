package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/queue/forecast"
	"vjob/scheduler/decide"
)

// QueueForecast is the expected schedule of all live vjobs.
type QueueForecast struct {
	At    time.Time
	Total cluster.Resources // of the nodes that take VMs
	Nodes int               // of them
	VJobs []*cluster.VJob   // in queue order; vjobs inside a container follow it
	Jobs  []forecast.Job    // the inputs of the forecast
	forecast.Schedule
}

// Forecast prepares the forecast. The answer takes a while and does not use the core.
func (c *Core) Forecast(now time.Time) (answer func() QueueForecast, err error) {
	if !c.exec.AllSeen() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	facts, decided, settings := c.facts(now, c.Improver.Approvals()), c.last.verdictsByVJob(), &c.settings.Settings
	facts.Detach()
	return func() QueueForecast {
		return mergeForecasts(now, decide.NewView(settings, facts).ForecastInputs(decided))
	}, nil
}

// mergeForecasts merges the schedules of the cluster and of the containers: vjobs inside follow
// their container.
func mergeForecasts(now time.Time, scenes []*decide.ForecastInput) QueueForecast {
	whole := scenes[0]
	f := QueueForecast{At: now, Total: whole.Total, Nodes: len(whole.Nodes)}
	inside := map[cluster.VJobID]*decide.ForecastInput{}
	for _, s := range scenes[1:] {
		inside[s.Inside] = s
	}
	own := forecast.Compute(&whole.Scene)
	f.Use = own.Use
	for i, job := range whole.VJobs {
		f.VJobs, f.Jobs, f.Estimates = append(f.VJobs, job), append(f.Jobs, whole.Jobs[i]), append(f.Estimates, own.Estimates[i])
		if s := inside[job.ID]; s != nil {
			f.VJobs, f.Jobs, f.Estimates = append(f.VJobs, s.VJobs...), append(f.Jobs, s.Jobs...), append(f.Estimates, forecast.Compute(&s.Scene).Estimates...)
		}
	}
	return f
}
