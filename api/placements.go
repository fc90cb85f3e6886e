package api

import (
	"context"
	"fmt"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/decide"
)

// The number of placements in an answer.
const (
	defaultPlacements = 5
	maxPlacements     = 64
)

// submitted is the place of the vjob that the question submits.
const submitted wire.VJobName = "0"

// placeOf checks the question for placements.
func (h *forecastHandler) placeOf(ctx context.Context, caller Subject, w *wire.WhatIf) (id *cluster.VJobID, most int, err error) {
	switch {
	case w.Place == nil && w.Alternatives != 0:
		return nil, 0, cluster.Fault("alternatives", "requires place: the number of a vjob, or 0 for the submitted one")
	case w.Place == nil:
		return nil, 0, nil
	case *w.Place == submitted && w.Submit == nil:
		return nil, 0, cluster.Fault("place", "0 is the submitted vjob, and submit is missing: add it, or name a vjob")
	case w.Alternatives < 0 || w.Alternatives > maxPlacements:
		return nil, 0, cluster.BadField("alternatives", w.Alternatives, fmt.Sprintf("a number from 1 to %d", maxPlacements))
	}
	var vjob cluster.VJobID
	if *w.Place != submitted {
		if vjob, err = h.submissions.finder.vjobOf(ctx, caller, "place", string(*w.Place)); err != nil {
			return nil, 0, unknownField("place", string(*w.Place), err)
		}
	}
	if most = w.Alternatives; most == 0 {
		most = defaultPlacements
	}
	return &vjob, most, nil
}

// wirePlanned is a plan that has not begun, with the actions that the caller may see.
func wirePlanned(p *ctxswitch.Plan, visible func(cluster.VJobID) bool) wire.Plan {
	w := wire.Plan{CostMiB: p.Cost, MakespanSeconds: p.Makespan.Seconds()}
	addActions(&w, &journal.PlanDetail{Plan: *p}, visible)
	return w
}

// addPlacements adds the placements, of other vjobs only their number of actions.
func addPlacements(w *wire.WhatIfResult, f *scheduler.WhatIfResult, caller Subject, visible func(cluster.VJobID) bool) {
	for i := range f.Placements {
		w.Placements = append(w.Placements, wirePlacement(&f.Placements[i], caller, visible))
	}
	if len(f.Refusals) == 0 {
		return
	}
	w.Refusals = map[string]string{}
	for _, r := range f.Refusals {
		w.Refusals[string(r.Node)] = r.Why
	}
}

func wirePlacement(p *decide.Placement, caller Subject, visible func(cluster.VJobID) bool) wire.Placement {
	w := wire.Placement{
		Moves: p.Moves, Plan: wirePlanned(&p.Plan, visible),
		Before: wire.Deviation{CPU: p.Before.CPU, Memory: p.Before.Memory}, After: wire.Deviation{CPU: p.After.CPU, Memory: p.After.Memory},
	}
	for _, n := range p.Nodes {
		w.Nodes = append(w.Nodes, string(n))
	}
	for _, n := range p.PowerOn {
		w.PowerOn = append(w.PowerOn, string(n))
	}
	if p.WattsKnown {
		more := watts(p.Watts)
		w.Watts = &more
	}
	if caller.Role == journal.RoleAdmin {
		w.Broken = append(w.Broken, p.Plan.Leaves...)
		for _, d := range p.Plan.Dropped {
			w.Broken = append(w.Broken, d.String())
		}
	}
	w.Reason = placementReason(&w, len(p.Plan.Leaves)+len(p.Plan.Dropped))
	return w
}

// placementReason says in words what speaks for and against a placement.
func placementReason(w *wire.Placement, broken int) string {
	var parts []string
	if broken == 0 {
		parts = append(parts, "keeps all rules")
	} else {
		parts = append(parts, fmt.Sprintf("rules broken: %d", broken))
	}
	if len(w.PowerOn) > 0 {
		parts = append(parts, "after "+strings.Join(w.PowerOn, ", ")+" came on")
	}
	switch w.Moves {
	case 0:
		parts = append(parts, "no other VM moves")
	case 1:
		parts = append(parts, "after 1 action on another VM")
	default:
		parts = append(parts, fmt.Sprintf("after %d actions on other VMs", w.Moves))
	}
	parts = append(parts, fmt.Sprintf("balance σ CPU %.2f → %.2f, memory %.2f → %.2f", w.Before.CPU, w.After.CPU, w.Before.Memory, w.After.Memory))
	if w.Watts != nil {
		parts = append(parts, fmt.Sprintf("%+.0f W", *w.Watts))
	}
	return strings.Join(parts, "; ")
}
