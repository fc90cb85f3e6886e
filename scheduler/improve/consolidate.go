package improve

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/scheduler/decide"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/recommendation"
)

// Two searches in a large cluster are at least leastLook apart, and lookShare times the duration
// of the last decision: a search delays other decisions.
const (
	leastLook = 10 * time.Second
	lookShare = 50
)

// consolidation is the memory of searches for places where VMs draw less. A restart loses it, and then
// the next search is due at once.
type consolidation struct {
	turn   int       // the next part of the cluster
	next   time.Time // when the next search is due
	seen   uint64    // the executor's changes as of the last search
	around int       // searches since the last change or move
	status ConsolidationStatus
}

// ConsolidationStatus is the result of searches for places where VMs draw less.
type ConsolidationStatus struct {
	Enabled bool
	Next    time.Time         // when the next search is due
	Last    ConsolidationLook // the last one
	Done    ConsolidationLook // the last one that made a plan
	// Looks, Switches and Moves count searches, plans and moved VMs since the start.
	Looks, Switches, Moves int
	Saves, Costs           energy.Joules // estimated, of all of them
}

// ConsolidationLook is one search, without its plan and its caps; the zero value means no search.
type ConsolidationLook struct {
	decide.Consolidation
	At     time.Time
	PlanID journal.PlanID // 0 if there is no plan
}

// consolidate moves VMs to where they draw less, after a decision with nothing else to do.
func (m *Improver) consolidate(step *Step) {
	ask, s := m.settings.Consolidation, &m.consolidation
	if !m.consolidates() {
		return
	}
	if step.Now.Before(s.next) {
		m.parts.Retry(s.next) // changes are considered then
		return
	}
	m.moved.forget(step.Now)
	found := step.Decision.Consolidate(&decide.ConsolidationRequest{
		Criteria: ask.Criteria, Turn: s.turn, Uses: m.parts.Uses, NodePower: m.offCandidates(step),
		Keeps: m.moved.keeps, Pack: m.settings.Placement == Pack, Split: !m.settings.Automation.Manual[journal.RecommendConsolidate],
	})
	pause := max(leastLook, ask.Every/time.Duration(max(1, found.Turns)), lookShare*m.took)
	if s.note(step.Now, &found, m.parts.Cluster.Changes(), pause) {
		m.parts.Retry(s.next)
	}
	if found.Plan.Empty() {
		return
	}
	text := consolidationText(&found, ask.Horizon)
	p := savingProposal(&found, text)
	if m.settings.Automation.Manual[p.Kind] || found.Waits {
		m.book.Add(step.Now, p.Kind, []recommendation.Proposal{p})
		return
	}
	m.begin(step, found.Plan, found.Caps, p, "")
	s.adopt(&found, step.Plan)
	m.handOver(step.Now, found.NodesOff)
}

// savingProposal returns the moves as a proposal. What is saved is worth the CPU time that the same energy gives.
func savingProposal(found *decide.Consolidation, text string) recommendation.Proposal {
	r := journal.Recommendation{
		Kind: journal.RecommendConsolidate, Moves: found.Moves, Off: found.NodesOff, Reason: "moves " + text,
		Before: journal.Measure{Watts: found.Before}, After: journal.Measure{Watts: found.After},
	}
	r.Prerequisites = prerequisites(&found.Plan, r.Moves)
	for _, node := range r.Off {
		leaves := slices.DeleteFunc(slices.Clone(r.Moves), func(m cluster.Move) bool { return m.From != node })
		if len(leaves) > 0 {
			r.Prerequisites = append(r.Prerequisites, journal.Prerequisite{Off: node, Moves: leaves})
		}
	}
	if found.PerCPU > 0 {
		r.Benefit, r.Cost = float64(found.Saves)/float64(found.PerCPU), float64(found.Costs)/float64(found.PerCPU)
	}
	return recommendation.Proposal{Recommendation: r}
}

// consolidates reports whether consolidation is enabled and useful.
func (m *Improver) consolidates() bool {
	ask := m.settings.Consolidation
	if ask != nil && m.settings.Placement == Pack {
		return true
	}
	return ask != nil && len(m.parts.Energy.Power) > 0 &&
		(ask.Always || m.parts.Power != nil || m.parts.Limited() || m.parts.Energy.SharesCPU())
}

// ConsolidationStatus returns the results of the searches for places where VMs draw less.
func (m *Improver) ConsolidationStatus() ConsolidationStatus {
	s := m.consolidation.status
	s.Enabled = m.consolidates()
	s.Next = m.consolidation.next
	return s
}

// offCandidates returns what power management would switch off; nil if nothing.
func (m *Improver) offCandidates(step *Step) decide.NodePower {
	manual := m.settings.Automation.Manual
	if m.parts.Power == nil || manual[journal.RecommendPower] && !manual[journal.RecommendConsolidate] {
		return nil // moves without approval must not lead to switching that needs it
	}
	scene := &nodepower.Scene{Now: step.Now, Decided: true, View: m.vary(step.Now)}
	for i := range step.Decision.VJobs {
		if job := step.Decision.VJobs[i].Job; step.View.WaitsForResources(job, &step.Decision.Verdicts[i]) {
			scene.Waiting = append(scene.Waiting, job.ID)
		}
	}
	return m.parts.Power.OffCandidates(scene)
}

// note records a search, and that the next one is due after a pause; again reports whether it is due even if nothing
// changes. If no part of the cluster offers a saving, the next one is due after a change; what was
// found and could not be done is tried again.
func (s *consolidation) note(now time.Time, found *decide.Consolidation, changes uint64, pause time.Duration) (again bool) {
	turns := max(1, found.Turns)
	if changes != s.seen {
		s.seen, s.around = changes, 0
	}
	s.around++
	if len(found.Moves) > 0 {
		s.around = 0
	}
	s.turn = (s.turn + 1) % turns
	s.next = now.Add(pause)
	told := *found
	told.Plan, told.Caps = ctxswitch.Plan{}, nil // the journal keeps the plan
	s.status.Last = ConsolidationLook{Consolidation: told, At: now}
	s.status.Looks++
	return s.around < turns
}

// adopt records that the moves that were found are carried out.
func (s *consolidation) adopt(found *decide.Consolidation, plan journal.PlanID) {
	s.status.Last.PlanID = plan
	s.status.Done = s.status.Last
	s.status.Switches, s.status.Moves = s.status.Switches+1, s.status.Moves+len(found.Moves)
	s.status.Saves, s.status.Costs = s.status.Saves+found.Saves, s.status.Costs+found.Costs
}

// consolidationText returns "3 VMs of 2 vjobs to save 412 W for 1h: 0.41 kWh for 12.5 Wh".
func consolidationText(found *decide.Consolidation, horizon time.Duration) string {
	if found.Before == 0 && found.After == 0 {
		return fmt.Sprintf("%s of %s: %s without VMs", cluster.Count(len(found.Moves), "VM"), cluster.Count(len(found.VJobs), "vjob"), cluster.Count(len(found.NodesOff), "node"))
	}
	text := fmt.Sprintf("%s of %s to save %s for %s: %s for %s", cluster.Count(len(found.Moves), "VM"), cluster.Count(len(found.VJobs), "vjob"),
		found.Before-found.After, shortly(horizon), found.Saves.Text(), found.Costs.Text())
	if n := len(found.NodesOff); n > 0 {
		text += fmt.Sprintf("; %s can go off", cluster.Count(n, "node"))
	}
	if before, after := found.Yield[0], found.Yield[1]; after > before+0.001 {
		text += fmt.Sprintf("; VMs may use %.0f %% of their CPU instead of %.0f %%", 100*after, 100*before)
	}
	return text
}

// shortly formats a duration without zeros: 1h instead of 1h0m0s.
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
