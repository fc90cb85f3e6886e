package decide

import (
	"slices"

	"vjob/cluster"
	"vjob/scheduler/balance"
	"vjob/scheduler/failover"
)

// placed returns the nodes with the VMs of a configuration.
func (f *failoverCheck) placed(c *cluster.Configuration) []failover.Node {
	list := f.empty()
	for i := range f.nodes {
		for _, vm := range c.On(f.nodes[i].ID) {
			if _, runs := c.Host(vm); runs {
				f.add(list, placedVM{vm, i})
			} else {
				f.pause(list, placedVM{vm, i})
			}
		}
	}
	return list
}

// move moves a VM from one node to another.
func (f *failoverCheck) move(list []failover.Node, m cluster.Move) {
	from, to, size := &list[f.index[m.From]], f.index[m.To], f.size(m.VM)
	if at := slices.Index(from.VMs, size); at >= 0 {
		from.VMs = slices.Delete(from.VMs, at, at+1)
		from.Free = from.Free.Plus(size)
	}
	f.add(list, placedVM{m.VM, to})
}

// takesFailover returns why moves of running VMs, after which some nodes go off, leave too little for the loss of nodes;
// "" if they leave enough, or if no node goes off and too little was left before.
func (r *relocation) takesFailover(moves []cluster.Move, off []cluster.NodeID) string {
	f := r.failover
	if f == nil {
		return ""
	}
	list := f.placed(r.trial.current)
	if before := failover.Check(list, r.settings.Failover); !before.Holds && len(off) == 0 {
		return ""
	}
	for _, m := range moves {
		f.move(list, m)
	}
	for _, id := range off {
		list[f.index[id]].Free = cluster.Resources{}
	}
	after := failover.Check(list, r.settings.Failover)
	if after.Holds {
		return ""
	}
	return "too little would be left for " + failover.Of(after.Nodes) + " (policy.failover): " + after.Why()
}

// mostFailoverRounds bounds how often a round is searched again because some of its moves are not possible.
const mostFailoverRounds = 4

// round searches for moves after which nodes can still be lost. Moves that would make that impossible are forbidden, and
// the search is repeated.
func (s *balancer) round() (r *balance.Round, err error) {
	if s.failover == nil {
		return s.Round(&s.model)
	}
	s.model.Compatible, s.model.Moved = s.compatible, s.noteMove
	for range mostFailoverRounds {
		clear(s.at)
		clear(s.away)
		if r, err = s.Round(&s.model); err != nil || !s.forbidMoves(r) {
			return r, err
		}
	}
	r.Why = "its moves would leave too little for " + failover.Of(s.settings.Failover) + " (policy.failover)"
	r.Moves, r.After = nil, r.Before
	return r, nil
}

// forbidMoves forbids the moves of a round that leave too little for the loss of nodes beside those before them, and
// reports whether there are any.
func (s *balancer) forbidMoves(r *balance.Round) (some bool) {
	f := s.failover
	list := f.placed(s.trial.current)
	held := failover.Check(list, s.settings.Failover).Holds
	for i := 0; i < len(r.Moves) && held; {
		end := i + 1
		for end < len(r.Moves) && r.Moves[i].Set != 0 && r.Moves[end].Set == r.Moves[i].Set {
			end++
		}
		s.moveAll(list, r.Moves[i:end], false)
		if !failover.Check(list, s.settings.Failover).Holds {
			s.moveAll(list, r.Moves[i:end], true)
			for _, m := range r.Moves[i:end] {
				s.forbidden[[2]int{m.VMs[0], m.To}] = true
			}
			some = true
		}
		i = end
	}
	return some
}

// moveAll carries moves of a round out, or takes them back.
func (s *balancer) moveAll(list []failover.Node, moves []balance.Move, back bool) {
	for i := range moves {
		m := cluster.Move{VM: s.vms[moves[i].VMs[0]], From: s.nodes[moves[i].From], To: s.nodes[moves[i].To]}
		if back {
			m.From, m.To = m.To, m.From
		}
		s.failover.move(list, m)
	}
}

// goOff returns the nodes that power management would switch off among those that become empty.
func (s *consolidator) goOff(nodes []cluster.NodeID) []cluster.NodeID {
	if s.NodePower == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(id cluster.NodeID) bool { return !s.NodePower.MayGoOff(id) })
}

// spare keeps so many of the nodes on that become empty that the others can make up for the loss of nodes, and reports
// whether there are any.
func (s *consolidator) spare(c *Consolidation) bool {
	if off := s.goOff(c.NodesOff); len(off) > 0 {
		for n, id := range slices.Backward(off) {
			s.model.Nodes[s.number[id]].MayTurnOff = false
			if s.takesFailover(c.Moves, off[:n]) == "" {
				break
			}
		}
		return true
	}
	return false
}
