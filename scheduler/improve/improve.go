// Package improve looks for changes that make a cluster better when decisions have nothing else to do: it
// evens out the load of nodes, consolidates VMs to save power, and asks for the approval of changes that need it.
//
// An [Improver] owns the recommendations, the memory of the demand of VMs, that of VMs that were moved, and when
// searches are due. One change is carried out at a time. Recommendations are in the journal; a restart loses the rest.
package improve

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/recommendation"
)

// Improver improves the cluster. It is not safe for concurrent use.
type Improver struct {
	settings Settings
	parts    Parts
	out      *journal.Step

	book          *recommendation.Book // proposed changes
	demand        *Demand              // of running VMs; nil if nothing uses it
	balancing     balancing            // searches for moves off crowded nodes
	consolidation consolidation        // searches for places where VMs draw less
	moved         moves                // VMs that were moved lately
	took          time.Duration        // by the last decision
}

// Parts are what an improver needs of the rest of the scheduler.
type Parts struct {
	Cluster Cluster
	// Uses returns the CPU that a VM demanded when it was last observed.
	Uses   func(vm cluster.VMID) cluster.MilliCPU
	Demand *Demand        // nil if no part of the settings uses it
	Energy *decide.Energy // power models and CPU shares
	Power  NodePower      // nil: only users switch nodes
	// Switch switches a node.
	Switch func(now time.Time, id cluster.NodeID, want cycle.Want, why string)
	// Limited reports whether a power budget holds.
	Limited func() bool
	// View returns what a decision would see if some starts and drains were approved.
	View func(now time.Time, approved decide.Approvals) *decide.View
	// Retry asks for a decision at an instant; zero is ignored.
	Retry func(at time.Time)
}

// Cluster is what runs. Package execute implements it.
type Cluster interface {
	// Changes counts the changes so far.
	Changes() uint64
	Job(id cluster.VJobID) (execute.Report, bool)
	Node(id cluster.NodeID) (execute.NodeReport, bool)
}

// NodePower decides which nodes are on. *nodepower.Policy implements it.
type NodePower interface {
	MostInUse() float64
	OffCandidates(s *nodepower.Scene) decide.NodePower
	Hand(now time.Time, nodes []cluster.NodeID)
	Wanted(id cluster.NodeID, want cycle.Want) bool
	Objection(view func() *decide.Variant, nodes []cluster.NodeID, want cycle.Want) string
}

// New continues from the contents of the journal. What the improver decides is written to out.
func New(s *Settings, p *Parts, loaded *journal.Loaded, out *journal.Step) *Improver {
	return &Improver{
		settings: *s, parts: *p, out: out, demand: p.Demand, moved: newMoves(s.stay()),
		book: recommendation.NewBook(s.Automation.life(), loaded.NextRecommendation, loaded.Recommendations, out),
	}
}

// Took records how long the last decision took: searches in large clusters are rarer.
func (m *Improver) Took(d time.Duration) { m.took = d }

// NoteDemand takes a sample of the demand of VMs, unless the last one is recent.
func (m *Improver) NoteDemand(now time.Time) { m.demand.note(now) }

// Step is a decision that may be improved.
type Step struct {
	Now      time.Time
	View     *decide.View
	Decision *decide.Decision // it gets a plan if an improvement begins
	Plan     journal.PlanID   // the number of that plan
	Search   *Search          // that was due with the decision; nil if none was
	Stale    bool             // the cluster has changed since the view, but not where the decision or the search would act
}

// Improve looks for changes that make the cluster better, after a decision with nothing else to do. What is
// approved comes first. One change is carried out at a time, so that each search sees the effects of those
// before it. On a stale view only what was found with the decision is begun: it reports whether something else is due, and wants
// another decision.
func (m *Improver) Improve(s *Step) (again bool) {
	m.parts.Retry(m.book.Expire(s.Now))
	m.supersedeHeld(s)
	switch {
	case !idle(s.Decision):
	case !s.Stale && m.applyApproved(s):
	case m.balance(s):
	case s.Stale:
		return m.due(s.Now)
	default:
		m.consolidate(s)
	}
	return false
}

// approved returns the first approved change to where VMs run.
func (m *Improver) approved() (journal.Recommendation, bool) {
	return m.book.Approved(journal.RecommendBalance, journal.RecommendConsolidate)
}

// due reports whether a change is approved or consolidation is due. It asks for a decision when that will be.
func (m *Improver) due(now time.Time) bool {
	if _, approved := m.approved(); approved {
		return true
	}
	if m.consolidates() && now.Before(m.consolidation.next) {
		m.parts.Retry(m.consolidation.next)
		return false
	}
	return m.consolidates()
}

// supersedeHeld closes the pending recommendations that move VMs which are held by their owners by now.
func (m *Improver) supersedeHeld(s *Step) {
	for i := range s.Decision.VJobs {
		job := s.Decision.VJobs[i].Job
		if job.Moves != cluster.MovesNever {
			continue
		}
		why := fmt.Sprintf("vjob %s is held by its owner (never)", job.ID)
		m.book.Supersede(s.Now, why, func(r *journal.Recommendation) bool {
			improves := r.Kind == journal.RecommendBalance || r.Kind == journal.RecommendConsolidate
			return improves && slices.ContainsFunc(r.Moves, func(move cluster.Move) bool { return move.VM.VJob == job.ID })
		})
	}
}

// idle reports whether a decision has nothing to do and no trouble.
func idle(d *decide.Decision) bool {
	return d.Plan.Empty() && d.Why == "" && len(d.Breaches) == 0 && len(d.Culprits) == 0
}

// applyApproved makes the plan of the first approved recommendation that is still possible, and refuses those
// before it. It reports whether there is one.
func (m *Improver) applyApproved(s *Step) bool {
	for {
		r, ok := m.approved()
		if !ok {
			return false
		}
		plan, caps, why := s.Decision.Relocate(r.Moves)
		if why != "" {
			m.book.Refuse(s.Now, r.ID, why)
			continue
		}
		s.Decision.Plan, s.Decision.Caps = plan, caps
		explain(&s.Decision.Plan, &r, "")
		m.book.Applied(s.Now, r.ID, s.Plan)
		m.moved.note(r.Moves, s.Now)
		m.handOver(s.Now, r.Off)
		return true
	}
}

// handOver lets power management switch off the nodes that become empty.
func (m *Improver) handOver(now time.Time, nodes []cluster.NodeID) {
	if m.parts.Power != nil && len(nodes) > 0 {
		m.parts.Power.Hand(now, nodes)
	}
}

// begin makes a plan that needs no approval that of the decision, and records what it is for, and why now, if that is known.
func (m *Improver) begin(s *Step, plan ctxswitch.Plan, caps map[cluster.VJobID][]cluster.MilliCPU, p recommendation.Proposal, whyNow string) {
	s.Decision.Plan, s.Decision.Caps = plan, caps
	if whyNow != "" {
		p.Reason += "; " + whyNow
	}
	explain(&s.Decision.Plan, &p.Recommendation, whyNow)
	m.book.Record(s.Now, p.Kind, p, s.Plan)
	m.moved.note(p.Moves, s.Now)
	m.out.Events = append(m.out.Events, journal.Event{At: s.Now, Kind: journal.EventPlan, Plan: s.Plan, Text: p.Reason})
}

// explain records why the plan moves VMs, and why now.
func explain(plan *ctxswitch.Plan, r *journal.Recommendation, whyNow string) {
	cause := &cluster.Cause{Kind: cluster.CauseSaving, Nodes: r.Off}
	if r.Kind == journal.RecommendBalance {
		cause = &cluster.Cause{Kind: cluster.CauseBalance, Text: whyNow}
		for _, m := range r.Moves {
			if !slices.Contains(cause.Nodes, m.From) {
				cause.Nodes = append(cause.Nodes, m.From)
			}
		}
	}
	plan.Gangs = slices.Clone(plan.Gangs)
	for i := range plan.Gangs {
		plan.Gangs[i].Cause = cause
	}
}
