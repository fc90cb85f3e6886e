package solve

import (
	"vjob/repack"
)

// What a network makes of the time that actions take. Without one, it is what the
// VM says.

// duration is how long the action takes that makes a VM run on a node, on links that
// carry nothing else; Nowhere is another node than its host, whichever is best.
func (m *Problem) duration(vm, node int) repack.Ticks {
	v := &m.in.VMs[vm]
	if m.in.Network == nil || v.State != repack.Running && v.State != repack.Sleeping || v.Host == node {
		return v.On(node)
	}
	kind := repack.Migrate
	if v.State == repack.Sleeping {
		kind = repack.Resume
	}
	if node == repack.Nowhere {
		return m.minDuration(vm, kind)
	}
	takes := m.idleDuration(vm, kind, v.Host, node)
	if takes == repack.Forever { // it goes there asleep, or not at all
		return 2*v.Takes.Suspend + m.idleDuration(vm, repack.Resume, v.Host, node)
	}
	return takes
}

// idleDuration is how long an action takes on links that carry nothing else; Forever: it
// never ends.
func (m *Problem) idleDuration(vm int, kind repack.Kind, from, to int) repack.Ticks {
	t := m.in.Transfer(vm, kind, from, to)
	if t.Amount == 0 {
		return t.Base
	}
	return t.Lasts(m.maxRate(from, to))
}

// maxRate is the rate that links can give at most from one node to another.
func (m *Problem) maxRate(from, to int) int64 {
	var buffer [4]repack.Link
	rate := int64(Never)
	for _, l := range m.in.AppendCrossed(buffer[:0], from, to) {
		rate = min(rate, m.in.Bandwidth(l))
	}
	return rate
}

// minDuration is a time that a VM needs at least to go from its host to another node:
// its host sends no faster than it can, whoever receives.
func (m *Problem) minDuration(vm int, kind repack.Kind) repack.Ticks {
	v := &m.in.VMs[vm]
	there := repack.Nowhere
	if len(m.in.Nodes) > 1 {
		there = (v.Host + 1) % len(m.in.Nodes)
	}
	t := m.in.Transfer(vm, kind, v.Host, there)
	if t.Amount == 0 || m.in.Bandwidth(repack.Out(v.Host)) == 0 {
		return t.Base
	}
	if takes := t.Lasts(m.in.Bandwidth(repack.Out(v.Host))); takes < repack.Forever {
		return takes
	}
	return t.Base // it is moored, or sleeps on its way
}

// neverConverges reports whether a VM writes faster than its host can send, so that no live
// migration ever ends, and may not sleep on its way either.
func (m *Problem) neverConverges(vm int) bool {
	v := &m.in.VMs[vm]
	if m.in.Network == nil || !v.Keeps() || m.suspendable(v) || v.Paused || v.Memory == 0 {
		return false
	}
	out := m.in.Bandwidth(repack.Out(v.Host))
	return out > 0 && out <= v.Dirty
}

// converges reports whether a VM that runs can get to a node: live if every link on
// the way there can send faster than it writes, else asleep. No detour avoids the
// NICs of its host and of the node, nor the uplinks of their racks.
func (m *Problem) converges(vm, node int) bool {
	v := &m.in.VMs[vm]
	return m.in.Network == nil || v.Dirty == 0 || m.suspendable(v) || m.idleDuration(vm, repack.Migrate, v.Host, node) < repack.Forever
}

// rackNodes are the open nodes in the rack of a VM's host, if that makes a difference.
func (m *Problem) rackNodes(vm int) []int {
	if h := m.home[vm]; h != repack.Nowhere && m.in.Nodes[h].Rack < len(m.racks) {
		return m.racks[m.in.Nodes[h].Rack]
	}
	return nil
}
