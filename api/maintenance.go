package api

import (
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// The states of a change that are no states of nodes: maintenance is a drain that ends by itself.
const (
	enterMaintenance = "maintenance"
	leaveMaintenance = "ready"
)

// maxReason bounds the reason of a maintenance, in bytes.
const maxReason = 200

// apply sets the state of nodes, or lets them enter or leave maintenance.
func (h *nodeHandler) apply(c *gin.Context, caller Subject, names []string, change *wire.NodeChange) error {
	enters := change.State == enterMaintenance
	switch {
	case change.Reason != "" && !enters:
		return cluster.Fault("reason", "goes with the state maintenance only")
	case len(change.Reason) > maxReason || strings.ContainsFunc(change.Reason, func(r rune) bool { return r < ' ' }):
		return cluster.BadField("reason", truncate(change.Reason), "a line of at most 200 bytes")
	case !enters && change.State != leaveMaintenance:
		state, err := requestedState(change)
		if err != nil {
			return err
		}
		return h.setAll(c, caller, names, state)
	case change.Fenced:
		return cluster.Fault("fenced", "true goes with the state down only")
	}
	ids, err := nodeIDs(names)
	if err != nil {
		return err
	}
	ctx, what := c.Request.Context(), change.State
	if change.Reason != "" {
		what += ": " + change.Reason
	}
	err = h.audit.do(ctx, h.audit.entry(caller, journal.AuditNode, truncate(strings.Join(names, ",")), truncate(what)), func(act journal.Audit) error {
		if enters {
			return h.scheduler.Maintain(ctx, ids, change.Reason, act)
		}
		return h.scheduler.Ready(ctx, ids, act)
	})
	if err != nil {
		return err
	}
	return noContent(c)
}

// wireMaintenance shows how far a node is on its way into maintenance; users see their own VMs. own is
// nil for those that see all.
func wireMaintenance(m *scheduler.MaintenanceStatus, caller Subject, own map[cluster.VJobID]bool) *wire.NodeMaintenance {
	if m == nil {
		return nil
	}
	w := &wire.NodeMaintenance{
		By: m.By, Reason: m.Reason, Since: m.Since.UTC(), Empty: m.Empty, VMs: m.VMs, Left: m.Left, Moving: []string{}, End: instant(m.End),
	}
	for _, vm := range m.Moving {
		if own == nil || own[vm.VJob] {
			w.Moving = append(w.Moving, vm.String())
		}
	}
	if caller.Role == journal.RoleAdmin {
		w.Stays = m.Stays
	}
	return w
}
