package balance

import (
	"fmt"
	"time"
)

// limits say which moves are possible.
type limits struct {
	c        *Cluster
	loads    *loads
	nodes    []occupied
	perNode  int           // moves of a round from or to a node; 0 is no limit
	stays    time.Duration // how long a VM does not return to a node
	overload float64       // part of its capacity by which the load of a destination may exceed it
}

// occupied is what is taken of one node.
type occupied struct {
	reserved Amounts
	moves    int // of this round, and in flight
}

func newLimits(s *Settings, c *Cluster, l *loads) limits {
	return limits{
		c: c, loads: l, nodes: make([]occupied, len(c.Nodes)),
		perNode: s.MaxPerNode, stays: s.Return, overload: s.Overload,
	}
}

// add adds the reservations of a unit to a node, or with sign -1 takes them away.
func (l *limits) add(i int, u *unit, sign int64) {
	n := &l.nodes[i]
	for r := range n.reserved {
		n.reserved[r] += sign * u.reserved[r]
	}
}

// join counts a move from or to a node.
func (l *limits) join(i int) { l.nodes[i].moves++ }

// refuses returns why a unit may not move to a node as VMs are placed now, or "" if it may; whether the move gains
// anything does not count.
func (l *limits) refuses(u *unit, to int) string {
	n := &l.c.Nodes[to]
	if n.Closed != "" {
		return n.Closed
	}
	if n.Leaving {
		return n.Name + " is being emptied"
	}
	if why := l.atLimit(to); why != "" {
		return why
	}
	if why := l.lacks(u, to); why != "" {
		return why
	}
	return l.forbids(u, to)
}

// atLimit returns why a node takes part in no further move of the round.
func (l *limits) atLimit(i int) string {
	if l.full(i) {
		return fmt.Sprintf("%s takes part in %d moves already, the limit of a round is %d", l.c.Nodes[i].Name, l.nodes[i].moves, l.perNode)
	}
	return ""
}

// full reports whether a node takes part in as many moves as it may.
func (l *limits) full(i int) bool { return l.perNode > 0 && l.nodes[i].moves >= l.perNode }

// allows reports whether the limit of moves of a node allows two moves with these ends.
func (l *limits) allows(ends ...int) bool {
	for _, i := range ends {
		more := 0
		for _, k := range ends {
			if k == i {
				more++
			}
		}
		if l.perNode > 0 && l.nodes[i].moves+more > l.perNode {
			return false
		}
	}
	return true
}

// lacks returns what a node lacks for a unit: its reservations have to fit, and no node may be over its capacity
// after a move.
func (l *limits) lacks(u *unit, to int) string {
	n, load := &l.nodes[to], &l.loads.nodes[to]
	for r, has := range l.c.Nodes[to].Capacity {
		kind := Resource(r)
		if sum := n.reserved[r] + u.reserved[r]; sum > has {
			return fmt.Sprintf("%s has no room: %s of %s would be reserved", l.c.Nodes[to].Name, percent(sum, has), kind)
		}
		if sum := load.entitlement[r] + u.entitlement[r]; l.loads.balances(kind) && sum > l.most(has) {
			return fmt.Sprintf("%s has no room: its %s load would be %s", l.c.Nodes[to].Name, kind, percent(sum, has))
		}
	}
	return ""
}

// hasRoom reports whether a node lacks nothing.
func (l *limits) hasRoom(u *unit, to int) bool {
	return l.fits(to, [2]Amounts{l.nodes[to].reserved.plus(u.reserved), l.loads.nodes[to].entitlement.plus(u.entitlement)})
}

// fits reports whether a node has room for reservations and entitlements: those of all that would be on it.
func (l *limits) fits(i int, sum [2]Amounts) bool {
	has := l.c.Nodes[i].Capacity
	if !sum[0].Within(has) {
		return false
	}
	for _, r := range l.loads.resources {
		if sum[1][r] > l.most(has[r]) {
			return false
		}
	}
	return true
}

// most is the largest load of a destination with a capacity.
func (l *limits) most(capacity int64) int64 { return capacity + int64(l.overload*float64(capacity)) }

// forbids returns which rule forbids a unit on a node.
func (l *limits) forbids(u *unit, to int) string {
	for _, vm := range u.vms {
		v := &l.c.VMs[vm]
		for _, left := range v.Left {
			if left.Node == to && left.Ago < l.stays {
				return fmt.Sprintf("%s left %s %s ago, and stays away for %s", v.Name, l.c.Nodes[to].Name, left.Ago.Round(time.Second), l.stays)
			}
		}
	}
	if l.c.Compatible != nil {
		return l.c.Compatible(u.vms, to)
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
