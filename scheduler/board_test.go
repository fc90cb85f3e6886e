package scheduler

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler/decide"
)

// boardScene is a core with one node, and a board with a clock that only the test moves. Taking a snapshot costs time.
type boardScene struct {
	core *Core
	*board
	clock time.Time
	cost  time.Duration
}

func newBoardScene(cost time.Duration) *boardScene {
	s := &boardScene{clock: noon, cost: cost}
	loaded := journal.Loaded{Nodes: []cluster.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 8192}}}}
	s.core = NewCore(Settings{Settings: decide.Settings{Execute: execute.DefaultSettings, Policy: queue.FirstFit{}}}, loaded, noon)
	s.core.Flush(noon)
	s.board = newBoard(func() time.Time { now := s.clock; s.clock = now.Add(s.cost); return now })
	return s
}

// shows reports whether a step of the loop publishes another snapshot.
func (s *boardScene) shows() bool {
	before := s.latest()
	s.show(s.core)
	return s.latest() != before
}

// look takes the first look at all nodes, so that the core decides.
func (s *boardScene) look() {
	s.core.Looked(noon, "n1", hypervisor.View{Node: "n1"}, nil)
	s.core.LookedStore(noon, hypervisor.Store{}, nil)
	s.core.Flush(noon)
}

func TestBoardShowsReadinessAtOnce(t *testing.T) {
	s := newBoardScene(0)
	if !s.shows() {
		t.Fatal("no first snapshot")
	}
	if s.shows() {
		t.Error("a core that is not ready is shown at every step: on large clusters a start takes as many snapshots of all nodes as steps")
	}
	s.look()
	if !s.shows() || !s.latest().Ready {
		t.Errorf("ready %t: want to see it at once", s.latest().Ready)
	}
}

func TestBoardIsCalmWhileNothingHappens(t *testing.T) {
	const cost = 50 * time.Millisecond
	s := newBoardScene(cost)
	s.look()
	s.shows()
	s.clock = s.clock.Add(showShare * cost)
	if s.shows() {
		t.Error("a snapshot though nothing happened")
	}
	if err := s.core.Nodes.Set(noon, []cluster.NodeID{"n1"}, cluster.Draining, "op"); err != nil {
		t.Fatal(err)
	}
	if !s.shows() {
		t.Error("a change is not shown")
	}
	s.clock = s.clock.Add(quietShare * cost)
	if !s.shows() {
		t.Error("what VMs use is never shown")
	}
}
