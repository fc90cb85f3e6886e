package gang

import (
	"fmt"

	"vjob/hypervisor"
)

// StepContainer is [Step] for the gang of a container, which has no VMs: its members are room on
// nodes that is kept for the VMs of the vjobs inside. It makes no calls, and observes only
// whether a node is lost. It takes the room of all members at once when all of it is free, and
// releases it at once when no vjob is inside any more. A container with any other aim releases
// its room and waits again.
func StepContainer(rec Record, s Input, inside string) Turn {
	t := &turn{Input: s, rec: rec.Clone()}
	switch t.rec.Phase {
	case Absent:
	case Creating:
		t.takeRoom()
	case Active:
		t.keepRoom()
	case Clearing:
		t.releaseRoom(inside)
	case Pausing, Paused, Saving, Saved, Restoring, Resuming, Moving, Shifting:
		t.enter(Clearing, ThenWait, t.rec.Cause)
	}
	return Turn{Record: *t.rec, Changed: t.changed, Wait: t.wait, Alarms: t.alarms}
}

// takeRoom takes the room of all members.
func (t *turn) takeRoom() {
	if t.Retreat != "" {
		t.enter(Clearing, ThenWait, aborted(t.Retreat))
		return
	}
	for rank := range t.rec.Members {
		m := &t.rec.Members[rank]
		if !t.May(hypervisor.Call{Verb: hypervisor.Boot, VM: t.VJob.VMs[rank].ID, Node: m.Next}) {
			t.waitFor(fmt.Sprintf("room on %s", m.Next))
			return
		}
	}
	for rank := range t.rec.Members {
		m := &t.rec.Members[rank]
		m.Node, m.Next = m.Next, ""
	}
	t.enter(Active, ThenNothing, t.rec.Cause)
}

// keepRoom gives the room up as a whole when a part of it is lost.
func (t *turn) keepRoom() {
	for rank := range t.rec.Members {
		if t.Sights[rank].Gone {
			t.lose(fmt.Sprintf("its room on %s is gone", t.rec.Members[rank].Node))
			return
		}
	}
}

// releaseRoom releases the room once no vjob is inside.
func (t *turn) releaseRoom(inside string) {
	if inside != "" {
		t.waitFor(inside)
		return
	}
	clear(t.rec.Members)
	t.enter(Absent, t.rec.Then, t.rec.Cause)
}
