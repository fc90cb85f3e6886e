package problem

import (
	"vjob/repack"
)

// How a network changes the durations of actions. Without a network they are as the VM says.

// Duration returns how long the action takes that makes a VM run on a node, on idle links.
// Nowhere means the best node other than the host.
func (m *Problem) Duration(vm, node int) repack.Ticks {
	v := &m.In.VMs[vm]
	if m.In.Network == nil || v.State != repack.Running && v.State != repack.Sleeping || v.Host == node {
		return v.DurationTo(node)
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

// IdleDuration returns how long an action takes on idle links; Forever if it never ends.
func (m *Problem) IdleDuration(vm int, kind repack.Kind, from, to int) repack.Ticks {
	t := m.In.Transfer(vm, kind, from, to)
	if t.Amount == 0 {
		return t.Base
	}
	return t.Lasts(m.MaxRate(from, to))
}

// MaxRate returns the highest rate that the links between two nodes allow.
func (m *Problem) MaxRate(from, to int) int64 {
	var buffer [4]repack.Link
	rate := int64(Never)
	for _, l := range m.In.AppendCrossed(buffer[:0], from, to) {
		rate = min(rate, m.In.Bandwidth(l))
	}
	return rate
}

// MinDuration returns the least time that a VM needs from its host to another node: no
// receiver makes the host send faster than it can.
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
	return t.Base // it never converges, or it is suspended on its way
}

// NeverConverges reports whether a VM writes faster than its host can send, so that no live
// migration ever ends, and may not be suspended either.
func (m *Problem) NeverConverges(vm int) bool {
	v := &m.In.VMs[vm]
	if m.In.Network == nil || !v.Keeps() || m.Suspendable(v) || v.Paused || v.Memory == 0 {
		return false
	}
	out := m.In.Bandwidth(repack.Out(v.Host))
	return out > 0 && out <= v.Dirty
}

// Converges reports whether a running VM can get to a node: live if every link on the way
// sends faster than the VM writes, otherwise suspended. Every bypass crosses the NICs of its
// host and of the node, and the uplinks of their racks.
func (m *Problem) Converges(vm, node int) bool {
	v := &m.In.VMs[vm]
	return m.In.Network == nil || v.Dirty == 0 || m.Suspendable(v) || m.IdleDuration(vm, repack.Migrate, v.Host, node) < repack.Forever
}

// RackNodes returns the open nodes in the rack of a VM's host, if racks have uplinks.
func (m *Problem) RackNodes(vm int) []int {
	if h := m.Home[vm]; h != repack.Nowhere && m.In.Nodes[h].Rack < len(m.racks) {
		return m.racks[m.In.Nodes[h].Rack]
	}
	return nil
}
