package schedule

import (
	"container/heap"
	"fmt"
	"slices"

	"vjob/repack"
)

// agenda is what the tasks of a schedule are doing: which wait, which are under way, and until when.
type agenda struct {
	Schedule
	units      []unit
	taskOf     []int // the next or running task of each VM; -1
	clock      repack.Ticks
	ends       ends
	startCount int // tasks that have started
}

// freesRoom reports whether a unit frees room.
func (a *agenda) freesRoom(u int) bool {
	return slices.ContainsFunc(a.units[u].tasks, func(i int) bool { return a.tasks[i].leaves() })
}

// giversPending reports whether a unit that frees room has not begun.
func (a *agenda) giversPending() bool {
	for u := range a.units {
		if (a.units[u].waiting || a.units[u].after > 0) && a.freesRoom(u) {
			return true
		}
	}
	return false
}

// pauses reports whether the unit pauses its gangs.
func (a *agenda) pauses(u int) bool {
	return a.units[u].held || a.tasks[a.units[u].tasks[0]].kind == repack.Resume
}

// startNow starts a task that needs no room.
func (a *agenda) startNow(t task) {
	t.start, t.end, t.started = a.clock, a.clock+t.takes, true
	a.number(&t)
	a.tasks = append(a.tasks, t)
	heap.Push(&a.ends, len(a.tasks)-1)
}

// number records in which order tasks start.
func (a *agenda) number(t *task) {
	a.startCount++
	t.number = a.startCount
}

// waitText says what a task waits to do.
func (a *agenda) waitText(t *task) string {
	text := fmt.Sprintf("%s waits to %s", a.In.VMName(t.vm), t.kind)
	if t.leaves() {
		text += " from " + a.In.NodeName(t.from)
	}
	if t.comes() {
		text += " to " + a.In.NodeName(t.to)
	}
	return text
}
