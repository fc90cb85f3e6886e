package balance

import (
	"fmt"
	"time"
)

// refuses returns why a unit may not move to a node as VMs are placed now, or "" if it may; whether the move gains
// anything does not count.
func (st *state) refuses(u *unit, to int) string {
	n := &st.c.Nodes[to]
	if n.Closed != "" {
		return n.Closed
	}
	if n.Leaving {
		return n.Name + " is being emptied"
	}
	if why := st.atLimit(to); why != "" {
		return why
	}
	if why := st.lacks(u, to); why != "" {
		return why
	}
	return st.forbids(u, to)
}

// atLimit returns why a node takes part in no further move of the round.
func (st *state) atLimit(i int) string {
	if st.full(i) {
		return fmt.Sprintf("%s takes part in %d moves already, the limit of a round is %d", st.c.Nodes[i].Name, st.nodes[i].moves, st.MaxPerNode)
	}
	return ""
}

// full reports whether a node takes part in as many moves as it may.
func (st *state) full(i int) bool { return st.MaxPerNode > 0 && st.nodes[i].moves >= st.MaxPerNode }

// lacks returns what a node lacks for a unit: its reservations have to fit, and no node may be over its capacity
// after a move.
func (st *state) lacks(u *unit, to int) string {
	n := &st.nodes[to]
	for r, has := range st.c.Nodes[to].Capacity {
		kind := Resource(r)
		if sum := n.reserved[r] + u.reserved[r]; sum > has {
			return fmt.Sprintf("%s has no room: %s of %s would be reserved", st.c.Nodes[to].Name, percent(sum, has), kind)
		}
		if sum := n.entitlement[r] + u.entitlement[r]; st.balances(kind) && sum > st.most(has) {
			return fmt.Sprintf("%s has no room: its %s load would be %s", st.c.Nodes[to].Name, kind, percent(sum, has))
		}
	}
	return ""
}

// hasRoom reports whether a node lacks nothing.
func (st *state) hasRoom(u *unit, to int) bool {
	n := &st.nodes[to]
	return st.fits(to, [2]Amounts{n.reserved.plus(u.reserved), n.entitlement.plus(u.entitlement)})
}

// most is the largest load of a destination with a capacity.
func (st *state) most(capacity int64) int64 { return capacity + int64(st.Overload*float64(capacity)) }

func (st *state) balances(r Resource) bool { return st.average[r] > 0 && st.Weights[r] > 0 }

// forbids returns which rule forbids a unit on a node.
func (st *state) forbids(u *unit, to int) string {
	for _, vm := range u.vms {
		v := &st.c.VMs[vm]
		for _, left := range v.Left {
			if left.Node == to && left.Ago < st.Return {
				return fmt.Sprintf("%s left %s %s ago, and stays away for %s", v.Name, st.c.Nodes[to].Name, left.Ago.Round(time.Second), st.Return)
			}
		}
	}
	if st.c.Compatible != nil {
		return st.c.Compatible(u.vms, to)
	}
	return ""
}

// percent is a part of a whole as text.
func percent(part, whole int64) string {
	if whole == 0 {
		if part == 0 {
			return "0 %"
		}
		return "more than it has"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}
