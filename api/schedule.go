package api

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/scheduler"
)

func scheduleEndpoint() endpoint {
	return endpoint{
		method: "GET", path: "/v1/forecast", operation: "getForecast",
		summary: "The expected start and end of each vjob, and the resources in use over time",
		access:  authenticated, verb: Read, class: forecasts, status: 200, result: wire.Schedule{}, handle: (*Server).schedule,
	}
}

// schedule answers GET /v1/forecast.
func (s *Server) schedule(c *gin.Context, caller Subject) error {
	f, err := s.scheduler.Forecast(c.Request.Context())
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, wireSchedule(&f, caller, s.snapshot()))
}

// wireSchedule returns the part that the caller may see: own vjobs, and the use of all.
func wireSchedule(f *scheduler.QueueForecast, caller Subject, now *scheduler.Snapshot) wire.Schedule {
	w := wire.Schedule{
		At: f.At.UTC(), CPUMilli: int64(f.Total.CPU), MemoryMiB: int64(f.Total.Memory), Nodes: f.Nodes,
		VJobs: []wire.Slot{}, Use: make([]wire.Use, len(f.Use)),
	}
	hidden := map[cluster.VJobID]bool{}
	for _, job := range f.VJobs {
		hidden[job.ID] = !Can(caller, Read, Object{Kind: KindVJob, Owner: job.Owner})
	}
	for i, job := range f.VJobs {
		if hidden[job.ID] {
			continue
		}
		b, j := &f.Bars[i], &f.Jobs[i]
		why := b.Why
		if slices.ContainsFunc(b.Named, func(id cluster.VJobID) bool { return hidden[id] }) {
			why = b.Discreet
		}
		w.VJobs = append(w.VJobs, wire.Slot{
			ID: int64(job.ID), Name: job.Name, Owner: job.Owner, State: job.State.String(), VMCount: len(job.VMs),
			CPUMilli: int64(j.Need.CPU), MemoryMiB: int64(j.Need.Memory), Runs: j.Runs,
			Start: instant(b.Start), End: instant(b.End), Reserved: !job.Reservation.IsZero(), Inner: int64(job.Inner), Why: Shown(why, caller.Viewer(), now),
		})
	}
	for i, u := range f.Use {
		w.Use[i] = wire.Use{At: u.At.UTC(), CPUMilli: int64(u.Used.CPU), MemoryMiB: int64(u.Used.Memory), Nodes: u.Nodes}
	}
	return w
}
