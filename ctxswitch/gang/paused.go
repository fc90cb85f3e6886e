package gang

import (
	"fmt"

	"vjob/hypervisor"
)

// paused keeps a gang as the record says that stands still in memory: one paused copy
// of each member. Somebody else's hand, or a call that came late, may have let a member
// go on: it is paused again, since its room is given to others and its gang stands.
func (t *turn) paused() {
	for rank := range t.rec.Members {
		if !t.live(rank) || t.Sights[rank].Busy {
			continue
		}
		own := t.own(rank)
		switch {
		case len(own) > 1:
			if !t.oneOf(rank, own) {
				return
			}
		case own[0].Job != hypervisor.JobNone:
			t.underWay(rank, own[0])
		case own[0].State == hypervisor.CopyRunning:
			t.alarms = append(t.alarms, fmt.Sprintf("%s ran on %s although its gang stands still: it is paused again", own[0].VM, own[0].Node))
			t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: own[0].Node})
		case own[0].Node != t.rec.Members[rank].Node:
			t.rec.Members[rank].Node = own[0].Node // a migration that ended by itself
			t.moved = true
		}
	}
	t.discardUnused()
}

// stand makes the gang stay in memory as it stands there. What was written of it is
// unusable from the commit of this record on, as it is when a gang resumes.
func (t *turn) stand(cause string) {
	skew := t.rec.Skew
	t.rec.mark()
	t.enter(Paused, ThenNothing, cause)
	t.rec.Skew = skew
}

// unwritten reports whether no save of the present generation has been tried.
func (t *turn) unwritten() bool {
	for i := range t.rec.Members {
		if t.rec.Members[i].Save > 0 {
			return false
		}
	}
	return true
}
