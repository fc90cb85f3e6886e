package improve

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
	"vjob/scheduler/recommendation"
)

// Approve approves a recommendation; its changes begin with the next decision. It fails with ErrNotFound, or
// with ErrConflict and what has changed since it was made; then the recommendation is refused.
func (m *Improver) Approve(now time.Time, id journal.RecommendationID, by string) error {
	if err := m.book.Approve(now, id, by); err != nil {
		return err
	}
	r, _ := m.book.Find(id) // it was just approved
	refuse := func(why string) error {
		m.book.Refuse(now, id, why)
		return fmt.Errorf("recommendation %d: the cluster has changed: %s: %w", id, why, cluster.ErrConflict)
	}
	if r.Kind == journal.RecommendPower {
		if why := m.switchApproved(now, &r); why != "" {
			return refuse(why)
		}
		m.book.Applied(now, id, 0)
		return nil
	}
	if why := m.outdated(now, &r); why != "" {
		return refuse(why)
	}
	m.parts.Retry(now)
	return nil
}

// switchApproved switches the nodes of an approved recommendation, all or none. It returns why none can be.
func (m *Improver) switchApproved(now time.Time, r *journal.Recommendation) string {
	if m.parts.Power == nil {
		return "power management is off"
	}
	for _, list := range []struct {
		nodes []cluster.NodeID
		want  cycle.Want
	}{{r.On, cycle.WantOn}, {r.Off, cycle.WantOff}} {
		if why := m.parts.Power.Objection(m.vary(now), list.nodes, list.want); why != "" {
			return why
		}
	}
	for _, id := range r.On {
		m.parts.Switch(now, id, cycle.WantOn, r.Reason)
	}
	for _, id := range r.Off {
		m.parts.Switch(now, id, cycle.WantOff, r.Reason)
	}
	return ""
}

// Reject rejects a recommendation: it is not made again for a while. It fails with ErrNotFound or ErrConflict.
func (m *Improver) Reject(now time.Time, id journal.RecommendationID, by, why string) error {
	return m.book.Reject(now, id, by, why)
}

// RecommendSwitches asks for approval to switch nodes, and closes what has become superfluous.
func (m *Improver) RecommendSwitches(now time.Time, proposed []recommendation.Proposal) {
	m.book.Add(now, journal.RecommendPower, proposed)
	m.book.Supersede(now, "the node shall be so already", func(r *journal.Recommendation) bool {
		done := func(want cycle.Want) func(cluster.NodeID) bool {
			return func(id cluster.NodeID) bool { return m.parts.Power.Wanted(id, want) }
		}
		return r.Kind == journal.RecommendPower && (slices.ContainsFunc(r.On, done(cycle.WantOn)) || slices.ContainsFunc(r.Off, done(cycle.WantOff)))
	})
}

// view returns what a decision would see.
func (m *Improver) view(now time.Time) *decide.View { return m.parts.View(now, m.Approvals()) }

// vary returns a function that returns a variant of what a decision would see.
func (m *Improver) vary(now time.Time) func() *decide.Variant {
	return func() *decide.Variant { return m.view(now).Vary() }
}
