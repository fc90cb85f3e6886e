package nodepower

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
)

// wish switches a node, or asks for approval.
func (k *Policy) wish(now time.Time, id cluster.NodeID, want cycle.Want, why string) {
	if k.Propose == nil {
		k.Controller.Wish(now, id, want, why)
		return
	}
	k.Propose(id, want, why)
}

// Wanted reports whether a node is, or will be, as wanted.
func (k *Policy) Wanted(id cluster.NodeID, want cycle.Want) bool {
	r := k.Controller.Record(id)
	return r != nil && r.Want == want
}

// Objection returns why power management may not switch nodes any more; "" if it may. The view is what a decision
// would see now.
func (k *Policy) Objection(view func() *decide.Variant, nodes []cluster.NodeID, want cycle.Want) string {
	var list []string
	for _, id := range nodes {
		n, known := k.Exec.Node(id)
		r := k.switchable(id)
		switch {
		case !known || r == nil:
			list = append(list, fmt.Sprintf("%s is switched by a user", id))
		case n.State != cluster.Online || n.Silent:
			list = append(list, fmt.Sprintf("%s is out of use", id))
		case r.Want == want:
			list = append(list, fmt.Sprintf("%s shall be %s already", id, want))
		case r.Phase == cycle.Stuck:
			list = append(list, fmt.Sprintf("%s is left alone: %s", id, r.Reason))
		case want == cycle.WantOn && !k.Power.Affords(id):
			list = append(list, fmt.Sprintf("the power budgets do not leave the power for %s", id))
		}
	}
	on := slices.DeleteFunc(slices.Clone(nodes), func(id cluster.NodeID) bool { r := k.Controller.Record(id); return r == nil || r.Phase != cycle.On })
	if len(list) == 0 && want == cycle.WantOff && len(on) > 0 && !view().CanEmpty(on) {
		list = append(list, "their VMs have no other place")
	}
	return strings.Join(list, "; ")
}
