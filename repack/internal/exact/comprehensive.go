package exact

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// comprehensive reports whether a search leaves no plan out. It does so with VMs that change places in no
// time; with VMs that stay and both grow and shrink; where soft rules look at whole plans, with VMs that stay
// and grow, and with nodes that may be switched just for such a rule; where
// a watch is stricter than its rule, more nodes are on at first than may be, or VMs that end a migration
// together have more rules on time; and where a node is over its capacity at first, unless it may remain so.
func (e *search) comprehensive() bool {
	if e.slots { // tests/tiny has found better plans in rare cases
		return false
	}
	if !e.loose && len(e.In.Overloaded()) > 0 {
		return false
	}
	m := e.Problem
	if slices.ContainsFunc(m.Limits, func(l problem.OnlineLimit) bool { return l.Always && online(m, l.Nodes) > l.Most }) {
		return false
	}
	if e.Uncounted && slices.ContainsFunc(m.In.Nodes, func(n repack.Node) bool { return n.Want == repack.AnyState }) {
		return false
	}
	quick := 0
	for vm := range m.In.VMs {
		v := &m.In.VMs[vm]
		switch {
		case !v.Keeps():
		case v.Grows() && (shrinks(v) || e.Uncounted):
			return false
		case v.Takes.Migrate == 0:
			quick++
		}
	}
	if quick > 1 {
		return false
	}
	for i := range m.Watches {
		if l, ok := m.Watches[i].Rule.(problem.Lenient); ok && !l.Lenient(m.In) {
			return false
		}
	}
	sets := make([]int, len(m.In.VMs)) // that join each VM with others
	for i := range m.SyncSets {
		for _, vm := range m.SyncSets[i].VMs {
			sets[vm]++
		}
	}
	for i := range m.SyncSets {
		for _, vm := range m.SyncSets[i].VMs {
			d, due := m.Deadlines[vm]
			if m.SyncSets[i].AtEnd && (sets[vm] > 1 || len(m.GatesOf[vm]) > 0 || due && d.Start < repack.Forever) {
				return false
			}
		}
	}
	return true
}

// online counts the nodes that are on at first.
func online(m *problem.Problem, nodes []int) (count int) {
	for _, n := range nodes {
		count += b(m.In.Nodes[n].State == repack.Online)
	}
	return count
}

func shrinks(v *repack.VM) bool {
	for d := range v.Now {
		if v.Next[d] < v.Now[d] {
			return true
		}
	}
	return false
}
