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
// told. It is isolated: it is paused if it runs, and neither destroyed nor adopted (I15).
type unknown struct {
	seen   hypervisor.CopyState
	pauses tries
}

// unknownCopies are the copies of no live vjob.
type unknownCopies struct {
	*batch
	gangs  *gangs
	calls  *calls
	copies map[place]*unknown
}

// place is a copy of a VM on a node.
type place struct {
	vm   cluster.VMID
	node cluster.NodeID
}

// isolate pauses the running copies on a node that belong to no live vjob, as often as it
// takes, and raises an alarm for each new state of one. They stay where they are.
func (us *unknownCopies) isolate(n *node) {
	maps.DeleteFunc(us.copies, func(at place, _ *unknown) bool {
		_, there := n.copies[at.vm]
		_, known := us.gangs.live[at.vm.VJob]
		left := at.node == n.ID && (!there || known)
		if left {
			us.changes++ // its room is free
		}
		return left
	})
	for _, id := range slices.SortedFunc(maps.Keys(n.copies), cluster.VMID.Compare) {
		if _, known := us.gangs.live[id.VJob]; known {
			continue
		}
		at, c := place{id, n.ID}, n.copies[id]
		u, seen := us.copies[at]
		if !seen {
			u = &unknown{}
			us.copies[at] = u
		}
		if !seen || u.seen != c.State {
			u.seen = c.State
			us.changes++ // it takes more room from now on, or less
			us.alarmAt(at, fmt.Sprintf("it is %s", c.State))
		}
		if c.State == hypervisor.CopyRunning && !us.calls.calling(at) && u.pauses.next(us.now) {
			us.calls.begin([]hypervisor.Call{{Verb: hypervisor.Pause, VM: id, Node: n.ID}}, 0, false,
				func(hypervisor.Call) time.Duration { return leastDeadline })
		}
	}
}

// pauseFailed takes in the reply to the pause of an unknown copy. If it is an error, an alarm is raised
// at the tries 1, 2, 4, 8 and so on.
func (us *unknownCopies) pauseFailed(call *hypervisor.Call, err error) {
	at := place{call.VM, call.Node}
	u, ok := us.copies[at]
	if ok && err != nil && call.Verb == hypervisor.Pause && u.pauses.count&(u.pauses.count-1) == 0 {
		us.alarmAt(at, fmt.Sprintf("it does not pause (try %d): %v", u.pauses.count, err))
	}
}

func (us *unknownCopies) alarmAt(at place, what string) {
	us.event(journal.Event{
		Kind: journal.EventAlarm, VM: at.vm.String(), Node: at.node,
		Text: fmt.Sprintf("node %s has a copy of %s, which belongs to no live vjob: %s", at.node, at.vm, what),
	})
}
