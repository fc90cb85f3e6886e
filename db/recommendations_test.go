package db_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Open and rejected recommendations are loaded after a restart; closed ones are listed until they are pruned,
// and no number is given again.
func TestRecommendations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	d := openDB(t, path)
	at := time.Unix(1000, 0).UTC()
	all := []journal.Recommendation{
		{
			ID: 1, Kind: journal.RecommendBalance, At: at, Expires: at.Add(time.Hour), Reason: "n1 is full",
			Moves:  []cluster.Move{{VM: cluster.VMID{VJob: 3, Rank: 1}, From: "n1", To: "n2"}},
			Before: journal.Measure{Imbalance: 0.5}, After: journal.Measure{Imbalance: 0.25, Watts: 200}, State: journal.RecommendationPending,
			Prerequisites: []journal.Prerequisite{{VM: cluster.VMID{VJob: 3, Rank: 1}, Moves: []cluster.Move{{VM: cluster.VMID{VJob: 4}, From: "n2", To: "n1"}}, Leave: []cluster.VJobID{5}}, {Plan: 6}},
		},
		{ID: 2, Kind: journal.RecommendPower, At: at, Off: []cluster.NodeID{"n3"}, DependsOn: []journal.RecommendationID{1}, State: journal.RecommendationRejected, By: "root", Decided: at},
		{ID: 3, Kind: journal.RecommendBalance, At: at, State: journal.RecommendationApplied, Plan: 7},
	}
	commit := func(list ...journal.Recommendation) {
		t.Helper()
		if err := d.Commit(t.Context(), journal.Step{Recommendations: list}); err != nil {
			t.Fatal(err)
		}
	}
	listed := func(f journal.RecommendationFilter, want ...journal.Recommendation) {
		t.Helper()
		list, err := d.Recommendations(t.Context(), f)
		if diff := cmp.Diff(want, list); err != nil || diff != "" {
			t.Errorf("%+v: %v (-want +got):\n%s", f, err, diff)
		}
	}
	commit(all...)
	listed(journal.RecommendationFilter{}, all[2], all[1], all[0])
	listed(journal.RecommendationFilter{Kind: journal.RecommendBalance, Before: 3}, all[0])
	listed(journal.RecommendationFilter{State: journal.RecommendationApplied, Limit: 1}, all[2])
	if _, err := d.Recommendation(t.Context(), 4); err == nil {
		t.Error("recommendation 4 is found")
	}
	all[0].State = journal.RecommendationApproved
	commit(all[0])
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openDB(t, path)
	l, err := d.Load(t.Context())
	if diff := cmp.Diff(all[:2], l.Recommendations); err != nil || diff != "" || l.NextRecommendation != 4 {
		t.Errorf("loaded: %v, next %d (-want +got):\n%s", err, l.NextRecommendation, diff)
	}
	for p, err := range d.Prune(t.Context(), journal.Horizon{Plans: at.Add(time.Second)}) {
		if err != nil || p != (journal.Pruned{Recommendations: 2}) {
			t.Errorf("pruned %+v: %v", p, err)
		}
	}
	listed(journal.RecommendationFilter{}, all[0])
	if l, err = d.Load(t.Context()); err != nil || l.NextRecommendation != 4 {
		t.Errorf("next %d: %v", l.NextRecommendation, err)
	}
}
