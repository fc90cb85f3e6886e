package ctxswitch_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/duration"
)

// learnedCosts are those of the thesis, except that actions take three times as long on n1.
func learnedCosts() ctxswitch.Costs {
	costs := ctxswitch.ThesisCosts
	l := duration.NewLearner(costs.Priors(), nil)
	for _, a := range []struct {
		kind     cluster.ActionKind
		from, to cluster.NodeID
	}{
		{cluster.Boot, "", "n1"},
		{cluster.Stop, "n1", ""},
		{cluster.Suspend, "n1", ""},
		{cluster.Resume, "n1", "n1"},
		{cluster.Resume, "n2", "n1"},
		{cluster.Migrate, "n1", "n2"},
		{cluster.Migrate, "n1", "n3"},
		{cluster.Migrate, "n4", "n1"},
	} {
		for i := range 8 {
			if a.kind == cluster.Migrate && i > 1 {
				break
			}
			took := 3 * costs.Duration(a.kind, cluster.GiB, a.from, a.to)
			l.Learn(&duration.Taken{Action: a.kind, From: a.from, To: a.to, Memory: cluster.GiB, Took: took})
		}
	}
	costs.Learned = l.Estimates()
	return costs
}

// Actions last longer on a node that was learned to be slow, and plans and their check agree.
func TestPlansHaveTheDurationsOfTheirNodes(t *testing.T) {
	slow, known := learnedCosts(), ctxswitch.ThesisCosts
	for _, c := range []struct {
		kind     cluster.ActionKind
		from, to cluster.NodeID
		times    float64
	}{
		{cluster.Boot, "", "n1", 3},
		{cluster.Boot, "", "n2", 1},
		{cluster.Boot, "", "", 1},
		{cluster.Stop, "n1", "", 3},
		{cluster.Stop, "n2", "", 1},
		{cluster.Suspend, "n1", "", 3},
		{cluster.Suspend, "n2", "", 1},
		{cluster.Resume, "n1", "n1", 3},
		{cluster.Resume, "n2", "n2", 1},
		{cluster.Resume, "n1", "n2", 1},
		{cluster.Resume, "n2", "n1", 3}, // the node that reads counts
		{cluster.Migrate, "n1", "n2", 3},
		{cluster.Migrate, "n2", "n1", 3},
		{cluster.Migrate, "n2", "n3", 1},
		{cluster.Migrate, "n1", "", 3},
		{cluster.Pause, "n1", "n1", 0},
	} {
		got, want := slow.Duration(c.kind, cluster.GiB, c.from, c.to), c.times*float64(known.Duration(c.kind, cluster.GiB, c.from, c.to))
		if float64(got) < 0.95*want || float64(got) > 1.05*want {
			t.Errorf("%s from %q to %q: %s, want about %s", c.kind, c.from, c.to, got, time.Duration(want))
		}
	}
	p := figure84().Problem
	before, err := ctxswitch.Repacker{}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Costs = learnedCosts()
	after, err := ctxswitch.Repacker{}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if faults := ctxswitch.Check(p, after); len(faults) > 0 {
		t.Errorf("%s", strings.Join(faults, "\n"))
	}
	if after.Makespan <= before.Makespan {
		t.Errorf("with a slow node the plan takes %s, without %s", after.Makespan, before.Makespan)
	}
	other := p
	other.Costs = ctxswitch.ThesisCosts
	if faults := ctxswitch.Check(other, after); len(faults) == 0 {
		t.Error("the check does not see that durations are those of other costs")
	}
}
