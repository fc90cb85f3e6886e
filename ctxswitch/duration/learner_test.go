package duration_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/duration"
)

// priors are those of the thesis.
var priors = duration.Priors{
	duration.Boot: {Constant: 6 * time.Second}, duration.Stop: {Constant: 25 * time.Second},
	duration.Suspend: {PerGiB: 50 * time.Second}, duration.Resume: {PerGiB: 45 * time.Second},
	duration.ResumeRemote: {PerGiB: 135 * time.Second}, duration.Migrate: {PerGiB: 12 * time.Second},
}

// suspends are observations of suspends on node n1.
func suspends(l *duration.Learner, memory cluster.MiB, took ...time.Duration) {
	for _, d := range took {
		l.Learn(&duration.Taken{Action: cluster.Suspend, From: "n1", Memory: memory, Took: d})
	}
}

func estimate(l *duration.Learner, action cluster.ActionKind, memory cluster.MiB, from, to cluster.NodeID) time.Duration {
	d, ok := l.Estimates().Duration(action, memory, from, to)
	if !ok {
		panic("not learned: " + action.String())
	}
	return d
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func TestPriorHoldsWithoutObservations(t *testing.T) {
	l := duration.NewLearner(priors, nil)
	for _, c := range []struct {
		action   cluster.ActionKind
		from, to cluster.NodeID
		want     time.Duration
	}{
		{cluster.Boot, "", "n1", 6 * time.Second},
		{cluster.Stop, "n1", "", 25 * time.Second},
		{cluster.Suspend, "n1", "", 100 * time.Second},
		{cluster.Resume, "n1", "n1", 90 * time.Second},
		{cluster.Resume, "", "n1", 90 * time.Second},
		{cluster.Resume, "n1", "n2", 270 * time.Second},
		{cluster.Resume, "n1", "", 270 * time.Second},
		{cluster.Migrate, "n1", "n2", 24 * time.Second},
	} {
		if got := estimate(l, c.action, 2*cluster.GiB, c.from, c.to); got != c.want {
			t.Errorf("%s from %q to %q: %s, want %s", c.action, c.from, c.to, got, c.want)
		}
	}
	if _, ok := l.Estimates().Duration(cluster.Pause, cluster.GiB, "n1", "n1"); ok {
		t.Error("a pause is learned")
	}
	if learned := l.Learn(&duration.Taken{Action: cluster.Unpause, From: "n1", To: "n1", Took: time.Second}); learned != nil {
		t.Errorf("an unpause is learned: %v", learned)
	}
}

// A line that differs from the prior in both parts is found within 20 % after 20 observations with
// noise of 10 % (standard deviation), of which a tenth are outliers of up to 100 times.
func TestConvergesDespiteOutliers(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 14))
		l := duration.NewLearner(priors, nil)
		truth := duration.Line{
			Constant: time.Duration(rng.Float64() * 10 * float64(time.Second)),
			PerGiB:   time.Duration((1 + rng.Float64()*200) * float64(time.Second)),
		}
		outliers := map[int]bool{rng.IntN(20): true, rng.IntN(20): true}
		for i := range 20 {
			memory := cluster.GiB << rng.IntN(4)
			took := float64(truth.Of(memory)) * math.Exp(0.1*rng.NormFloat64())
			if outliers[i] {
				took *= math.Pow(100, 2*rng.Float64()-1)
			}
			suspends(l, memory, time.Duration(took))
		}
		for _, memory := range []cluster.MiB{cluster.GiB, 2 * cluster.GiB, 4 * cluster.GiB, 8 * cluster.GiB} {
			got, want := estimate(l, cluster.Suspend, memory, "n1", ""), truth.Of(memory)
			if r := ratio(got, want); r < 0.8 || r > 1.2 {
				t.Errorf("seed %d: %s of memory: %s, the truth is %s (%v)", seed, memory, got, want, truth)
			}
		}
	}
}

// One outlier of 100 times changes an estimate by less than 3 %.
func TestOneOutlierChangesLittle(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 10, 20, 40} {
		for seed := range uint64(50) {
			rng := rand.New(rand.NewPCG(seed, 15))
			l := duration.NewLearner(priors, nil)
			for range n {
				memory := cluster.GiB << rng.IntN(4)
				suspends(l, memory, time.Duration(float64(priors[duration.Suspend].Of(memory))*(1+0.02*rng.NormFloat64())))
			}
			before := estimate(l, cluster.Suspend, 2*cluster.GiB, "n1", "")
			suspends(l, 2*cluster.GiB, 100*before)
			if r := ratio(estimate(l, cluster.Suspend, 2*cluster.GiB, "n1", ""), before); r < 0.97 || r > 1.03 {
				t.Errorf("seed %d: after %d observations an outlier changes the estimate by the factor %.3f", seed, n, r)
			}
		}
	}
}

// All VMs have one size: other sizes are estimated by the shape of the prior.
func TestOneSizeOfVMs(t *testing.T) {
	l := duration.NewLearner(priors, nil)
	suspends(l, cluster.GiB, 150*time.Second, 150*time.Second, 150*time.Second, 150*time.Second)
	for _, memory := range []cluster.MiB{cluster.GiB / 2, cluster.GiB, 4 * cluster.GiB} {
		want := 3 * priors[duration.Suspend].Of(memory)
		if r := ratio(estimate(l, cluster.Suspend, memory, "n1", ""), want); r < 0.95 || r > 1.05 {
			t.Errorf("%s of memory: %s, want about %s", memory, estimate(l, cluster.Suspend, memory, "n1", ""), want)
		}
	}
}

// A node that has become faster is estimated right after ten observations.
func TestForgets(t *testing.T) {
	l := duration.NewLearner(priors, nil)
	for range 100 {
		suspends(l, cluster.GiB, 50*time.Second)
	}
	for range 12 {
		suspends(l, cluster.GiB, 10*time.Second)
	}
	if got := estimate(l, cluster.Suspend, cluster.GiB, "n1", ""); got > 11*time.Second {
		t.Errorf("%s, want 10s", got)
	}
}

// No duration is negative or endless, whatever is observed.
func TestBounds(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 16))
		l := duration.NewLearner(priors, nil)
		longest := time.Duration(0)
		for range 1 + rng.IntN(40) {
			took := time.Duration(math.Pow(10, 14*rng.Float64()))
			longest = max(longest, took)
			suspends(l, cluster.MiB(rng.IntN(1<<20)), took)
		}
		for _, n := range l.Estimates().Node("n1") {
			if n.Line.Constant < 0 || n.Line.PerGiB < 0 || n.Line.Of(0) > longest+time.Hour {
				t.Errorf("seed %d: %s has the line %v; the longest took %s", seed, n.Kind, n.Line, longest)
			}
		}
	}
}

func TestNothingTookNoTime(t *testing.T) {
	l := duration.NewLearner(duration.Priors{}, nil)
	suspends(l, 0, 0, 0, 0, 0)
	if got := estimate(l, cluster.Suspend, cluster.GiB, "n1", ""); got < 0 || got > 10*time.Millisecond {
		t.Errorf("%s, want nothing", got)
	}
}

// The observations that Learn returns, in their order, give a new learner the same estimates.
func TestLearnsAgainFromWhatWasKept(t *testing.T) {
	nodes := []cluster.NodeID{"n1", "n2", "n3", "n4"}
	actions := []cluster.ActionKind{cluster.Boot, cluster.Stop, cluster.Suspend, cluster.Resume, cluster.Migrate}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 17))
		l := duration.NewLearner(priors, nil)
		var kept []duration.Observation
		for i := range 400 {
			from, to := nodes[rng.IntN(4)], nodes[rng.IntN(4)]
			action := actions[rng.IntN(len(actions))]
			if action == cluster.Migrate && from == to {
				continue
			}
			kept = append(kept, l.Learn(&duration.Taken{
				Action: action, From: from, To: to, Memory: cluster.MiB(256 + rng.IntN(8192)), Took: time.Duration(rng.Int64N(int64(time.Minute))),
			})...)
			if i%7 == 0 {
				l.Estimates() // as decisions do
			}
		}
		again := duration.NewLearner(priors, kept)
		for _, node := range append(nodes, "n5") {
			if got, want := again.Estimates().Node(node), l.Estimates().Node(node); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s: %v, want %v", seed, node, got, want)
			}
		}
	}
}

// Estimates that were given away do not change.
func TestEstimatesNeverChange(t *testing.T) {
	l := duration.NewLearner(priors, nil)
	before := l.Estimates()
	suspends(l, cluster.GiB, time.Second, time.Second, time.Second)
	if d, _ := before.Duration(cluster.Suspend, cluster.GiB, "n1", ""); d != 50*time.Second {
		t.Errorf("%s, want the 50s of before", d)
	}
	if d := estimate(l, cluster.Suspend, cluster.GiB, "n1", ""); d > 2*time.Second {
		t.Errorf("%s, want the second that was learned", d)
	}
}
