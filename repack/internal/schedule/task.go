package schedule

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// task is one action under construction.
type task struct {
	vm       int
	kind     repack.Kind
	from, to int // or Nowhere
	takes    repack.Ticks
	rate     int64 // of each link that it crosses; known with takes when it starts
	start    repack.Ticks
	end      repack.Ticks
	unit     int
	number   int  // in the order of starts
	started  bool // so start and end are set
	then     int  // the next task of the same VM; -1
}

// unit is a set of tasks that start together; most have one.
type unit struct {
	tasks   []int
	atEnd   bool // they end together, and start accordingly
	atStart bool // they start together; with atEnd, the shorter ones take longer
	waiting bool
	key     int64 // the smallest goes first
	held    bool  // the room of its tasks is free when the last has ended
	ruled   bool  // a rule joins them, so none may wait for a transfer slot
	after   int   // tasks that must have ended before it may wait for room
}

// tasksOf returns the actions that lead to a placement, one for each VM that acts.
func tasksOf(s *placement.State) (list []task) {
	for vm := range s.In.VMs {
		v := &s.In.VMs[vm]
		t := task{vm: vm, from: repack.Nowhere, to: repack.Nowhere, then: -1}
		switch {
		case v.Keeps():
			if s.NodeOf[vm] == v.Host {
				continue
			}
			t.kind, t.from, t.to, t.takes = repack.Migrate, v.Host, s.NodeOf[vm], s.Duration(vm, s.NodeOf[vm])
		case v.Comes():
			t.kind, t.to, t.takes = repack.Boot, s.NodeOf[vm], s.Duration(vm, s.NodeOf[vm])
			if v.State == repack.Sleeping {
				t.kind, t.from = repack.Resume, v.Host
			}
		case v.State == repack.Running && v.Want == repack.Sleeping:
			t.kind, t.from, t.takes = repack.Suspend, v.Host, v.Takes.Suspend
		case v.State == repack.Running:
			t.kind, t.from, t.takes = repack.Shutdown, v.Host, v.Takes.Shutdown
		default:
			continue
		}
		list = append(list, t)
	}
	return list
}

// comes reports whether the task brings its VM to a node.
func (t *task) comes() bool { return t.to != repack.Nowhere }

// leaves reports whether the VM occupies the node that it comes from.
func (t *task) leaves() bool { return t.from != repack.Nowhere && t.kind != repack.Resume }

// unitsOf groups tasks: gangs act together, and so do VMs that rules join. Tasks joined by
// several gangs or rules all act together.
func unitsOf(m *problem.Problem, list []task) []unit {
	units := make([]unit, 0, len(list))
	first := make([]int, len(list)) // of the tasks joined with a task
	of := map[bond]int{}
	for i := range list {
		first[i] = i
		for _, b := range bonds(m, &list[i]) {
			if j, ok := of[b]; ok {
				unite(first, i, j)
			} else {
				of[b] = i
			}
		}
	}
	for i := range list {
		t := &list[i]
		t.unit = list[root(first, i)].unit
		if first[i] == i {
			t.unit = len(units)
			units = append(units, unit{waiting: true})
		}
		u := &units[t.unit]
		u.tasks = append(u.tasks, i)
		u.key += m.SmithRatio(t.vm, t.takes)
		for _, b := range bonds(m, t) {
			b.bind(u)
		}
	}
	return units
}

// bond joins tasks: a gang that does the same, or a rule.
type bond struct {
	gang, rule int // -1 for none
	kind       repack.Kind
	atEnd      bool
}

// bonds returns the bonds of one task.
func bonds(m *problem.Problem, t *task) (list []bond) {
	if g := m.GangOf[t.vm]; g >= 0 && (t.kind != repack.Migrate || m.In.VMs[t.vm].Paused) {
		list = append(list, bond{g, -1, t.kind, false})
	}
	if m.Synced[t.vm] && t.kind == repack.Migrate {
		for j := range m.SyncSets {
			if slices.Contains(m.SyncSets[j].VMs, t.vm) {
				list = append(list, bond{-1, j, t.kind, m.SyncSets[j].AtEnd})
			}
		}
	}
	return list
}

// bind applies a bond to a unit.
func (b bond) bind(u *unit) {
	u.atEnd = u.atEnd || b.atEnd
	u.atStart = u.atStart || !b.atEnd
	u.ruled = u.ruled || b.rule >= 0
	u.held = u.held || b.gang >= 0 && (b.kind == repack.Suspend || b.kind == repack.Migrate)
}

// root returns the first task of those joined with a task.
func root(first []int, i int) int {
	for first[i] != i {
		i = first[i]
	}
	return i
}

func unite(first []int, i, j int) {
	i, j = root(first, i), root(first, j)
	first[max(i, j)] = min(i, j)
}
