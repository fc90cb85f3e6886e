package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// statusHandler answers requests for the state of the server and of the whole cluster.
type statusHandler struct {
	nodes    *nodeHandler
	vjobs    vjobReader
	snapshot func() *scheduler.Snapshot
}

// health answers GET /healthz: whether the scheduler has taken its first decision and can write.
func (h *statusHandler) health(c *gin.Context, _ Subject) error {
	found, status := wire.Health{Ready: true, Reason: "ready"}, http.StatusOK
	switch now := h.snapshot(); {
	case now.Broken != "":
		found, status = wire.Health{Reason: "the database cannot be written, so no decision is taken: " + now.Broken}, http.StatusServiceUnavailable
	case !now.Ready:
		found, status = wire.Health{Reason: "starting: the first decision has not been taken"}, http.StatusServiceUnavailable
	}
	return answer(c, status, found)
}

// whoami answers GET /v1/whoami.
func (h *statusHandler) whoami(c *gin.Context, caller Subject) error {
	return answer(c, http.StatusOK, wire.Identity{Name: caller.Name, Role: string(caller.Role), Via: caller.Via})
}

// show answers GET /v1/status.
func (h *statusHandler) show(c *gin.Context, caller Subject) error {
	now := h.snapshot()
	ctx := c.Request.Context()
	nodes, err := h.nodes.view(ctx, caller, now.Nodes)
	if err != nil {
		return err
	}
	rows, _, err := h.vjobs.VJobs(ctx, journal.Filter{Owner: caller.Viewer(), Live: true, Limit: maxPage})
	if err != nil {
		return err
	}
	st := wire.Status{
		At: now.At.UTC(), Ready: now.Ready, Policy: now.Policy, Nodes: nodes,
		VJobs: make([]wire.VJob, len(rows)), Running: []wire.ActiveAction{}, Failover: wireFailover(&now.Failover), Alarms: unacknowledged(now, caller),
	}
	own := make(map[cluster.VJobID]bool, len(rows))
	for i := range rows {
		own[rows[i].ID] = true
		st.VJobs[i] = wireVJob(&rows[i], now, caller.Viewer())
	}
	for _, a := range now.Running {
		if caller.Role != journal.RoleAdmin && !own[a.VM.VJob] {
			continue
		}
		st.Running = append(st.Running, wire.ActiveAction{
			Plan: int64(a.Plan), VM: a.VM.String(), Kind: a.What, Phase: a.Phase,
			From: string(a.From), To: string(a.To), Began: a.Began.UTC(), ExpectedSeconds: a.Expected.Seconds(),
		})
	}
	return answer(c, http.StatusOK, st)
}
