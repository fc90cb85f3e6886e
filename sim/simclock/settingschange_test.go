package simclock_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/decide"
)

// changed are other settings than those of a scene.
func changed(seed uint64) scheduler.Settings {
	return scheduler.Settings{
		Settings: decide.Settings{
			Execute: execute.DefaultSettings, Policy: queue.EASY{}, Planner: ctxswitch.Repacker{}, Seed: seed, Backoff: time.Second,
		},
		Rest: time.Second,
	}
}

// only returns the nodes of a scene with these names.
func (s *scene) only(names ...cluster.NodeID) (list []cluster.Node) {
	for _, n := range s.cluster.Nodes() {
		for _, name := range names {
			if n.ID == name {
				list = append(list, n)
			}
		}
	}
	return list
}

// Settings change between two steps, also while calls are under way: no vjob starts twice, none loses running time, and the
// same seed gives the same log.
func TestSettingsChangeBetweenTwoSteps(t *testing.T) {
	play := func(seed uint64, latency time.Duration) string {
		s := raise(t, seed, latency)
		s.cluster.Heal(s.cluster.Now())
		a := s.submit("a")
		for range 20 { // in the middle of the boot, and then of the run
			s.run(700 * time.Millisecond)
			if err := s.shell.ChangeSettings(changed(seed), s.only("n1", "n2"), "settings reloaded"); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.shell.Snapshot().Policy; got != (queue.EASY{}).Name() {
			t.Errorf("seed %d: the policy is %s", seed, got)
		}
		b := s.submit("b")
		s.run(3 * time.Minute)
		for _, id := range []cluster.VJobID{a, b} {
			kept, _ := s.store.VJob(id)
			if kept.State != cluster.Terminated || kept.Gang.Incarnation != 1 || kept.Account.Running < 59*time.Second || kept.Account.Running > 62*time.Second {
				t.Errorf("seed %d: vjob %s is %s in incarnation %d and %s", seed, id, kept.State, kept.Gang.Incarnation, kept.Account.Running)
			}
			if kept.Account.CPU > 62*time.Second {
				t.Errorf("seed %d: vjob %s has used %s of CPU in a minute", seed, id, kept.Account.CPU)
			}
		}
		return s.log.String()
	}
	for seed := range uint64(4) {
		for _, latency := range []time.Duration{0, 10 * time.Millisecond} {
			if first := play(seed, latency); first != play(seed, latency) {
				t.Errorf("seed %d, latency %s: two runs gave two logs", seed, latency)
			}
		}
	}
}

// A node with VMs on it is not removed: the error names the vjobs, and nothing changes.
func TestANodeThatVJobsHoldIsNotRemoved(t *testing.T) {
	s := faultless(t, 0)
	a := s.submit("a")
	s.run(30 * time.Second)
	kept, _ := s.store.VJob(a)
	held, other := kept.Gang.Members[0].Node, cluster.NodeID("n1")
	if held == other {
		other = "n2"
	}
	err := s.shell.ChangeSettings(changed(1), s.only(other), "settings reloaded")
	if !errors.Is(err, cluster.ErrConflict) || !strings.Contains(err.Error(), fmt.Sprintf("%s cannot be removed: it holds a part of vjob %s", held, a)) {
		t.Errorf("the removal of a node that holds a VM: %v", err)
	}
	if got := s.shell.Snapshot(); got.Policy == (queue.EASY{}).Name() || len(got.Nodes) != 2 {
		t.Errorf("a change that was refused gave policy %s and %d nodes", got.Policy, len(got.Nodes))
	}
	s.run(2 * time.Minute) // it ends
	if err := s.shell.ChangeSettings(changed(1), s.only(other), "settings reloaded"); err != nil {
		t.Fatal(err)
	}
	s.run(time.Minute)
	if got := s.shell.Snapshot(); len(got.Nodes) != 1 || got.Nodes[0].ID != other {
		t.Errorf("after %s was removed the nodes are %+v", held, got.Nodes)
	}
	if err := s.shell.ChangeSettings(changed(1), s.only("n1", "n2"), "settings reloaded"); err != nil {
		t.Fatal(err)
	}
	s.run(time.Minute)
	if got := s.shell.Snapshot(); len(got.Nodes) != 2 {
		t.Errorf("after %s was added the nodes are %+v", held, got.Nodes)
	}
}

// A node keeps its state when the settings change, and its capacity is that of the settings.
func TestANodeKeepsItsStateWhenSettingsChange(t *testing.T) {
	s := faultless(t, 0)
	s.run(time.Second)
	if err := s.shell.SetNode("n1", cluster.Draining, "op"); err != nil {
		t.Fatal(err)
	}
	nodes := s.only("n1", "n2")
	nodes[0].Capacity.CPU = 1000
	if err := s.shell.ChangeSettings(changed(1), nodes, "settings reloaded"); err != nil {
		t.Fatal(err)
	}
	s.run(time.Second)
	for _, n := range s.shell.Snapshot().Nodes {
		if n.ID == "n1" && (n.State != cluster.Draining || n.Capacity.CPU != 1000) {
			t.Errorf("n1 is %+v", n)
		}
	}
}

// A store that fails changes nothing, and the scheduler goes on with the settings from before.
func TestASettingsChangeThatIsNotWritten(t *testing.T) {
	s := faultless(t, 0)
	s.run(time.Second)
	s.store.FailNext = func() error { return errors.New("disk full") }
	err := s.shell.ChangeSettings(changed(1), s.only("n1", "n2"), "settings reloaded")
	s.store.FailNext = nil
	if !errors.Is(err, cluster.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	s.run(10 * time.Second)
	if got := s.shell.Snapshot(); got == nil || got.Policy == (queue.EASY{}).Name() {
		t.Error("the settings have changed, or the scheduler is gone")
	}
}
