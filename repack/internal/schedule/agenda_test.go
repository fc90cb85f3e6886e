package schedule

import (
	"slices"
	"testing"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// moves is an agenda of so many VMs that migrate from node 0 to node 1, each on its own and for 10 ticks.
func moves(vms int, in *repack.Instance) *agenda {
	in.Dims = []string{"cpu"}
	in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{100}, Transfers: 1}, repack.Node{Capacity: []int64{100}})
	for range vms {
		in.VMs = append(in.VMs, repack.VM{State: repack.Running, Want: repack.Running, Now: []int64{1}, Next: []int64{1}, Weight: 1})
	}
	a := &agenda{Schedule: Schedule{Problem: problem.New(in, repack.Completion)}}
	for vm := range vms {
		a.tasks = append(a.tasks, task{vm: vm, kind: repack.Migrate, from: 0, to: 1, takes: 10, unit: vm, then: -1})
		a.units = append(a.units, unit{tasks: []int{vm}, waiting: true, key: int64(-vm)})
	}
	return a
}

// A unit without a slot waits in the order of keys, and is tried once a slot is free.
func TestSlots(t *testing.T) {
	a := moves(3, &repack.Instance{})
	s := newSlots(a)
	if !s.admit(0) {
		t.Fatal("the slot is free at first")
	}
	s.take(&a.tasks[0], 0, 10)
	if s.admit(1) || s.admit(2) || !slices.Equal(s.queue.At(0), []int{2, 1}) {
		t.Fatalf("queue %v", s.queue.At(0))
	}
	a.clock = 10
	s.ended(&a.tasks[0])
	var tried []int
	s.startQueued(func(u int) {
		tried = append(tried, u)
		s.take(&a.tasks[u], a.clock, 10)
	})
	if !slices.Equal(tried, []int{2}) || !slices.Equal(s.queue.At(0), []int{1}) {
		t.Errorf("tried %v, queue %v", tried, s.queue.At(0))
	}
	if none := (*slots)(nil); !none.admit(0) || none.nextFree() != repack.Forever {
		t.Error("slots without a limit")
	}
}

// Units are tried in the order of keys on nodes that are dirty, and those that begin leave the queue.
func TestQueues(t *testing.T) {
	a := moves(3, &repack.Instance{})
	q := newQueues(a)
	q.fill()
	try := func(u int) { a.units[u].waiting = u != 1 }
	if q.startQueued(try); len(q.at.At(1)) != 3 {
		t.Errorf("nothing is dirty: %v", q.at.At(1))
	}
	q.markAllDirty()
	if q.startQueued(try); !slices.Equal(q.at.At(1), []int{2, 0}) {
		t.Errorf("queue %v, want 2 before 0", q.at.At(1))
	}
}

// A gang that a unit pauses begins nothing else until all of its tasks have ended.
func TestGangs(t *testing.T) {
	a := moves(2, &repack.Instance{Gangs: [][]int{{0, 1}}})
	a.units[0].held = true
	g := newGangs(a)
	if !g.idle(0) || !g.idle(1) {
		t.Error("the gang is idle at first")
	}
	g.begin(0)
	if g.idle(1) {
		t.Error("a paused gang begins something")
	}
	if free := g.ended(0); !slices.Equal(free, []int{0, 1}) || !g.idle(1) {
		t.Errorf("units %v may begin", free)
	}
	g.begin(1)
	if g.idle(0) {
		t.Error("a gang with an active task is paused")
	}
}
