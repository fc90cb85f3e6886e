package simclock_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/sim/simclock"
	"vjob/tests/simstore"
)

// scene is a shell over two nodes with a log of its actions.
type scene struct {
	t       *testing.T
	shell   *simclock.Shell
	cluster *simulated.Cluster
	store   *simstore.Store
	log     strings.Builder
	crash   func(point string) bool
}

func raise(t *testing.T, seed uint64, latency time.Duration) *scene {
	t.Helper()
	s := &scene{t: t, store: simstore.Open(t)}
	s.cluster = simulated.New(simulated.Config{
		Profile: simulated.Lab, Seed: seed, Faults: simulated.Harsh, Nodes: []simulated.Node{
			{ID: "n1", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}},
			{ID: "n2", Capacity: cluster.Resources{CPU: 2000, Memory: 2048}},
		},
	})
	cfg := simclock.Config{
		Settings: scheduler.Settings{
			Settings: decide.Settings{
				Execute: execute.DefaultSettings, Policy: queue.FirstFit{}, Planner: ctxswitch.Repacker{}, Seed: seed,
				Backoff: 5 * time.Second,
			},
			Rest: 100 * time.Millisecond,
		},
		Cluster: s.cluster, Store: s.store, Down: 3 * time.Second,
		Crash: func(point string) bool { return s.crash != nil && s.crash(point) },
		Committed: func(now time.Time, step journal.Step) {
			text, err := json.Marshal(step)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&s.log, "%s %s\n", now.Format(time.RFC3339Nano), text)
		},
		Called: func(now time.Time, call hypervisor.Call) { fmt.Fprintf(&s.log, "%s %+v\n", now, call.Op) },
	}
	if latency > 0 {
		cfg.Latency = func() time.Duration { return latency }
	}
	var err error
	if s.shell, err = simclock.New(cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) submit(name string) cluster.VJobID {
	s.t.Helper()
	job, err := s.shell.Submit(admission.Submission{Owner: "u", Name: name, VMs: []cluster.VM{{
		Reserved: cluster.Resources{CPU: 1000, Memory: 512},
		Payload:  &cluster.Payload{Image: "simulated", Program: &cluster.Program{Steps: []cluster.Step{{CPU: 1000, Duration: time.Minute}}}},
	}}})
	if err != nil {
		s.t.Fatal(err)
	}
	return job.ID
}

func (s *scene) run(d time.Duration) {
	s.t.Helper()
	if err := s.shell.Until(s.shell.Now().Add(d)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) state(id cluster.VJobID) cluster.State {
	kept, _ := s.store.VJob(id)
	return kept.State
}

// The same seed gives the same log, faults included; another seed gives another log.
func TestDeterminism(t *testing.T) {
	play := func(seed uint64) string {
		s := raise(t, seed, 10*time.Millisecond)
		for i := range 6 {
			id := s.submit(fmt.Sprint(i))
			s.run(20 * time.Second)
			if i%2 == 0 {
				_ = s.shell.Order(id, scheduler.OrderSuspend, "u") // may be refused
			}
		}
		s.run(10 * time.Minute)
		return s.log.String()
	}
	first := play(1)
	if first == "" || first != play(1) {
		t.Error("two runs of one seed gave two logs")
	}
	if first == play(2) {
		t.Error("two seeds gave one log")
	}
}

// faultless returns a scene without faults.
func faultless(t *testing.T, latency time.Duration) *scene {
	t.Helper()
	s := raise(t, 1, latency)
	s.cluster.Heal(s.cluster.Now())
	return s
}

// Observations with and without latency lead to the same end.
func TestLatency(t *testing.T) {
	for _, latency := range []time.Duration{0, time.Millisecond, time.Second} {
		s := faultless(t, latency)
		id := s.submit("a")
		s.run(2 * time.Minute)
		if got := s.state(id); got != cluster.Terminated {
			t.Errorf("latency %s: it is %s", latency, got)
		}
	}
}

// A killed scheduler answers no requests, loses nothing, and restarts after Config.Down.
func TestKill(t *testing.T) {
	s := faultless(t, 10*time.Millisecond)
	id := s.submit("a")
	s.run(10 * time.Second)
	s.shell.Kill()
	if s.shell.Snapshot() != nil {
		t.Error("a killed scheduler returns a snapshot")
	}
	if err := s.shell.Order(id, scheduler.OrderDelete, "u"); !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("an order to a killed scheduler: %v", err)
	}
	if err := s.shell.SetNode("n1", cluster.Draining, "op"); !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("a node state change to a killed scheduler: %v", err)
	}
	late := s.submit("b") // needs only the store
	s.run(3 * time.Second)
	if s.shell.Snapshot() == nil || s.store.Epoch() != 2 {
		t.Errorf("it is not back; epoch %d", s.store.Epoch())
	}
	s.run(3 * time.Minute)
	if s.state(id) != cluster.Terminated || s.state(late) != cluster.Terminated {
		t.Errorf("they are %s and %s", s.state(id), s.state(late))
	}
}

// A crash before a commit leaves nothing, a crash after it only the committed step. Neither
// makes a call.
func TestCrashAroundACommit(t *testing.T) {
	for point, intents := range map[string]int{"before commit": 0, "after commit": 1} {
		s := faultless(t, 10*time.Millisecond)
		s.run(time.Second)
		dead := false
		s.crash = func(p string) bool {
			if dead || p != point {
				return false
			}
			dead = true
			return true
		}
		id := s.submit("a") // commits a plan and the intent of its first call
		if got := len(s.store.Intents()); got != intents || len(s.cluster.Truth().Copies) > 0 {
			t.Errorf("%s: %d intents, want %d; copies %v", point, got, intents, s.cluster.Truth().Copies)
		}
		s.run(3 * time.Minute)
		if got := s.state(id); got != cluster.Terminated {
			t.Errorf("%s: it is %s", point, got)
		}
	}
}

// The scheduler restarts until its step can be written.
func TestFailingStore(t *testing.T) {
	s := faultless(t, 10*time.Millisecond)
	writes := 0
	s.store.FailNext = func() error {
		if writes++; writes > 1 && writes < 5 { // the submission is written
			return errors.New("disk full")
		}
		return nil
	}
	id := s.submit("a")
	if len(s.cluster.Truth().Copies) > 0 {
		t.Error("a call was made although nothing was written")
	}
	s.run(2 * time.Minute)
	if got := s.state(id); got != cluster.Terminated {
		t.Errorf("it is %s", got)
	}
}
