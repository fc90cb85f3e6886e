package api

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/scheduler"
)

// maxBudgets bounds what is stated at once.
const maxBudgets = 1000

// budgets answers GET /v1/budgets. Users read the limits, and of the vjobs only their own.
func (h *energyHandler) budgets(c *gin.Context, caller Subject) error {
	snapshot := h.snapshot()
	now := snapshot.Budgets
	visible := func(id cluster.VJobID) bool {
		return caller.Viewer() == "" || snapshot.VJob(id).Owner == caller.Viewer()
	}
	out := wire.Budgets{
		Settings: wireBudgets(now.Settings), Stated: wireBudgets(now.Stated), StatedBy: now.By, StatedAt: instant(now.At),
		Limits: make([]wire.Limit, len(now.Limits)), Changes: make([]wire.BudgetChange, len(now.Changes)),
	}
	for i, l := range now.Limits {
		out.Limits[i] = wire.Limit{
			Budget: wireLimit(l.Limit), DrawnWatts: watts(l.Now), MostWatts: watts(l.Most), ShortWatts: watts(l.Short), Nodes: l.Nodes, UnknownNodes: l.Unknown,
		}
	}
	for i, change := range now.Changes {
		w := wire.BudgetChange{At: change.At.UTC(), From: change.From.UTC(), Limits: []wire.Budget{}, Stops: []int64{}}
		for _, l := range change.Limits {
			w.Limits = append(w.Limits, wireLimit(l))
		}
		for _, id := range change.Stops {
			if visible(id) {
				w.Stops = append(w.Stops, int64(id))
			}
		}
		out.Changes[i] = w
	}
	for id, vjob := range snapshot.VJobs.All() {
		if vjob.State.Ready() && vjob.Cause.Is(cluster.CausePower) && visible(id) {
			out.Waits = append(out.Waits, int64(id))
		}
	}
	if caller.Viewer() != "" {
		out.StatedBy = ""
	}
	return answerTagged(c, http.StatusOK, scheduler.BudgetsRevision(now.Stated), out)
}

func wireLimit(l budget.Limit) wire.Budget {
	return wire.Budget{Watts: watts(l.Watts), Group: l.Group.String(), When: l.When}
}

func wireBudgets(lines []budget.Budget) []wire.Budget {
	list := make([]wire.Budget, len(lines))
	for i, l := range lines {
		list[i] = wire.Budget{Watts: float64(l.Watts), Group: l.Group.String(), When: l.When}
	}
	return list
}

// setBudgets answers PUT /v1/budgets.
func (h *energyHandler) setBudgets(c *gin.Context, caller Subject) error {
	var change wire.BudgetsChange
	if err := readBody(c, &change); err != nil {
		return err
	}
	if change.Budgets == nil { // a slip must not take all of them back
		return cluster.BadField("budgets", "nothing", "a list; [] takes back all that were stated")
	}
	if n := len(change.Budgets); n > maxBudgets {
		return cluster.BadField("budgets", fmt.Sprintf("%d of them", n), fmt.Sprintf("at most %d", maxBudgets))
	}
	var faults cluster.Faults
	lines := make([]budget.Budget, len(change.Budgets))
	for i, b := range change.Budgets {
		group, err := budget.ParseGroup(b.Group)
		faults.Add(cluster.WithPath(fmt.Sprintf("budgets[%d]", i), err))
		lines[i] = budget.Budget{Watts: energy.Watts(b.Watts), Group: group, When: b.When}
	}
	err := faults.Err()
	if err != nil {
		return err
	}
	if change.Check {
		err = h.scheduler.CheckBudgets(c.Request.Context(), lines)
	} else {
		err = h.audit.do(c.Request.Context(), h.audit.entry(caller, journal.AuditBudgets, "", truncate(budget.Format(lines))), func(act journal.Audit) error {
			return h.scheduler.SetBudgets(c.Request.Context(), lines, act)
		})
	}
	if err != nil {
		return err
	}
	return noContent(c)
}
