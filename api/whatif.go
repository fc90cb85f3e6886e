package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/scheduler"
)

// whatIf answers POST /v1/what-if.
func (h *forecastHandler) whatIf(c *gin.Context, caller Subject) error {
	var body wire.WhatIf
	if err := readBodyBy(h.submissions.decoder, c, &body); err != nil {
		return err
	}
	if caller.Role != journal.RoleAdmin && changesMore(&body) {
		return fmt.Errorf("what-if: users may ask about a submission only: %w", cluster.ErrForbidden)
	}
	question, err := h.question(c.Request.Context(), &body, caller)
	if err != nil {
		return err
	}
	result, err := h.scheduler.WhatIf(c.Request.Context(), question)
	if err != nil && body.Submit != nil {
		return cluster.WithPath("submit", asSubmitted(body.Submit, redactError(err, caller.Viewer(), h.snapshot())))
	}
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, wireWhatIf(&result, caller, h.snapshot()))
}

// changesMore reports whether a question is about more than a submission.
func changesMore(w *wire.WhatIf) bool {
	nodes := len(w.Add) + len(w.Drain) + len(w.Off) + len(w.Lose) + len(w.Online)
	return nodes+len(w.Demand)+len(w.Without) > 0 || w.Pools != nil || w.Rules != nil || w.BudgetWatts != nil || w.Place != nil && *w.Place != submitted
}

// question checks the question field by field.
func (h *forecastHandler) question(ctx context.Context, w *wire.WhatIf, caller Subject) (out scheduler.WhatIf, err error) {
	var faults cluster.Faults
	faults.Add(h.addChanges(ctx, caller, w, &out), addStates(w, &out))
	for i, name := range w.Without {
		field := fmt.Sprintf("without[%d]", i)
		ids, err := h.submissions.finder.vjobsOf(ctx, caller, field, string(name))
		faults.Add(unknownField(field, string(name), err))
		out.Delete = append(out.Delete, ids...)
	}
	if w.Rules != nil {
		faults.Add(checkRules("rules", *w.Rules))
		out.Rules = w.Rules
	}
	if w.BudgetWatts != nil {
		power := energy.Watts(*w.BudgetWatts)
		faults.Add(check(power >= 0, "budget_watts", *w.BudgetWatts, "0 or more"))
		out.Budget = &power
	}
	out.Place, out.Alternatives, err = h.placeOf(ctx, caller, w)
	faults.Add(err)
	if w.Submit != nil {
		out.Submit, err = h.submissions.hypothetical(ctx, caller, w.Submit)
		faults.Add(cluster.WithPath("submit", err))
	}
	return out, faults.Err()
}

// addStates reads the states of nodes. Each node has one.
func addStates(w *wire.WhatIf, out *scheduler.WhatIf) error {
	out.Nodes = map[cluster.NodeID]cluster.NodeState{}
	stated := map[string]bool{}
	var faults cluster.Faults
	for _, group := range []struct {
		field string
		names []string
		state cluster.NodeState
	}{{"drain", w.Drain, cluster.Draining}, {"off", w.Off, cluster.Offline}, {"lose", w.Lose, cluster.Down}, {"online", w.Online, cluster.Online}} {
		for i, name := range group.names {
			if stated[name] || !cluster.IsName(name) {
				faults.Add(cluster.BadField(fmt.Sprintf("%s[%d]", group.field, i), name, "the name of a node, once"))
			}
			stated[name] = true
			if group.state == cluster.Offline {
				out.Off = append(out.Off, cluster.NodeID(name))
				continue
			}
			out.Nodes[cluster.NodeID(name)] = group.state
		}
	}
	return faults.Err()
}

// wireWhatIf returns the part of the answer that the caller may see: users see their own vjobs.
func wireWhatIf(f *scheduler.WhatIfResult, caller Subject, now *scheduler.Snapshot) wire.WhatIfResult {
	own := map[cluster.VJobID]bool{}
	visible := func(id cluster.VJobID) bool { return caller.Role == journal.RoleAdmin || own[id] }
	w := wire.WhatIfResult{VJobs: []wire.WhatIfVJob{}, Why: Shown(f.Why, caller.Viewer(), now), Broken: []string{}, Leaves: []string{}, Nodes: f.Nodes}
	for _, x := range f.VJobs {
		if !Can(caller, Read, Object{Kind: KindVJob, Owner: x.Owner}) {
			continue
		}
		own[x.ID] = true
		shown := wireWhatIfVJob(&x)
		shown.NowReason, shown.Reason = Shown(shown.NowReason, caller.Viewer(), now), Shown(shown.Reason, caller.Viewer(), now)
		w.VJobs = append(w.VJobs, shown)
	}
	if caller.Role == journal.RoleAdmin {
		w.Broken, w.Leaves = append(w.Broken, f.Breaches...), append(w.Leaves, f.Plan.Leaves...)
		for _, d := range f.Plan.Dropped {
			w.Dropped = append(w.Dropped, d.String())
		}
		w.Undrained = make(map[string]string, len(f.Undrained))
		for node, why := range f.Undrained {
			w.Undrained[string(node)] = why
		}
		w.Before, w.After = wireFigures(f.Before), wireFigures(f.After)
	}
	w.Plan = wirePlanned(&f.Plan, visible)
	addPlacements(&w, f, caller, visible)
	return w
}

func wireWhatIfVJob(x *scheduler.WhatIfVJob) wire.WhatIfVJob {
	w := wire.WhatIfVJob{
		ID: int64(x.ID), Name: x.Name, Owner: x.Owner, State: x.State.String(), VMCount: len(x.VMs),
		Now: x.Now.Target.String(), NowReason: x.Now.Reason, Then: x.Then.Target.String(), Reason: x.Then.Reason,
		NowStart: instant(x.NowStart), ThenStart: instant(x.ThenStart),
	}
	if x.Hypothetical() {
		w.Now, w.NowReason = "", ""
	}
	return w
}
