package scheduler

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/consolidate"
	"vjob/scheduler/decide"
	"vjob/scheduler/nodepower"
)

// Consolidating says when VMs that run are moved to where they draw less.
type Consolidating struct {
	consolidate.Terms
	Every time.Duration // between two looks at the whole cluster
	// Always: also where nobody asks for less power, by a budget, by how shares are dealt
	// out, or by having nodes switched off.
	Always bool
}

// Between looks at two pieces of a large cluster there is so much time at least, and so many
// times what the last pass took: a look takes a pass, and others have to have theirs.
const (
	leastLook = 10 * time.Second
	lookShare = 50
)

// consolidationState is what is remembered of looks for places where VMs draw less. A restart forgets
// it, and then one is looked for at once. It belongs to the core.
type consolidationState struct {
	turn   int       // the piece that is next
	next   time.Time // look
	seen   uint64    // the executor's changes as of the last look
	around int       // looks since something has changed or was moved
	moved  map[cluster.VMID]time.Time
	took   time.Duration // the last pass
	status ConsolidationStatus
}

// ConsolidationStatus is what has come of looks for places where VMs draw less.
type ConsolidationStatus struct {
	Enabled bool
	Next    time.Time         // when the next look is due
	Last    ConsolidationLook // the last one
	Done    ConsolidationLook // the last one of which something came
	// Looks, Switches and Moves count since the start: looks, plans and VMs that were to move.
	Looks, Switches, Moves int
	Saves, Costs           energy.Joules // as it was reckoned of all of them
}

// ConsolidationLook is one look, without its plan and its caps; the zero value is none.
type ConsolidationLook struct {
	decide.Consolidation
	At     time.Time
	PlanID journal.PlanID // that carries it out; 0: none
}

// consolidate lets VMs move to where they draw less, after a decision with nothing else to
// do.
func (c *Core) consolidate(p *decide.View, d *decide.Decision) {
	ask, s := c.settings.Consolidating, &c.consolidation
	if !c.consolidates() {
		return
	}
	if idle := d.Plan.Empty() && d.Why == "" && len(d.Breaches) == 0 && len(d.Suspects) == 0; !idle {
		return
	}
	if c.now.Before(s.next) {
		c.retry(s.next) // what has changed since is looked at then
		return
	}
	for vm, until := range s.moved {
		if !c.now.Before(until) {
			delete(s.moved, vm)
		}
	}
	found := p.Consolidate(d, &decide.ConsolidationRequest{
		Terms: ask.Terms, Turn: s.turn, Uses: c.exec.Demand, NodePower: c.offCandidates(p, d),
		Keeps: func(vm cluster.VMID) bool { return !s.moved[vm].IsZero() },
	})
	c.noteLook(&found)
	if found.Plan.Empty() {
		return
	}
	d.Plan, d.Caps = found.Plan, found.Caps
	for i := range d.Plan.Gangs {
		d.Plan.Gangs[i].Cause = cluster.Cause{Kind: cluster.CauseSaving, Nodes: found.NodesOff}
	}
	for _, vm := range found.VMs {
		s.moved[vm] = c.now.Add(ask.Horizon)
	}
	c.reportConsolidation(&found)
	if c.nodePower != nil {
		c.nodePower.Hand(c.now, found.NodesOff)
	}
}

// consolidates reports whether VMs are to move to where they draw less.
func (c *Core) consolidates() bool {
	ask := c.settings.Consolidating
	return ask != nil && len(c.settings.Energy.Power) > 0 &&
		(ask.Always || c.nodePower != nil || c.powerCap.Limited() || c.settings.Energy.SharesCPU())
}

// noteLook notes a look, and when the next one is due. When no piece has anything to offer
// there is none until something has changed; what was found and could not be done is tried
// again.
func (c *Core) noteLook(found *decide.Consolidation) {
	s := &c.consolidation
	turns := max(1, found.Turns)
	if changes := c.exec.Changes(); changes != s.seen {
		s.seen, s.around = changes, 0
	}
	if s.around++; len(found.VMs) > 0 {
		s.around = 0
	}
	s.turn = (s.turn + 1) % turns
	s.next = c.now.Add(max(leastLook, c.settings.Consolidating.Every/time.Duration(turns), lookShare*s.took))
	if s.around < turns {
		c.retry(s.next)
	}
	told := *found
	told.Plan, told.Caps = ctxswitch.Plan{}, nil // the journal keeps the plan
	s.status.Last = ConsolidationLook{Consolidation: told, At: c.now}
	s.status.Looks++
}

// offCandidates tells what power management would switch off, if there is such; nil: nothing.
func (c *Core) offCandidates(p *decide.View, d *decide.Decision) decide.NodePower {
	if c.nodePower == nil {
		return nil
	}
	scene := &nodepower.Scene{Now: c.now, Decided: true, View: c.view}
	for i, v := range d.Verdicts {
		if job := p.VJobs[i].Job; c.queues(p, job, &v) {
			scene.Waiting = append(scene.Waiting, job.ID)
		}
	}
	return c.nodePower.OffCandidates(scene)
}

// reportConsolidation tells people who moves, and why.
func (c *Core) reportConsolidation(found *decide.Consolidation) {
	s := &c.consolidation.status
	s.Last.PlanID = c.nextPlan
	s.Done = s.Last
	s.Switches, s.Moves = s.Switches+1, s.Moves+len(found.VMs)
	s.Saves, s.Costs = s.Saves+found.Saves, s.Costs+found.Costs
	c.out.Events = append(c.out.Events, journal.Event{
		At: c.now, Kind: journal.EventPlan, Plan: c.nextPlan, Text: "moves " + consolidationText(found, c.settings.Consolidating.Horizon),
	})
}

// consolidationText is "3 VMs of 2 vjobs to save 412 W for 1h: 0.41 kWh for 12.5 Wh".
func consolidationText(found *decide.Consolidation, horizon time.Duration) string {
	text := fmt.Sprintf("%s of %s to save %s for %s: %s for %s", number(len(found.VMs), "VM"), number(len(found.VJobs), "vjob"),
		found.Before-found.After, shortly(horizon), found.Saves.Text(), found.Costs.Text())
	if n := len(found.NodesOff); n > 0 {
		text += fmt.Sprintf("; %s can go off", number(n, "node"))
	}
	if before, after := found.Yield[0], found.Yield[1]; after > before+0.001 {
		text += fmt.Sprintf("; VMs may use %.0f %% of their CPU instead of %.0f %%", 100*after, 100*before)
	}
	return text
}

func number(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// shortly is a time without its zeros: 1h instead of 1h0m0s.
func shortly(d time.Duration) string {
	text := d.String()
	if short, cut := strings.CutSuffix(text, "m0s"); cut {
		text = short + "m"
	}
	if short, cut := strings.CutSuffix(text, "h0m"); cut {
		text = short + "h"
	}
	return text
}

// consolidationStatus is for those who watch.
func (c *Core) consolidationStatus() ConsolidationStatus {
	s := c.consolidation.status
	s.Enabled = c.consolidates()
	s.Next = c.consolidation.next
	return s
}
