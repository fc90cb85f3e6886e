package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/energy/budget"
	"vjob/scheduler"
	"vjob/scheduler/decide"
	"vjob/scheduler/powercap"
)

// Users see the limits, and which vjobs of theirs stop or wait for power; administrators see all.
func TestUsersSeeBudgets(t *testing.T) {
	b := newFixture(t)
	power := &cluster.Cause{Kind: cluster.CausePower, Text: "the budget of 300 W leaves 20 W"}
	maps.Copy(b.scheduler.statuses(), scheduler.Statuses{
		3: {Owner: "alice", State: cluster.Running}, 4: {Owner: "bob", State: cluster.Running},
		5: {Owner: "alice", State: cluster.Suspended, Cause: power}, 6: {Owner: "bob", State: cluster.Suspended, Cause: power},
	})
	b.scheduler.snap.Budgets = powercap.Budgets{
		By: "carol", At: time.Unix(1, 0), Limits: []powercap.Limit{{Limit: budget.Limit{Watts: 300}, Now: 280}},
		Changes: []decide.LimitChange{{At: time.Unix(9, 0), Stops: []cluster.VJobID{3, 4}}},
	}
	for user, want := range map[string][2][]int64{"alice": {{3}, {5}}, "bob": {{4}, {6}}, "root": {{3, 4}, {5, 6}}} {
		res := b.as(user, "GET", "/v1/budgets", "")
		if hides := !strings.Contains(res.Body.String(), "carol"); hides != (user != "root") {
			t.Errorf("%s reads %s", user, res.Body)
		}
		got := read[wire.Budgets](t, res, http.StatusOK)
		if len(got.Limits) != 1 || got.Limits[0].Watts != 300 || len(got.Changes) != 1 || !slices.Equal(got.Changes[0].Stops, want[0]) || !slices.Equal(got.Waits, want[1]) {
			t.Errorf("%s reads %+v, want %v", user, got, want)
		}
	}
}
