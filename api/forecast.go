package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/scheduler"
)

// forecastService is the part of the scheduler that looks ahead.
type forecastService interface {
	// WhatIf returns the decision that would be taken after hypothetical changes.
	WhatIf(ctx context.Context, s scheduler.WhatIf) (scheduler.WhatIfResult, error)
	// Forecast returns the expected schedule.
	Forecast(ctx context.Context) (scheduler.QueueForecast, error)
}

// forecastHandler answers requests for the expected schedule, and for the outcome of hypothetical changes.
type forecastHandler struct {
	scheduler   forecastService
	submissions *submitter
	snapshot    func() *scheduler.Snapshot
}

// show answers GET /v1/forecast.
func (h *forecastHandler) show(c *gin.Context, caller Subject) error {
	f, err := h.scheduler.Forecast(c.Request.Context())
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, wireSchedule(&f, caller, h.snapshot()))
}

// wireSchedule returns the part that the caller may see: own vjobs, and the use of all.
func wireSchedule(f *scheduler.QueueForecast, caller Subject, now *scheduler.Snapshot) wire.Schedule {
	w := wire.Schedule{
		At: f.At.UTC(), CPUMilli: int64(f.Total.CPU), MemoryMiB: int64(f.Total.Memory), Nodes: f.Nodes,
		VJobs: []wire.Slot{}, Use: make([]wire.Use, len(f.Use)),
	}
	shown := map[cluster.VJobID]bool{}
	for _, job := range f.VJobs {
		shown[job.ID] = Can(caller, Read, Object{Kind: KindVJob, Owner: job.Owner})
	}
	for i, job := range f.VJobs {
		if !shown[job.ID] {
			continue
		}
		b, j := &f.Estimates[i], &f.Jobs[i]
		why := b.Why()
		if caller.Viewer() != "" && slices.ContainsFunc(b.Named(), func(id cluster.VJobID) bool { return !shown[id] }) {
			why = b.Discreet()
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
