package placement

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// NodePower says which nodes a placement switches on and off.
type NodePower struct{ On, Off []bool }

// NodePower returns the nodes that must be switched and those that need to be: a node without
// a wanted state comes on if a VM ends or sleeps on it, and goes off if a rule limits the
// number of nodes that are on.
func (s *State) NodePower() NodePower {
	p := NodePower{On: make([]bool, len(s.In.Nodes)), Off: make([]bool, len(s.In.Nodes))}
	for n := range s.In.Nodes {
		node := &s.In.Nodes[n]
		p.On[n] = node.State == repack.Offline && (node.Want == repack.Online || node.Want == repack.AnyState && s.used(n))
		p.Off[n] = node.State == repack.Online && node.Want == repack.Offline
	}
	for _, l := range s.Limits {
		s.switchOff(l, &p)
	}
	return p
}

// used reports whether a VM ends on the node, running or asleep.
func (s *State) used(n int) bool { return len(s.VMsOn.At(n)) > 0 || s.KeepsImage[n] }

// switchOff switches off nodes that are empty and may go off, until a limit is met.
func (s *State) switchOff(l problem.OnlineLimit, p *NodePower) {
	lit := 0
	for _, n := range l.Nodes {
		if s.onAtEnd(n, p) {
			lit++
		}
	}
	for _, n := range l.Nodes {
		if lit <= l.Most {
			return
		}
		if s.onAtEnd(n, p) && s.In.Nodes[n].Want == repack.AnyState && !s.used(n) && s.In.Nodes[n].State == repack.Online {
			p.Off[n] = true
			lit--
		}
	}
}

// onAtEnd reports whether a node is on at the end.
func (s *State) onAtEnd(n int, p *NodePower) bool {
	return p.On[n] || s.In.Nodes[n].State == repack.Online && !p.Off[n]
}
