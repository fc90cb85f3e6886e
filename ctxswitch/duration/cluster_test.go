package duration_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
)

// Two nodes that are alike say what to expect of a third; one does not.
func TestMedianOfTheCluster(t *testing.T) {
	l := duration.NewLearner(priors, nil)
	boot := func(node cluster.NodeID) {
		for range 5 {
			l.Learn(&duration.Taken{Action: cluster.Boot, To: node, Memory: cluster.GiB, Took: 30 * time.Second})
		}
	}
	boot("n1")
	if got := estimate(l, cluster.Boot, cluster.GiB, "", "n9"); got != 6*time.Second {
		t.Errorf("after one slow node: %s, want the 6s of the prior", got)
	}
	boot("n2")
	for _, node := range []cluster.NodeID{"n9", ""} {
		if got := estimate(l, cluster.Boot, cluster.GiB, "", node); ratio(got, 30*time.Second) < 0.95 || ratio(got, 30*time.Second) > 1.05 {
			t.Errorf("after two slow nodes: %s on %q, want about 30s", got, node)
		}
	}
}

// A migration is learned for the end that makes it slow, also if all migrations of a drain have
// that end. Others keep their estimates.
func TestMigrationsCountForTheSlowerEnd(t *testing.T) {
	nodes := []cluster.NodeID{"n1", "n2", "n3", "n4", "n5"}
	const slow = 3.0
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 18))
		l := duration.NewLearner(priors, nil)
		migrate := func(from, to cluster.NodeID) {
			took := 24 * float64(time.Second) * math.Exp(0.05*rng.NormFloat64())
			if from == "n1" || to == "n1" {
				took *= slow
			}
			l.Learn(&duration.Taken{Action: cluster.Migrate, From: from, To: to, Memory: 2 * cluster.GiB, Took: time.Duration(took)})
		}
		for i := range 40 { // a drain of the slow node
			migrate("n1", nodes[1+i%4])
		}
		check := func(when string) {
			for _, from := range nodes {
				for _, to := range nodes {
					want := 24 * time.Second
					if from == "n1" || to == "n1" {
						want *= slow
					}
					if r := ratio(estimate(l, cluster.Migrate, 2*cluster.GiB, from, to), want); from != to && (r < 0.8 || r > 1.2) {
						t.Errorf("seed %d, %s: from %s to %s the estimate is %.2f times the truth", seed, when, from, to, r)
					}
				}
			}
		}
		check("after the drain")
		for range 200 {
			from, to := rng.IntN(5), rng.IntN(4)
			if to >= from {
				to++
			}
			migrate(nodes[from], nodes[to])
		}
		check("after more")
	}
}

// The kinds have names that can be read back.
func TestNamesOfKinds(t *testing.T) {
	for kind := range duration.Kinds {
		text, _ := kind.MarshalText()
		var back duration.Kind
		if err := back.UnmarshalText(text); err != nil || back != kind {
			t.Errorf("%s is read as %v, %v", text, back, err)
		}
	}
	if err := new(duration.Kind).UnmarshalText([]byte("pause")); err == nil {
		t.Error("pause is read as a kind")
	}
}

// What counts is shown with where it comes from.
func TestSources(t *testing.T) {
	l := duration.NewLearner(priors, nil)
	source := func(node cluster.NodeID) duration.NodeEstimate { return l.Estimates().Node(node)[duration.Suspend] }
	if got := source("n1"); got.Source != duration.FromSettings || got.Observations != 0 {
		t.Errorf("nothing was learned: %+v", got)
	}
	for i := range 3 {
		for _, node := range []cluster.NodeID{"n1", "n2"} {
			l.Learn(&duration.Taken{Action: cluster.Suspend, From: node, Memory: cluster.GiB, Took: time.Duration(9+i) * time.Second})
		}
	}
	if got := source("n1"); got.Source != duration.FromNode || got.Observations != 3 || got.Spread < 0.05 || got.Spread > 0.2 {
		t.Errorf("a node with observations: %+v", got)
	}
	if got := source("n3"); got.Source != duration.FromCluster || got.Line.Of(cluster.GiB) > 12*time.Second {
		t.Errorf("a node without observations: %+v", got)
	}
}
