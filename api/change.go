package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// changeVJob answers PATCH /v1/vjobs/{id}.
func (s *Server) changeVJob(c *gin.Context, caller Subject) error {
	kept, err := s.vjob(c, caller, Change)
	if err != nil {
		return err
	}
	var body wire.VJobChange
	if err := s.readBody(c, &body); err != nil {
		return err
	}
	if body.WalltimeSeconds == nil {
		return cluster.BadField("walltime_seconds", "null", "the new walltime, or 0 for no limit")
	}
	if err := inRange("walltime_seconds", *body.WalltimeSeconds, 0, maxWalltime); err != nil {
		return err
	}
	err = s.scheduler.SetWalltime(c.Request.Context(), scheduler.WalltimeChange{
		VJob: kept.ID, Walltime: time.Duration(*body.WalltimeSeconds) * time.Second, By: caller.Name, Admin: caller.Role == journal.RoleAdmin,
	})
	if err != nil {
		return err
	}
	// It is changed; that it cannot be read back is no reason to fail it.
	if fresh, err := s.reader.VJob(c.Request.Context(), kept.ID); err == nil {
		kept = fresh
	}
	return answer(c, http.StatusOK, wireVJob(&kept.Row, s.snapshot(), caller.Viewer()))
}
