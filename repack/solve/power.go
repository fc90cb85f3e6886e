package solve

import "vjob/repack"

// nodePower says which nodes a placement has switched.
type nodePower struct{ on, off []bool }

// nodePower are the nodes that must be switched, and those that need be: nodes with
// no wish of their own come on if a VM ends there, awake or asleep, and go off if a rule
// limits how many may be on.
func (s *State) nodePower() nodePower {
	p := nodePower{on: make([]bool, len(s.in.Nodes)), off: make([]bool, len(s.in.Nodes))}
	for n := range s.in.Nodes {
		node := &s.in.Nodes[n]
		p.on[n] = node.State == repack.Offline && (node.Want == repack.Online || node.Want == repack.AnyState && s.used(n))
		p.off[n] = node.State == repack.Online && node.Want == repack.Offline
	}
	for _, l := range s.limits {
		s.switchOff(l, &p)
	}
	return p
}

// used reports whether a VM ends on the node, awake or asleep.
func (s *State) used(n int) bool { return len(s.vmsOn[n]) > 0 || s.keepsImage[n] }

// switchOff switches off nodes that are empty and may be, until a limit is kept.
func (s *State) switchOff(l limit, p *nodePower) {
	lit := 0
	for _, n := range l.nodes {
		if s.onAtEnd(n, p) {
			lit++
		}
	}
	for _, n := range l.nodes {
		if lit <= l.most {
			return
		}
		if s.onAtEnd(n, p) && s.in.Nodes[n].Want == repack.AnyState && !s.used(n) && s.in.Nodes[n].State == repack.Online {
			p.off[n] = true
			lit--
		}
	}
}

// onAtEnd reports whether a node is on at the end.
func (s *State) onAtEnd(n int, p *nodePower) bool {
	return p.on[n] || s.in.Nodes[n].State == repack.Online && !p.off[n]
}
