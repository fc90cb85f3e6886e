package cycle

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// Order sets the target state of a node, and why. A stuck node starts over: it is empty, so it
// may be switched in either direction. It returns false if the target is unchanged.
func Order(r Record, want Want, by, reason string, now time.Time) (next Record, changed bool) {
	if r.Want == want && r.By == by && r.Phase != Stuck {
		return r, false
	}
	r.Want, r.By, r.Reason = want, by, reason
	if r.Phase == Stuck {
		r.Phase, r.Since, r.Attempt, r.RequestedAt = Starting, now, 0, time.Time{}
		if want == WantOff {
			r.Phase = Stopping
		}
	}
	return r, true
}

// Check returns an error if a stored record is invalid.
func (r *Record) Check() error {
	switch {
	case r.Node == "":
		return cluster.BadField("power.node", "", "a name")
	case r.Phase > Stuck:
		return cluster.BadField("power.phase", fmt.Sprint(uint8(r.Phase)), "a phase")
	case r.Attempt < 0:
		return cluster.BadField("power.attempt", r.Attempt, "0 or more")
	}
	return nil
}
