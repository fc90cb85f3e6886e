package improve

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/decide"
	"vjob/scheduler/entitlement"
	"vjob/scheduler/recommendation"
)

// balancing is the memory of searches for moves that even out the load. A restart loses it, and then the next search
// is due at once.
type balancing struct {
	next     time.Time // when the next search is due
	last     BalanceStatus
	searches int
	nodes    map[cluster.NodeID]bool // that took VMs as of the last decision; nil before the first
	of       []cluster.Node          // as of then
	joined   []cluster.NodeID        // nodes that take VMs since the last search
}

// join notes the nodes that take VMs. If more do than before, the next search is due at once: the nodes may have been
// switched on to relieve others.
func (s *balancing) join(nodes []cluster.Node) {
	if len(nodes) > 0 && len(nodes) == len(s.of) && &nodes[0] == &s.of[0] {
		return
	}
	s.of = nodes
	taking := make(map[cluster.NodeID]bool, len(nodes))
	for i := range nodes {
		if n := &nodes[i]; n.Hosts() {
			taking[n.ID] = true
			if s.nodes != nil && !s.nodes[n.ID] && !slices.Contains(s.joined, n.ID) {
				s.joined = append(s.joined, n.ID)
			}
		}
	}
	s.nodes = taking
	if soon := s.last.At.Add(leastLook); len(s.joined) > 0 && soon.Before(s.next) {
		s.next = soon
	}
}

// BalanceStatus is the last search for moves that even out the load.
type BalanceStatus struct {
	Enabled   bool
	Placement Placement
	Next      time.Time
	At        time.Time // zero before the first search
	decide.Balancing
	PlanID   journal.PlanID // that carries the moves out; 0 if none does
	Moved    int            // VMs since the start, also after approvals
	Searches int            // since the start
}

// Search is a search for moves that even out the load, which is due with a decision: posed on its facts, carried out after it, and
// recorded by [Improver.Improve]. Nil is no search.
type Search struct {
	facts   *decide.Facts
	demand  *Demand
	moved   *moves
	joined  []cluster.NodeID
	request decide.BalanceRequest
	found   *decide.Balancing // nil unless the search was carried out
}

// Search returns the search that is due with a decision on some facts, nil if none is. division is what VMs were entitled to as of the
// decision before; nil if the cluster was not divided.
func (m *Improver) Search(facts *decide.Facts, division *entitlement.Division) *Search {
	ask, s := m.settings.Balance, &m.balancing
	if ask == nil {
		return nil
	}
	s.join(facts.Offered())
	if _, approved := m.approved(); approved || facts.Now.Before(s.next) {
		return nil
	}
	m.moved.forget(facts.Now)
	request := decide.BalanceRequest{
		Settings: ask.Settings, Fill: 1, Uses: m.demand.of, Left: m.moved.left, Split: !m.settings.Automation.Manual[journal.RecommendBalance],
	}
	if m.settings.Placement == Spread { // consolidation, which the others use, knows no network
		request.Traffic = m.demand.trafficOf
	} else {
		request.Goodness *= request.Threshold / tolerated // the least gain stays as it is
		request.Threshold, request.HotNodes = tolerated, true
		if m.parts.Power != nil {
			request.Fill = m.parts.Power.MostInUse()
		}
	}
	if division != nil {
		request.Entitled = func(vm cluster.VMID) (cluster.MilliCPU, bool) {
			e, known := division.VMs[vm]
			return e.Given.CPU, known
		}
	}
	return &Search{facts: facts, demand: m.demand, moved: &m.moved, joined: s.joined, request: request}
}

// Detach makes the search independent of the improver, so that it can be carried out beside it. The facts must be detached too.
func (s *Search) Detach() {
	if s == nil {
		return
	}
	facts, extremes := s.facts, s.demand.Extremes(s.facts.VJobs)
	s.request.Left = s.moved.clone().left
	s.request.Uses = func(vm cluster.VMID) (now, least, most cluster.MilliCPU) {
		least, most, known := extremes.Of(vm)
		return around(facts.Demand(vm), least, most, known)
	}
	if s.request.Traffic != nil {
		s.request.Traffic = s.demand.traffics(facts.VJobs)
	}
}

// After carries the search out after a decision, if that has nothing else to do.
func (s *Search) After(d *decide.Decision) {
	if s != nil && idle(d) {
		found := d.Balance(&s.request)
		s.found = &found
	}
}

// Plan returns the plan that carries out what was found; an empty one if nothing was, or if it needs approval.
func (s *Search) Plan() ctxswitch.Plan {
	if s == nil || s.found == nil || !s.request.Split {
		return ctxswitch.Plan{}
	}
	return s.found.Plan
}

// balance records a search for moves off crowded nodes. It reports whether a plan begins.
func (m *Improver) balance(step *Step) bool {
	ask, s, search := m.settings.Balance, &m.balancing, step.Search
	switch {
	case ask == nil:
		return false
	case search == nil || search.found == nil:
		m.parts.Retry(cluster.Later(s.next, step.Now))
		return false
	}
	request, found := &search.request, search.found
	s.joined = nil
	s.next = step.Now.Add(max(leastLook, ask.Every, lookShare*m.took))
	m.parts.Retry(s.next)
	s.searches++
	s.last = BalanceStatus{At: step.Now, Balancing: *found}
	s.last.Plan, s.last.Caps = ctxswitch.Plan{}, nil // the journal keeps the plan
	waiting, imbalance := found.Waiting, found.After.Total
	switch {
	case !request.Split && found.Plan.Empty():
		waiting = nil // they are not possible
	case !request.Split:
		waiting, imbalance = found.Moves, found.Before.Total
	}
	proposals := balanceProposals(waiting, imbalance)
	if request.Split && !found.Plan.Empty() { // they were found after its moves
		for i := range proposals {
			r := &proposals[i].Recommendation
			r.Prerequisites = append(r.Prerequisites, journal.Prerequisite{Plan: step.Plan})
		}
	}
	m.book.Propose(step.Now, journal.RecommendBalance, proposals)
	if found.Plan.Empty() || !request.Split {
		return false
	}
	whole := recommendation.Proposal{Recommendation: balanceRecommendation(found, found.List())}
	s.last.PlanID = step.Plan
	m.begin(step, found.Plan, found.Caps, whole, joinedText(search.joined, whole.Moves))
	s.next = step.Now.Add(leastLook) // the next moves follow as soon as these have ended
	return true
}

// tolerated is an imbalance that no cluster has: then only nodes over their capacity are relieved.
const tolerated = 10

// balanceProposals returns moves as proposals: those that gain only together as one. imbalance is that before them.
func balanceProposals(moves []decide.BalanceMove, imbalance float64) (list []recommendation.Proposal) {
	proposal := make([]int, len(moves)) // of each move
	sets := map[int]int{}
	for i := range moves {
		m := &moves[i]
		at, joins := sets[m.Set]
		if !joins || m.Set == 0 {
			at = len(list)
			list = append(list, recommendation.Proposal{})
			if m.Set != 0 {
				sets[m.Set] = at
			}
		}
		proposal[i] = at
		p := &list[at]
		p.Moves, p.Reason = append(p.Moves, m.Move), cmp.Or(p.Reason, m.Reason)
		p.Benefit, p.Cost = p.Benefit+m.Benefit.Seconds(), p.Cost+m.Cost.Seconds()
		var first []cluster.Move
		for _, other := range m.After {
			switch k := proposal[other]; {
			case k == at:
				first = append(first, moves[other].Move)
			case !slices.Contains(p.After, k):
				p.After = append(p.After, k)
			}
		}
		before(&p.Recommendation, m, first...)
	}
	for i := range moves {
		p := &list[proposal[i]]
		if p.Before.Imbalance == 0 {
			p.Before.Imbalance = imbalance
		}
		imbalance -= moves[i].Gain
		p.Recommendation.After.Imbalance = max(0, imbalance) // sums of gains are not exact
	}
	return list
}

// balanceRecommendation returns all moves of a search as one recommendation.
func balanceRecommendation(found *decide.Balancing, moves []cluster.Move) journal.Recommendation {
	r := journal.Recommendation{
		Kind: journal.RecommendBalance, Moves: moves, Reason: balanceText(found),
		Before: journal.Measure{Imbalance: found.Before.Total}, After: journal.Measure{Imbalance: found.After.Total},
	}
	for i := range found.Moves {
		r.Benefit, r.Cost = r.Benefit+found.Moves[i].Benefit.Seconds(), r.Cost+found.Moves[i].Cost.Seconds()
	}
	r.Prerequisites = prerequisites(&found.Plan, moves)
	return r
}

// balanceText returns "3 VMs leave crowded nodes: imbalance 0.42 to 0.08".
func balanceText(found *decide.Balancing) string {
	verb := "leave"
	if len(found.Moves) == 1 {
		verb = "leaves"
	}
	return fmt.Sprintf("%s %s crowded nodes: imbalance %.2f to %.2f", cluster.Count(len(found.Moves), "VM"), verb, found.Before.Total, found.After.Total)
}

// joinedText returns "n2 and n4 take VMs now" if moves lead to nodes that take VMs since the last search, otherwise "".
func joinedText(joined []cluster.NodeID, moves []cluster.Move) string {
	var names []string
	for _, id := range joined {
		if slices.ContainsFunc(moves, func(m cluster.Move) bool { return m.To == id }) {
			names = append(names, string(id))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " takes VMs now"
	default:
		return cluster.Enumerate(names, 0) + " take VMs now"
	}
}

// BalanceStatus returns the last search for moves off crowded nodes.
func (m *Improver) BalanceStatus() BalanceStatus {
	s := m.balancing.last
	s.Enabled, s.Placement, s.Next = m.settings.Balance != nil, m.settings.Placement, m.balancing.next
	s.Searches, s.Moved = m.balancing.searches, m.book.Status().Totals[journal.RecommendBalance].Moves
	return s
}

// RecommendationStatus is what waits for approval, and what may.
type RecommendationStatus struct {
	recommendation.Status
	Manual  map[journal.RecommendationKind]bool // the kinds of changes that wait for approval
	Manages bool                                // power management may switch nodes
}

// RecommendationStatus returns what waits for approval, and what may.
func (m *Improver) RecommendationStatus() RecommendationStatus {
	return RecommendationStatus{Status: m.book.Status(), Manual: m.settings.Automation.Manual, Manages: m.parts.Power != nil}
}
