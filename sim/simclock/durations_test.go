package simclock_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"vjob/ctxswitch/journal"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/sim/simclock"
	"vjob/tests/simstore"
)

// learningScene has three nodes with the durations of the thesis and jitter, of which a is three
// times slower, and a vjob on each that runs for days.
func learningScene(t *testing.T, seed uint64, learn bool) (s *scene, jobs map[cluster.NodeID]cluster.VJobID) {
	t.Helper()
	s = &scene{t: t, store: simstore.Open(t)}
	profile := simulated.Thesis
	profile.Jitter = 0.1
	var nodes []simulated.Node
	for _, id := range []cluster.NodeID{"a", "b", "c"} {
		nodes = append(nodes, simulated.Node{ID: id, Capacity: cluster.Resources{CPU: 2000, Memory: 8192}})
	}
	nodes[0].Slow = 3
	s.cluster = simulated.New(simulated.Config{Profile: profile, Seed: seed, Nodes: nodes})
	set := decide.Settings{Execute: execute.DefaultSettings, Policy: queue.FirstFit{}, Planner: ctxswitch.Repacker{}, Backoff: 5 * time.Second}
	set.Execute.LookEvery, set.Execute.Costs, set.Execute.Learn = time.Minute, ctxswitch.ThesisCosts, learn
	var err error
	if s.shell, err = simclock.New(simclock.Config{
		Settings: scheduler.Settings{Settings: set, Rest: 100 * time.Millisecond}, Cluster: s.cluster, Store: s.store,
		Crash:   func(point string) bool { return s.crash != nil && s.crash(point) },
		Down:    3 * time.Second,
		Latency: func() time.Duration { return 20 * time.Millisecond },
	}); err != nil {
		t.Fatal(err)
	}
	jobs = map[cluster.NodeID]cluster.VJobID{}
	for i, node := range nodes {
		sub := admission.Submission{Owner: "u", Rules: fmt.Sprintf("fence($VMS, %s);", node.ID), VMs: []cluster.VM{{
			Reserved: cluster.Resources{CPU: 2000, Memory: cluster.GiB * cluster.MiB(i+1)},
			Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 1000, Duration: 240 * time.Hour}}}},
		}}}
		job, err := s.shell.Submit(sub)
		if err != nil {
			t.Fatal(err)
		}
		jobs[node.ID] = job.ID
	}
	s.run(10 * time.Minute)
	return s, jobs
}

// ratios lists how long the switches took in parts of their estimates, the earliest first.
func (s *scene) ratios() (list []float64) {
	plans, err := s.store.Plans(s.t.Context(), journal.PlanFilter{})
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range plans {
		if r := plans[i].Ratio(); r > 0 {
			list = append(list, r)
		}
	}
	slices.Reverse(list)
	return list
}

// A node is three times slower than the settings say: the first estimates are wrong by that, and
// those after some switches are right. Other nodes keep theirs. A restart forgets nothing.
func TestEstimatesOfASlowNodeBecomeRight(t *testing.T) {
	for seed := range uint64(5) {
		s, jobs := learningScene(t, seed, true)
		cycle := func(node cluster.NodeID) {
			for _, order := range []scheduler.Order{scheduler.OrderSuspend, scheduler.OrderResume} {
				if err := s.shell.Order(jobs[node], order, "u"); err != nil {
					t.Fatal(err)
				}
				s.run(30 * time.Minute)
			}
		}
		before := len(s.ratios())
		cycle("a")
		if first := s.ratios()[before:]; len(first) != 2 || first[0] < 2 || first[1] < 2 {
			t.Fatalf("seed %d: the first switches of the slow node took %.2f times their estimates, want about 3", seed, first)
		}
		for range 3 {
			cycle("a")
			cycle("b")
		}
		crashed := false
		s.crash = func(point string) bool {
			now := !crashed && point == "after save"
			crashed = crashed || now
			return now
		}
		before = len(s.ratios())
		cycle("c") // the crash comes here
		known := s.shell.Snapshot().Durations.Node("a")
		cycle("a")
		cycle("b")
		if !crashed || known[duration.Suspend].Source != duration.FromNode || known[duration.Suspend].Observations != 4 {
			t.Errorf("seed %d: after the restart (%v) node a has %+v", seed, crashed, known[duration.Suspend])
		}
		for _, ratio := range s.ratios()[before:] {
			if math.Abs(ratio-1) > 0.2 {
				t.Errorf("seed %d: a switch took %.2f times its estimate", seed, ratio)
			}
		}
		for node, times := range map[cluster.NodeID]float64{"a": 3, "b": 1, "c": 1} {
			got, _ := s.shell.Snapshot().Durations.Duration(cluster.Suspend, 2*cluster.GiB, node, "")
			if r := got.Seconds() / (times * 100); r < 0.85 || r > 1.15 {
				t.Errorf("seed %d: a suspend on %s is estimated %s, %.2f times the truth", seed, node, got, r)
			}
		}
	}
}

// Without learning the estimates stay those of the settings, and nothing is kept.
func TestNothingIsLearnedIfItIsOff(t *testing.T) {
	s, jobs := learningScene(t, 1, false)
	for range 4 {
		for _, order := range []scheduler.Order{scheduler.OrderSuspend, scheduler.OrderResume} {
			if err := s.shell.Order(jobs["a"], order, "u"); err != nil {
				t.Fatal(err)
			}
			s.run(30 * time.Minute)
		}
	}
	if got := s.shell.Snapshot().Durations.Node("a")[duration.Suspend]; got.Source != duration.FromSettings || got.Observations != 0 {
		t.Errorf("%+v", got)
	}
	loaded, err := s.store.Load(t.Context())
	if err != nil || len(loaded.Learned) > 0 {
		t.Errorf("%d observations are kept (%v)", len(loaded.Learned), err)
	}
	for _, r := range s.ratios()[1:] {
		if r < 2 {
			t.Errorf("a switch of the slow node took %.2f times its estimate", r)
		}
	}
}
