package execute

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// unknown is a copy that bears our mark and belongs to no live vjob: its owner cannot be
// told. It is paused if it runs, and neither destroyed nor adopted (RELIABILITY I15).
type unknown struct {
	seen   hypervisor.CopyState
	pauses tries
}

// place is a copy of a VM on a node.
type place struct {
	vm   cluster.VMID
	node cluster.NodeID
}

// quarantine pauses the copies on a node that belong to no live vjob, as often as it
// takes, and tells of each what was seen.
func (e *Executor) quarantine(n *node) {
	maps.DeleteFunc(e.unknown, func(at place, _ *unknown) bool {
		_, there := n.copies[at.vm]
		_, known := e.gangs[at.vm.VJob]
		left := at.node == n.ID && (!there || known)
		if left {
			e.changes++ // its room is free
		}
		return left
	})
	for _, id := range slices.SortedFunc(maps.Keys(n.copies), cluster.VMID.Compare) {
		if _, known := e.gangs[id.VJob]; known {
			continue
		}
		at, c := place{id, n.ID}, n.copies[id]
		u, seen := e.unknown[at]
		if !seen {
			u = &unknown{}
			e.unknown[at] = u
		}
		if !seen || u.seen != c.State {
			u.seen = c.State
			e.changes++ // it takes more room from now on, or less
			e.alarmAt(at, fmt.Sprintf("it is %s", c.State))
		}
		if c.State == hypervisor.CopyRunning && !e.calling(at) && u.pauses.next(e.now) {
			e.begin([]hypervisor.Call{{Verb: hypervisor.Pause, VM: id, Node: n.ID}}, 0, false,
				func(hypervisor.Call) time.Duration { return leastDeadline })
		}
	}
}

// calling reports whether a call on a VM is under way on a node.
func (e *Executor) calling(at place) bool {
	for _, o := range e.nodes[at.node].ops {
		if o.call.VM == at.vm {
			return true
		}
	}
	return false
}

// unpaused tells that the pause of an unknown copy failed, as the number of tries doubles.
func (e *Executor) unpaused(call *hypervisor.Call, err error) {
	at := place{call.VM, call.Node}
	u, ok := e.unknown[at]
	if ok && err != nil && call.Verb == hypervisor.Pause && u.pauses.count&(u.pauses.count-1) == 0 {
		e.alarmAt(at, fmt.Sprintf("it does not pause (try %d): %v", u.pauses.count, err))
	}
}

func (e *Executor) alarmAt(at place, what string) {
	e.event(journal.Event{
		Kind: journal.EventAlarm, VM: at.vm.String(), Node: at.node,
		Text: fmt.Sprintf("node %s has a copy of %s, which belongs to no live vjob: %s", at.node, at.vm, what),
	})
}

// foreign is the room that copies of no live vjob take on a node: their memory, and the
// CPU of those that run.
func (e *Executor) foreign(n *node) (sum cluster.Resources) {
	for id, c := range n.copies {
		if _, known := e.gangs[id.VJob]; known {
			continue
		}
		size := c.Size
		if c.State != hypervisor.CopyRunning {
			size = size.Paused()
		}
		sum = sum.Plus(size)
	}
	return sum
}
