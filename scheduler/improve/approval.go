package improve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/decide"
	"vjob/scheduler/recommendation"
)

// Starts and drains that wait for approval are barred from decisions; what would happen otherwise is a second
// decision, which becomes recommendations.

// Approvals returns which starts and drains are approved.
func (m *Improver) Approvals() (a decide.Approvals) {
	starts, drains := m.settings.Automation.Manual[journal.RecommendStart], m.settings.Automation.Manual[journal.RecommendDrain]
	if !starts && !drains {
		return a
	}
	if starts {
		a.Starts, a.Pending = map[cluster.VJobID][]cluster.Move{}, map[cluster.VJobID]string{}
	}
	if drains {
		a.Drains = map[cluster.NodeID]bool{}
	}
	for _, r := range m.book.List() {
		approved := r.State == journal.RecommendationApproved
		switch {
		case r.Kind == journal.RecommendStart && starts && approved:
			a.Starts[r.VJob] = r.Moves
		case r.Kind == journal.RecommendStart && starts && r.Open():
			a.Pending[r.VJob] = fmt.Sprintf("recommendation %d", r.ID)
		case r.Kind == journal.RecommendDrain && drains && approved:
			a.Drains[r.Node] = true
		}
	}
	return a
}

// Recommend proposes the starts and drains that wait for approval, and closes what has come about.
func (m *Improver) Recommend(now time.Time) {
	approved := m.Approvals()
	if approved.Starts == nil && approved.Drains == nil {
		return
	}
	m.settleApproved(now)
	free, err := m.parts.View(now, decide.Approvals{}).Decide()
	if err != nil || free.Verdicts == nil {
		return
	}
	var starts, drains []recommendation.Proposal
	for _, s := range free.Starts() {
		if approved.Starts != nil && approved.Starts[s.Job.ID] == nil {
			starts = append(starts, startProposal(&s))
		}
	}
	for _, e := range free.Evacuations() {
		if approved.Drains != nil && !approved.Drains[e.Node] {
			drains = append(drains, drainProposal(&e, &free.Plan))
		}
	}
	if approved.Starts != nil {
		m.book.Propose(now, journal.RecommendStart, starts)
	}
	if approved.Drains != nil {
		m.book.Propose(now, journal.RecommendDrain, drains)
	}
}

func startProposal(s *decide.Start) recommendation.Proposal {
	r := journal.Recommendation{Kind: journal.RecommendStart, VJob: s.Job.ID, Moves: s.Moves, Reason: s.Reason}
	if len(s.Before) > 0 || len(s.Leave) > 0 {
		r.Prerequisites = []journal.Prerequisite{{VJob: s.Job.ID, Moves: s.Before, Leave: s.Leave}}
	}
	return recommendation.Proposal{Recommendation: r}
}

func drainProposal(e *decide.Evacuation, plan *ctxswitch.Plan) recommendation.Proposal {
	return recommendation.Proposal{Recommendation: journal.Recommendation{
		Kind: journal.RecommendDrain, Node: e.Node, Moves: e.Moves, Reason: fmt.Sprintf("%s; it takes %s", e.Reason, e.Takes.Round(time.Second)),
		Prerequisites: prerequisites(plan, e.Moves),
	}}
}

// settleApproved closes the approved starts of vjobs that have begun or ended, and the approved drains of nodes
// that are empty or not drained any more.
func (m *Improver) settleApproved(now time.Time) {
	for _, r := range m.book.List() {
		if r.State != journal.RecommendationApproved {
			continue
		}
		switch r.Kind {
		case journal.RecommendStart:
			job, known := m.parts.Cluster.Job(r.VJob)
			if !known || job.Job.State != cluster.Waiting {
				m.book.Applied(now, r.ID, 0)
			}
		case journal.RecommendDrain:
			n, known := m.parts.Cluster.Node(r.Node)
			switch {
			case !known || n.State != cluster.Draining:
				m.book.Refuse(now, r.ID, fmt.Sprintf("node %s is not drained any more", r.Node))
			case len(n.VMs) == 0:
				m.book.Applied(now, r.ID, 0)
			}
		case journal.RecommendBalance, journal.RecommendConsolidate, journal.RecommendPower: // see improve
		}
	}
}

// RefuseUnstarted refuses the approved starts that a decision does not carry out.
func (m *Improver) RefuseUnstarted(now time.Time, d *decide.Decision) {
	starts := d.Starts()
	for _, r := range m.book.List() {
		if r.Kind != journal.RecommendStart || r.State != journal.RecommendationApproved {
			continue
		}
		at := slices.IndexFunc(d.VJobs, func(x execute.Report) bool { return x.Job.ID == r.VJob })
		begins := slices.ContainsFunc(starts, func(s decide.Start) bool { return s.Job.ID == r.VJob })
		if at >= 0 && d.VJobs[at].Job.State == cluster.Waiting && d.VJobs[at].Idle && !begins {
			m.book.Refuse(now, r.ID, cmp.Or(d.Why, d.Verdicts[at].Reason))
		}
	}
}

// outdated returns what differs between an approved recommendation and what would happen now; "" if nothing does.
func (m *Improver) outdated(now time.Time, r *journal.Recommendation) string {
	d, err := m.view(now).Decide() // it is approved already
	if err != nil {
		return err.Error()
	}
	var then []cluster.Move
	switch r.Kind {
	case journal.RecommendStart:
		starts := d.Starts()
		at := slices.IndexFunc(starts, func(s decide.Start) bool { return s.Job.ID == r.VJob })
		if at < 0 {
			return fmt.Sprintf("vjob %s would not start now", r.VJob)
		}
		then = starts[at].Moves
	case journal.RecommendDrain:
		list := d.Evacuations()
		at := slices.IndexFunc(list, func(e decide.Evacuation) bool { return e.Node == r.Node })
		if at < 0 {
			return fmt.Sprintf("node %s would not be emptied now", r.Node)
		}
		then = list[at].Moves
	default:
		if idle(&d) { // otherwise it is checked again when its turn comes
			_, _, why := d.Relocate(r.Moves)
			return why
		}
		return ""
	}
	return differences(r.Moves, then)
}

// differences returns how moves differ from those that were proposed.
func differences(proposed, then []cluster.Move) string {
	var list []string
	for _, m := range then {
		if !slices.Contains(proposed, m) {
			list = append(list, m.String())
		}
	}
	for _, m := range proposed {
		same := func(o cluster.Move) bool { return o.VM == m.VM }
		if !slices.ContainsFunc(then, same) {
			list = append(list, fmt.Sprintf("%s not at all", m.VM))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "now it would move " + strings.Join(list, ", ")
}
