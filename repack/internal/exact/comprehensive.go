package exact

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// comprehensive reports whether a search leaves no plan out. It does so with VMs that change places in no
// time, with VMs that stay and both grow and shrink, and where a watch is stricter than its rule or
// VMs that end a migration together have more rules on time. To a node that is over its capacity from the
// start a VM may come at the instant at which another leaves, as long as the load does not rise; the search
// lets none come before the node is relieved.
func comprehensive(m *problem.Problem) bool {
	if len(m.In.Overloaded()) > 0 {
		return false
	}
	quick := 0
	for vm := range m.In.VMs {
		v := &m.In.VMs[vm]
		switch {
		case !v.Keeps():
		case v.Grows() && shrinks(v):
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

func shrinks(v *repack.VM) bool {
	for d := range v.Now {
		if v.Next[d] < v.Now[d] {
			return true
		}
	}
	return false
}
