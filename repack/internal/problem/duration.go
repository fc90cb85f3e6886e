package problem

import (
	"vjob/repack"
)

// What a network makes of the time that actions take. Without one, it is what the
// VM says.

// Duration is how long the action takes that makes a VM run on a node, on links that
// carry nothing else; Nowhere is another node than its host, whichever is best.
func (m *Problem) Duration(vm, node int) repack.Ticks {
	v := &m.In.VMs[vm]
	if m.In.Network == nil || v.State != repack.Running && v.State != repack.Sleeping || v.Host == node {
		return v.On(node)
	}
	kind := repack.Migrate
	if v.State == repack.Sleeping {
		kind = repack.Resume
	}
	if node == repack.Nowhere {
		return m.MinDuration(vm, kind)
	}
	takes := m.IdleDuration(vm, kind, v.Host, node)
	if takes == repack.Forever { // it goes there asleep, or not at all
		return 2*v.Takes.Suspend + m.IdleDuration(vm, repack.Resume, v.Host, node)
	}
	return takes
}

// IdleDuration is how long an action takes on links that carry nothing else; Forever: it
// never ends.
func (m *Problem) IdleDuration(vm int, kind repack.Kind, from, to int) repack.Ticks {
	t := m.In.Transfer(vm, kind, from, to)
	if t.Amount == 0 {
		return t.Base
	}
	return t.Lasts(m.MaxRate(from, to))
}

// MaxRate is the rate that links can give at most from one node to another.
func (m *Problem) MaxRate(from, to int) int64 {
	var buffer [4]repack.Link
	rate := int64(Never)
	for _, l := range m.In.AppendCrossed(buffer[:0], from, to) {
		rate = min(rate, m.In.Bandwidth(l))
	}
	return rate
}

// MinDuration is a time that a VM needs at least to go from its host to another node:
// its host sends no faster than it can, whoever receives.
func (m *Problem) MinDuration(vm int, kind repack.Kind) repack.Ticks {
	v := &m.In.VMs[vm]
	there := repack.Nowhere
	if len(m.In.Nodes) > 1 {
		there = (v.Host + 1) % len(m.In.Nodes)
	}
	t := m.In.Transfer(vm, kind, v.Host, there)
	if t.Amount == 0 || m.In.Bandwidth(repack.Out(v.Host)) == 0 {
		return t.Base
	}
	if takes := t.Lasts(m.In.Bandwidth(repack.Out(v.Host))); takes < repack.Forever {
		return takes
	}
	return t.Base // it is moored, or sleeps on its way
}

// NeverConverges reports whether a VM writes faster than its host can send, so that no live
// migration ever ends, and may not sleep on its way either.
func (m *Problem) NeverConverges(vm int) bool {
	v := &m.In.VMs[vm]
	if m.In.Network == nil || !v.Keeps() || m.Suspendable(v) || v.Paused || v.Memory == 0 {
		return false
	}
	out := m.In.Bandwidth(repack.Out(v.Host))
	return out > 0 && out <= v.Dirty
}

// Converges reports whether a VM that runs can get to a node: live if every link on
// the way there can send faster than it writes, else asleep. No detour avoids the
// NICs of its host and of the node, nor the uplinks of their racks.
func (m *Problem) Converges(vm, node int) bool {
	v := &m.In.VMs[vm]
	return m.In.Network == nil || v.Dirty == 0 || m.Suspendable(v) || m.IdleDuration(vm, repack.Migrate, v.Host, node) < repack.Forever
}

// RackNodes are the open nodes in the rack of a VM's host, if that makes a difference.
func (m *Problem) RackNodes(vm int) []int {
	if h := m.Home[vm]; h != repack.Nowhere && m.In.Nodes[h].Rack < len(m.racks) {
		return m.racks[m.In.Nodes[h].Rack]
	}
	return nil
}
