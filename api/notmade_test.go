package api_test

import (
	"net/http"
	"strings"
	"testing"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/decide"
	"vjob/scheduler/recommendation"
)

// Without recommendations the answer says why, for each kind that waits for approval, and which are automatic.
func TestNotMade(t *testing.T) {
	kinds := journal.RecommendationKinds
	manual := func(list ...journal.RecommendationKind) func(*scheduler.Snapshot) {
		return func(s *scheduler.Snapshot) {
			s.Recommendations.Manual = map[journal.RecommendationKind]bool{}
			for _, k := range list {
				s.Recommendations.Manual[k] = true
			}
		}
	}
	rejected := map[journal.RecommendationKind]map[journal.RecommendationState]int{
		journal.RecommendBalance: {journal.RecommendationRejected: 1}, journal.RecommendConsolidate: {journal.RecommendationRejected: 1},
	}
	for _, c := range []struct {
		name, query string
		change      []func(*scheduler.Snapshot)
		want        []string // what the reasons contain, in order
	}{
		{"automatic", "", nil, []string{"start balance consolidate drain power: automatic: changes begin without approval"}},
		{"off", "", []func(*scheduler.Snapshot){manual(kinds...)}, []string{
			"start: no waiting vjob could start now", "balance: balance is off", "consolidate: consolidation is off", "drain: no drained node has VMs", "power: power management is off",
		}},
		{"one kind", "&kind=balance", []func(*scheduler.Snapshot){manual(kinds...)}, []string{"balance: balance is off"}},
		{"not yet", "&kind=balance", []func(*scheduler.Snapshot){manual(kinds...), func(s *scheduler.Snapshot) { s.Balance.Enabled = true }}, []string{"balance: no search has been made"}},
		{"balanced", "&kind=balance", []func(*scheduler.Snapshot){manual(kinds...), func(s *scheduler.Snapshot) {
			s.Balance.Enabled, s.Balance.At, s.Balance.Why = true, epoch, "the imbalance is 0.020, which is tolerated"
		}}, []string{"balance: the imbalance is 0.020, which is tolerated"}},
		{"held back", "&kind=balance", []func(*scheduler.Snapshot){manual(kinds...), func(s *scheduler.Snapshot) {
			s.Balance.Enabled, s.Balance.At, s.Balance.Why = true, epoch, "no move helps"
			s.Balance.Held = []decide.HeldNode{{Node: "n1", Why: "2 fixed: held by its owner (never) (3.0)"}, {Node: "n2"}}
		}}, []string{"balance: no move helps; n1 is held back: 2 fixed: held by its owner (never) (3.0); and 1 more"}},
		{"rejected", "", []func(*scheduler.Snapshot){manual(journal.RecommendBalance, journal.RecommendConsolidate), func(s *scheduler.Snapshot) {
			s.Balance.Enabled, s.Balance.At, s.Balance.Moves = true, epoch, make([]decide.BalanceMove, 1)
			s.Consolidation.Enabled, s.Consolidation.Last.At, s.Consolidation.Last.Moves = true, epoch, make([]cluster.Move, 1)
			s.Recommendations.States = rejected
		}}, []string{"balance: what the last search found was rejected lately", "consolidate: what the last search found was rejected lately", "start drain power: automatic"}},
		{"a manual vjob", "", []func(*scheduler.Snapshot){func(s *scheduler.Snapshot) {
			s.ManualVJobs, s.Consolidation.Enabled, s.Consolidation.Last.At, s.Consolidation.Last.Why = 1, true, epoch, "less than 5 W would be saved"
		}}, []string{"balance: balance is off", "consolidate: less than 5 W would be saved", "start drain power: automatic"}},
		{"drained", "&kind=drain", []func(*scheduler.Snapshot){manual(kinds...), func(s *scheduler.Snapshot) {
			s.Nodes[0].State, s.Nodes[0].VMs, s.Nodes[0].Problem = cluster.Draining, []cluster.VMID{{VJob: 1}}, "rules keep vjob 1 there"
		}}, []string{"drain: no VM could leave the drained nodes now: n1: rules keep vjob 1 there"}},
	} {
		b := newFixture(t)
		for _, change := range c.change {
			change(b.scheduler.snap)
		}
		list := read[wire.RecommendationList](t, b.as("root", "GET", "/v1/recommendations?state=pending"+c.query, ""), http.StatusOK)
		if len(list.NotMade) != len(c.want) {
			t.Errorf("%s: %+v, want %d", c.name, list.NotMade, len(c.want))
			continue
		}
		for i, n := range list.NotMade {
			if got := strings.Join(n.Kinds, " ") + ": " + n.Why; !strings.HasPrefix(got, c.want[i]) || !strings.HasPrefix(n.See, "vjob ") {
				t.Errorf("%s: %q (see %s), want %q", c.name, got, n.See, c.want[i])
			}
		}
	}
	b := newFixture(t)
	b.populate()
	for _, query := range []string{"?state=pending", "?state=applied", ""} {
		if list := read[wire.RecommendationList](t, b.as("root", "GET", "/v1/recommendations"+query, ""), http.StatusOK); list.NotMade != nil {
			t.Errorf("%q: %+v", query, list.NotMade)
		}
	}
}

// The figures count recommendations by kind; kinds without any have 0.
func TestRecommendationMetrics(t *testing.T) {
	b := newFixture(t)
	b.scheduler.snap.Recommendations.States = map[journal.RecommendationKind]map[journal.RecommendationState]int{
		journal.RecommendBalance: {journal.RecommendationPending: 2, journal.RecommendationRejected: 9},
	}
	b.scheduler.snap.Recommendations.Totals = map[journal.RecommendationKind]recommendation.Total{
		journal.RecommendBalance: {Made: 7, Automatic: 3, Approved: 2, Rejected: 1, Applied: 1, Refused: 1, Superseded: 4, Expired: 5, Moves: 11},
	}
	b.scheduler.snap.Balance.Searches, b.scheduler.snap.Balance.At, b.scheduler.snap.Balance.Before.Total, b.scheduler.snap.Balance.After.Total = 12, epoch, 0.5, 0.125
	text := b.as("root", "GET", "/metrics", "").Body.String()
	for _, line := range []string{
		`vjob_recommendations_open{kind="balance",state="pending"} 2`, `vjob_recommendations_open{kind="balance",state="approved"} 0`, `vjob_recommendations_open{kind="drain",state="pending"} 0`,
		`vjob_recommendations_total{event="made",kind="balance"} 7`, `vjob_recommendations_total{event="automatic",kind="balance"} 3`, `vjob_recommendations_total{event="approved",kind="balance"} 2`,
		`vjob_recommendations_total{event="rejected",kind="balance"} 1`, `vjob_recommendations_total{event="applied",kind="balance"} 1`, `vjob_recommendations_total{event="refused",kind="balance"} 1`,
		`vjob_recommendations_total{event="superseded",kind="balance"} 4`, `vjob_recommendations_total{event="expired",kind="balance"} 5`, `vjob_recommendations_total{event="made",kind="power"} 0`,
		`vjob_recommendation_moves_total{kind="balance"} 11`, `vjob_balance_searches_total 12`, `vjob_imbalance{of="before"} 0.5`, `vjob_imbalance{of="after"} 0.125`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}
