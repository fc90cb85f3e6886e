package solve

import (
	"vjob/repack"
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
	waiting bool
	key     int64 // smaller ones go first
	held    bool  // what its tasks leave is free when the last has ended
	running int   // tasks under way
	after   int   // tasks that must have ended before it may wait for room
}

// tasks are the actions that lead to a placement, one for each VM that acts.
func (s *state) tasks() (list []task) {
	for vm := range s.in.VMs {
		v := &s.in.VMs[vm]
		t := task{vm: vm, from: repack.Nowhere, to: repack.Nowhere, then: -1}
		switch {
		case v.Keeps():
			if s.at[vm] == v.Host {
				continue
			}
			t.kind, t.from, t.to, t.takes = repack.Migrate, v.Host, s.at[vm], s.on(vm, s.at[vm])
		case v.Comes():
			t.kind, t.to, t.takes = repack.Boot, s.at[vm], s.on(vm, s.at[vm])
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

// units groups tasks: gangs act together, and so do VMs that a rule joins.
func (m *model) units(list []task) (units []unit) {
	joined := map[[2]int]int{}
	join := func(key [2]int, i int, u unit) {
		at, ok := joined[key]
		if !ok {
			at = len(units)
			joined[key] = at
			units = append(units, u)
		}
		units[at].tasks = append(units[at].tasks, i)
		list[i].unit = at
	}
	set := m.joins()
	for i := range list {
		t := &list[i]
		if j, ok := set[t.vm]; ok && t.kind == repack.Migrate {
			join([2]int{-1, j}, i, unit{atEnd: m.together[j].atEnd, waiting: true})
			continue
		}
		if g := m.gang[t.vm]; g >= 0 && (t.kind != repack.Migrate || m.in.VMs[t.vm].Paused) {
			join([2]int{g, int(t.kind)}, i, unit{held: t.kind == repack.Suspend || t.kind == repack.Migrate, waiting: true})
			continue
		}
		t.unit = len(units)
		units = append(units, unit{tasks: []int{i}, waiting: true})
	}
	for u := range units {
		for _, i := range units[u].tasks {
			t := &list[i]
			units[u].key += m.urgency(t.vm, t.takes)
		}
	}
	return units
}

// joins are the sets of VMs that rules want to act together, by VM.
func (m *model) joins() map[int]int {
	set := map[int]int{}
	for j := range m.together {
		for _, vm := range m.together[j].vms {
			set[vm] = j
		}
	}
	return set
}

// urgency says when a VM goes among those who wait for the same room: what takes
// little time for its weight goes first.
func (m *model) urgency(vm int, takes repack.Ticks) int64 {
	return int64(takes) * 16 / max(1, m.in.VMs[vm].Weight)
}
