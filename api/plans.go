package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// planReader reads the context switches from the store.
type planReader interface {
	// Plans lists the plans of a filter, the latest first.
	Plans(ctx context.Context, f journal.PlanFilter) ([]journal.PlanRow, error)
	Plan(ctx context.Context, id journal.PlanID) (journal.PlanDetail, error)
}

// planHandler answers requests for context switches.
type planHandler struct {
	plans    planReader
	vjobs    vjobReader
	snapshot func() *scheduler.Snapshot
}

// list answers GET /v1/plans. Users see those that changed vjobs of theirs, without what they cost others.
func (h *planHandler) list(c *gin.Context, caller Subject) error {
	q := queryReader{c: c}
	limit, before := q.limit(50), q.cursor()
	if q.err != nil {
		return q.err
	}
	filter := journal.PlanFilter{Limit: limit + 1, Before: journal.PlanID(before)}
	all := Can(caller, Read, Object{Kind: KindPlans})
	if !all {
		filter.Owner = caller.Name
	}
	rows, err := h.plans.Plans(c.Request.Context(), filter)
	if err != nil {
		return err
	}
	rows, next := cut(c, rows, limit, func(p *journal.PlanRow) string { return number(p.ID) })
	list := wire.PlanList{Plans: make([]wire.Plan, len(rows)), Next: next}
	for i := range rows {
		list.Plans[i] = wirePlan(&rows[i])
		if !all {
			list.Plans[i].Note, list.Plans[i].CostMiB = "", 0
		}
	}
	return answer(c, http.StatusOK, list)
}

// show answers GET /v1/plans/{id}. Users see what the plan does with their own vjobs; a plan without
// any of them is not found.
func (h *planHandler) show(c *gin.Context, caller Subject) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	detail, err := h.plans.Plan(c.Request.Context(), journal.PlanID(id))
	if err != nil {
		return err
	}
	plan := wirePlan(&detail.PlanRow)
	visible := func(cluster.VJobID) bool { return true }
	if !Can(caller, Read, Object{Kind: KindPlans}) {
		own, err := h.ownIn(c.Request.Context(), caller, &detail)
		if err != nil {
			return err
		}
		if len(own) == 0 {
			return notFound("plan", c.Param("id"))
		}
		visible = func(id cluster.VJobID) bool { return own[id] }
		plan.Note, plan.CostMiB = "", 0
	}
	addActions(&plan, &detail, visible)
	now := h.snapshot()
	for _, g := range detail.Plan.Gangs {
		if cause := g.Cause.For(caller.Viewer()); visible(g.VJob) {
			plan.Gangs = append(plan.Gangs, wire.Gang{
				VJob: int64(g.VJob), Kind: g.Kind.String(), Why: Shown(cause.String(), caller.Viewer(), now, g.VJob), Cause: wireCause(cause, caller.Viewer(), now, g.VJob),
			})
		}
	}
	return answer(c, http.StatusOK, plan)
}

// ownIn returns the vjobs of the plan that the subject may read.
func (h *planHandler) ownIn(ctx context.Context, caller Subject, detail *journal.PlanDetail) (map[cluster.VJobID]bool, error) {
	asked, own := map[cluster.VJobID]bool{}, map[cluster.VJobID]bool{}
	for _, a := range detail.Plan.Actions {
		id := a.VM.VJob
		if asked[id] {
			continue
		}
		asked[id] = true
		kept, err := h.vjobs.VJob(ctx, id)
		if err != nil && !errors.Is(err, cluster.ErrNotFound) {
			return nil, err
		}
		if err == nil && Can(caller, Read, Object{Kind: KindVJob, Owner: kept.Owner}) {
			own[id] = true
		}
	}
	return own, nil
}

func wirePlan(row *journal.PlanRow) wire.Plan {
	return wire.Plan{
		ID: int64(row.ID), State: string(row.State), Policy: row.Policy, Began: row.At.UTC(), Ended: instant(row.Ended),
		CostMiB: row.Cost, MakespanSeconds: row.Makespan.Seconds(), TookSeconds: seconds(row.At, row.Ended),
		Ratio: row.Ratio(), Note: row.Note, ActionCount: row.Actions,
	}
}

// addActions adds the actions and skews on the vjobs that are visible.
func addActions(plan *wire.Plan, detail *journal.PlanDetail, visible func(cluster.VJobID) bool) {
	actions := detail.Plan.Actions
	shown := func(id ctxswitch.ActionID) bool {
		return int(id) < len(actions) && visible(actions[id].VM.VJob)
	}
	foreign := func(number string) bool {
		id, err := strconv.ParseInt(number, 10, 64)
		return err == nil && !visible(cluster.VJobID(id))
	}
	for i, a := range actions {
		if !visible(a.VM.VJob) {
			continue
		}
		w := wire.Action{
			ID: int(a.ID), Kind: a.Kind.String(), VM: a.VM.String(), From: string(a.From), To: string(a.To), Live: a.Live,
			StartSec: a.Start.Seconds(), EndSec: a.End.Seconds(), CostMiB: a.Cost, BytesPerSecond: int64(a.Rate), State: string(journal.PlanPending),
		}
		for _, before := range a.After {
			if shown(before) {
				w.After = append(w.After, int(before))
			}
		}
		if i < len(detail.Progress) {
			p := detail.Progress[i]
			w.State, w.Began, w.Ended, w.Note = string(p.State), instant(p.Began), instant(p.Ended), redactVMs(p.Note, foreign)
		}
		plan.Actions = append(plan.Actions, w)
	}
	plan.ActionCount = len(plan.Actions)
	for _, k := range detail.Skews {
		if visible(k.VJob) {
			plan.Skews = append(plan.Skews, wire.Skew{VJob: int64(k.VJob), Kind: k.Kind, Seconds: k.Skew.Seconds()})
		}
	}
}

// seconds is how long something took, 0 while it has not ended.
func seconds(began, ended time.Time) float64 {
	if began.IsZero() || ended.IsZero() {
		return 0
	}
	return ended.Sub(began).Seconds()
}
