package schedule

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// task is one action in the making.
type task struct {
	vm       int
	kind     repack.Kind
	from, to int // Nowhere where there is none
	takes    repack.Ticks
	rate     int64 // of each link that it crosses; known with takes when it starts
	start    repack.Ticks
	end      repack.Ticks
	unit     int  // the unit that it starts with
	number   int  // in the order in which tasks start
	started  bool // and so has its start and end
	then     int  // the task of the same VM that follows; -1
}

// unit is tasks that start together; most have one.
type unit struct {
	tasks   []int
	atEnd   bool // they end together, and start when they must for that
	atStart bool // they start together; with atEnd, those that take less time take more
	waiting bool
	key     int64 // smaller ones go first
	held    bool  // what its tasks leave is free when the last has ended
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

// unitsOf groups tasks: gangs act together, and so do VMs that rules join. Where a gang
// and a rule want both, or two rules do, all of them act together.
func unitsOf(m *problem.Problem, list []task) (units []unit) {
	first := make([]int, len(list)) // of those that are joined with a task, itself perhaps
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
		if t.unit = list[root(first, i)].unit; first[i] == i {
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

// bond is what joins tasks: a gang that does the same, or a rule.
type bond struct {
	gang, rule int // -1: it is not one
	kind       repack.Kind
	atEnd      bool
}

// bonds are those of one task.
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

// bind has the tasks of a unit do what the bond wants.
func (b bond) bind(u *unit) {
	u.atEnd = u.atEnd || b.atEnd
	u.atStart = u.atStart || !b.atEnd
	u.held = u.held || b.gang >= 0 && (b.kind == repack.Suspend || b.kind == repack.Migrate)
}

// root is the first task of those that are joined with one.
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
