package ctxswitch_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
)

func TestDuration(t *testing.T) {
	noFactor := ctxswitch.ThesisCosts
	noFactor.RemoteFactor = 0
	for _, c := range []struct {
		name   string
		costs  ctxswitch.Costs
		kind   cluster.ActionKind
		memory cluster.MiB
		remote bool
		want   time.Duration
	}{
		{"thesis boot", ctxswitch.ThesisCosts, cluster.Boot, 2048, false, 6 * time.Second},
		{"thesis stop", ctxswitch.ThesisCosts, cluster.Stop, 2048, false, 25 * time.Second},
		{"thesis migrate", ctxswitch.ThesisCosts, cluster.Migrate, 512, true, 6 * time.Second},
		{"thesis suspend", ctxswitch.ThesisCosts, cluster.Suspend, 2048, false, 100 * time.Second},
		{"thesis local resume", ctxswitch.ThesisCosts, cluster.Resume, 2048, false, 90 * time.Second},
		{"thesis remote resume", ctxswitch.ThesisCosts, cluster.Resume, 2048, true, 270 * time.Second},
		{"a factor that is not set", noFactor, cluster.Resume, 1024, true, 45 * time.Second},
		{"paper launch", ctxswitch.RepackingCosts, cluster.Boot, 4096, false, time.Second},
		{"paper stop", ctxswitch.RepackingCosts, cluster.Stop, 4096, false, 2 * time.Second},
		{"paper suspend", ctxswitch.RepackingCosts, cluster.Suspend, 4096, false, 4 * time.Second},
		{"paper local resume", ctxswitch.RepackingCosts, cluster.Resume, 4096, false, 5 * time.Second},
		{"paper remote resume", ctxswitch.RepackingCosts, cluster.Resume, 4096, true, 6 * time.Second},
		{"paper migrate", ctxswitch.RepackingCosts, cluster.Migrate, 4096, true, 4 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := cluster.NodeID("n1")
			if c.remote {
				to = "n2"
			}
			if got := c.costs.Duration(c.kind, c.memory, "n1", to); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Figure 8.4 has four steps: {suspend 5, resume 4}, migrate 2, migrate 1, migrate 2.
// K is the sum over the actions of their own cost and that of the steps before.
func TestCostOfFigure84(t *testing.T) {
	plan, err := ctxswitch.Repacker{}.Plan(figure84().Problem)
	if err != nil {
		t.Fatal(err)
	}
	const s1, s2, s3, s4 = 2048, 2560, 2048, 2560
	want := int64(2048 + 1024 + (s1 + s2) + (s1 + s2 + s3) + (s1 + s2 + s3 + s4))
	if plan.Cost != want {
		t.Errorf("K is %d, want %d\n%s", plan.Cost, want, plan)
	}
}
