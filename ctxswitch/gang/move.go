package gang

import (
	"fmt"

	"vjob/hypervisor"
)

// migration is the turn of a gang with members that go to other nodes.
type migration struct{ *turn }

// moving takes members to their next nodes: a paused gang as a whole (Moving),
// or running members one by one where a lock prevents two writers (Shifting).
// After every call both nodes are looked at; no member continues before each has
// exactly one copy.
func (t migration) moving() {
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
		own := t.own(rank) // not empty: see noteEndings
		switch {
		case len(own) > 1:
			settled = false
			if !t.oneOf(rank, own) {
				return
			}
		case own[0].Job != hypervisor.JobNone:
			settled = false
			t.underWay(rank, own[0])
		case t.rec.Phase == Shifting && own[0].State == hypervisor.CopyPaused:
			settled = false
			if !t.leftBehind(rank, own[0]) {
				return
			}
		case own[0].Node == m.Next:
			m.Node, m.Next = m.Next, ""
			t.changed = true
			settled = settled && !s.More
		case m.Next == "":
			settled = settled && !s.More
		case t.Retreat != "" || s.Tries >= t.Limits.MaxTries:
			t.alarms = append(t.alarms, fmt.Sprintf("%s stays on %s: %s", own[0].VM, own[0].Node, t.why(rank)))
			m.Node, m.Next = own[0].Node, ""
			t.changed = true
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

// leftBehind deals with a copy that a live migration left paused: the other end
// may have run since then, and a guest that goes on here would go on from memory
// that is older than its disk. When the guest is known to have ended its work on
// the other end, the copy goes; otherwise the gang is lost, and false returned.
func (t migration) leftBehind(rank int, f Found) bool {
	if s := &t.Sights[rank]; s.Gone && s.Cause == hypervisor.CauseShutdown {
		t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: f.Node})
		return true
	}
	t.lose(fmt.Sprintf("%s was left paused on %s by a migration, and may have run elsewhere since", f.VM, f.Node))
	return false
}

func (t migration) why(rank int) string {
	if t.Retreat != "" {
		return t.Retreat
	}
	return fmt.Sprintf("migration to %s failed: %v", t.rec.Members[rank].Next, t.Sights[rank].Err)
}

// migrate moves one member. A gang that is moved while paused re-pauses a member
// that goes on by itself.
func (t migration) migrate(rank int, f Found) {
	if t.rec.Phase == Moving && f.State != hypervisor.CopyPaused {
		t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: f.Node})
		return
	}
	call := hypervisor.Call{Verb: hypervisor.Migrate, VM: f.VM, Node: f.Node, To: t.rec.Members[rank].Next}
	if t.May(call) {
		t.call(rank, call)
	}
}
