package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/scheduler/nodepower"
)

// setPower answers POST /v1/nodes/{name}/power.
func (s *Server) setPower(c *gin.Context, caller Subject) error {
	var change wire.PowerChange
	if err := s.readBody(c, &change); err != nil {
		return err
	}
	want := cycle.WantOff
	switch change.Power {
	case "off":
	case "on":
		want = cycle.WantOn
	default:
		return cluster.BadField("power", change.Power, "off or on")
	}
	name := c.Param("name")
	if !cluster.IsName(name) {
		return notFound("node", name)
	}
	err := s.withAudit(c.Request.Context(), s.auditEntry(caller, journal.AuditPower, name, change.Power), func(act journal.Audit) error {
		return s.scheduler.SetPower(c.Request.Context(), cluster.NodeID(name), want, act)
	})
	if err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}

// wireSwitch shows how far a node is on its way off or on; administrators also read what is wrong.
func wireSwitch(p *nodepower.Switch, caller Subject) *wire.NodeSwitch {
	if p == nil {
		return nil
	}
	w := &wire.NodeSwitch{Phase: p.Phase.String(), Since: p.Since.UTC(), Wanted: p.Want.String()}
	if caller.Role == journal.RoleAdmin {
		w.By, w.Problem = p.By, p.Problem
	}
	return w
}
