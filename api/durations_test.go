package api_test

import (
	"strings"
	"testing"
	"time"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/duration"
)

// One node is shown with its estimates; another name is not found.
func TestANodeShowsItsDurations(t *testing.T) {
	b := newFixture(t)
	l := duration.NewLearner(duration.Priors{duration.Boot: {Constant: 6 * time.Second}}, nil)
	for range 4 {
		l.Learn(&duration.Taken{Action: cluster.Boot, To: "n1", Memory: cluster.GiB, Took: 9 * time.Second})
	}
	b.scheduler.snap.Durations = l.Estimates()
	for _, user := range []string{"alice", "root"} {
		n := read[wire.NodeDetail](t, b.as(user, "GET", "/v1/nodes/n1", ""), 200)
		if n.Name != "n1" || len(n.Durations) != int(duration.Kinds) {
			t.Fatalf("%s reads %+v", user, n)
		}
		boot := n.Durations[0]
		if boot.Kind != "boot" || boot.Source != "node" || boot.Observations != 4 || boot.ConstantSeconds < 8.5 || boot.ConstantSeconds > 9.5 {
			t.Errorf("%s reads %+v", user, boot)
		}
		if rest := n.Durations[1]; rest.Source != "settings" {
			t.Errorf("%s reads %+v", user, rest)
		}
	}
	read[wire.Error](t, b.as("alice", "GET", "/v1/nodes/n9", ""), 404)
}

// The plan of populate took 7 s and was estimated to take 6 s.
func TestPlansHaveTheirRatio(t *testing.T) {
	b := newFixture(t, func(c *api.Config) { c.Now = func() time.Time { return epoch } })
	b.populate()
	if p := read[wire.PlanList](t, b.as("root", "GET", "/v1/plans", ""), 200).Plans[0]; p.Ratio < 1.16 || p.Ratio > 1.17 {
		t.Errorf("listed: %+v", p)
	}
	if p := read[wire.Plan](t, b.as("root", "GET", "/v1/plans/1", ""), 200); p.Ratio < 1.16 || p.Ratio > 1.17 || p.TookSeconds != 7 {
		t.Errorf("shown: %+v", p)
	}
	text := b.as("root", "GET", "/metrics", "").Body.String()
	for _, want := range []string{`vjob_plan_duration_ratio_bucket{le="1.1"} 0`, `vjob_plan_duration_ratio_bucket{le="1.2"} 1`, "vjob_plan_duration_ratio_count 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}
