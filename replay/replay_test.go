package replay_test

import (
	"context"
	"testing"
	"time"

	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/replay"
	"vjob/workload"
)

func run(t *testing.T, file, policy string) *replay.Result {
	t.Helper()
	w, err := workload.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := queue.ByName(policy)
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

// The experiment of thesis §10.2.3: FCFS takes 250 minutes, and the durations of
// its actions on top; to suspend vjobs and resume them takes far less.
func TestThesisExperiment(t *testing.T) {
	static := run(t, "../workload/testdata/nasgrid-8x9.json", "fcfs")
	dynamic := run(t, "../workload/testdata/nasgrid-8x9.json", "firstfit")
	if got := static.Total; got < 250*time.Minute || got > 258*time.Minute {
		t.Errorf("fcfs took %s, want 250 minutes and some for the actions", got)
	}
	if got := dynamic.Total; got >= static.Total {
		t.Errorf("firstfit took %s, want less than the %s of fcfs", got, static.Total)
	}
	for _, r := range []*replay.Result{static, dynamic} {
		for _, j := range r.VJobs {
			if j.State.String() != "terminated" {
				t.Errorf("%s: %s is %s: %s", r.Policy, j.Name, j.State, j.Reason)
			}
		}
	}
}
