package gang

import (
	"fmt"

	"vjob/hypervisor"
)

// moving takes members to their next nodes: a paused gang as a whole (Moving),
// or running members one by one where a lock prevents two writers (Shifting).
// After every call both ends are seen; nobody goes on before each member has
// exactly one copy.
func (t *turn) moving() {
	settled := true
	for rank := range t.rec.Members {
		m, s := &t.rec.Members[rank], &t.Sights[rank]
		if !t.live(rank) {
			continue
		}
		if s.Busy {
			settled = false
			continue
		}
		own := t.own(rank)
		switch {
		case len(own) > 1:
			settled = false
			if !t.oneOf(rank, own) {
				return
			}
		case own[0].Job != hypervisor.JobNone:
			settled = false
			t.waitFor(fmt.Sprintf("%s is %s", own[0].VM, own[0].Job))
		case own[0].Node == m.Next:
			m.Node, m.Next = m.Next, ""
			t.moved = true
			settled = settled && !s.More
		case m.Next == "":
			settled = settled && !s.More
		case t.Retreat != "" || s.Tries >= t.Limits.MaxTries:
			t.alarms = append(t.alarms, fmt.Sprintf("%s stays on %s: %s", own[0].VM, own[0].Node, t.why(rank)))
			m.Node, m.Next = own[0].Node, ""
			t.moved = true
		default:
			settled = false
			t.migrate(rank, own[0])
		}
	}
	if !settled {
		t.waitFor("migrates")
		return
	}
	if t.rec.Phase == Moving {
		skew := t.rec.Skew
		t.enter(Resuming, ThenNothing, t.rec.Cause)
		t.rec.Skew = skew
		return
	}
	t.enter(Active, ThenNothing, t.rec.Cause)
}

func (t *turn) why(rank int) string {
	if t.Retreat != "" {
		return t.Retreat
	}
	return fmt.Sprintf("migration to %s failed: %v", t.rec.Members[rank].Next, t.Sights[rank].Err)
}

// migrate moves one member. A gang that is moved while paused re-pauses a member
// that goes on by itself; one that is moved while running lets a member go on
// that a failed migration left paused.
func (t *turn) migrate(rank int, f Found) {
	paused := f.State == hypervisor.CopyPaused
	switch {
	case t.rec.Phase == Moving && !paused:
		t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: f.Node})
	case t.rec.Phase == Shifting && paused:
		t.call(rank, hypervisor.Call{Verb: hypervisor.Unpause, Node: f.Node})
	default:
		call := hypervisor.Call{Verb: hypervisor.Migrate, VM: f.VM, Node: f.Node, To: t.rec.Members[rank].Next}
		if t.May(call) {
			t.call(rank, call)
		}
	}
}
