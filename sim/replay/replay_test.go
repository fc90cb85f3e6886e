package replay_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/sim/replay"
	"vjob/sim/workload"
)

// run replays the experiment of the thesis.
func run(t *testing.T, policy string) *replay.Result {
	t.Helper()
	w, err := workload.Read("../workload/testdata/nasgrid-8x9.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := queue.NewPublished(policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.Run(context.Background(), w, replay.Options{Policy: p, Profile: simulated.Thesis, Locks: true})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	t.Logf("%s: total %s, %d ended, %d failed, %d switches, cpu %.0f %%, %+v", policy, replay.Clock(s.Total), s.Ended, s.Failed, s.Switches, 100*s.CPUUsed, s)
	return r
}

// The same workload, seed and policy give the same result, to the last sample.
func TestSameEveryTime(t *testing.T) {
	first := run(t, "firstfit")
	again := run(t, "firstfit")
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
}

// Sampled means agree with the spans: every VM of a small workload computes all the time.
func TestUtilisation(t *testing.T) {
	const text = `{"id":"a","submit":0,"runtime":1000,"walltime":0,"vms":2,"cpu":1,"memory_mb":1024,"model":"ED"}`
	w, err := workload.Parse("u", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	node := cluster.Node{ID: "n", Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 8192}}
	r, err := replay.Run(context.Background(), w, replay.Options{Policy: queue.FCFS{}, Profile: simulated.Thesis, Nodes: []cluster.Node{node}})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	if want := 0.5 * 1000 / r.Total.Seconds(); s.CPUUsed < want-0.01 || s.CPUUsed > want+0.01 {
		t.Errorf("CPU used %.3f, want %.3f", s.CPUUsed, want)
	}
	if s.MemoryUsed < 0.23 || s.MemoryUsed > 0.25 {
		t.Errorf("memory used %.3f, want nearly 0.25", s.MemoryUsed)
	}
}

// A workload that could never run is refused, and a replay can be interrupted.
func TestRefusals(t *testing.T) {
	w, err := workload.Read("../workload/testdata/nasgrid-8x9.json")
	if err != nil {
		t.Fatal(err)
	}
	o := replay.Options{Policy: queue.FCFS{}, Profile: simulated.Thesis}
	o.Nodes = []cluster.Node{{ID: "n", Capacity: cluster.Resources{CPU: cluster.CPU, Memory: 8192}}}
	if _, err := replay.Run(context.Background(), w, o); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("one small node: %v", err)
	}
	o.Nodes = nil
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := replay.Run(ctx, w, o); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	w.Nodes = nil
	if _, err := replay.Run(context.Background(), w, o); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("no nodes: %v", err)
	}
}

// The experiment of thesis §10.2.3: FCFS takes 250 minutes plus the durations of
// its actions; policies that suspend and resume vjobs take far less.
func TestThesisExperiment(t *testing.T) {
	static := run(t, "fcfs")
	dynamic := run(t, "firstfit")
	if got := static.Total; got < 250*time.Minute || got > 258*time.Minute {
		t.Errorf("fcfs took %s, want 250 minutes and some for the actions", got)
	}
	if got := dynamic.Total; got > static.Total*3/4 {
		t.Errorf("firstfit took %s, want less than three quarters of the %s of fcfs", got, static.Total)
	}
	calm := run(t, "dynamic-easy")
	if got := calm.Total; got > 120*time.Minute || got < 101*time.Minute {
		t.Errorf("dynamic-easy took %s, want the 101 minutes of the longest vjob alone or slightly more", got)
	}
	if a, b := calm.Summary().Suspends, dynamic.Summary().Suspends; a >= b {
		t.Errorf("dynamic-easy suspended %d VMs, firstfit %d", a, b)
	}
	for _, r := range []*replay.Result{static, dynamic, calm} {
		for _, j := range r.VJobs {
			if j.State.String() != "terminated" {
				t.Errorf("%s: %s is %s: %s", r.Policy, j.Name, j.State, j.Reason)
			}
		}
	}
}
