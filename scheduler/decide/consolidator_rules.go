package decide

import (
	"cmp"
	"slices"
)

// allowedMoves returns which moves the rules allow. The solver knows only what rules say of one VM
// and one node. Of the VMs that one soft rule concerns, or any rule if strict, only one may move,
// and only to where the rule holds while the others stay.
func (s *consolidator) allowedMoves(strict bool) func(vm, node int) bool {
	movers := s.movers(strict)
	return func(vm, node int) bool {
		id, to := s.vms[vm], s.nodes[node]
		if !s.allowed.Allows(id, to) {
			return false
		}
		group, tied := s.allowed.Group(id, strict)
		if tied && movers[group] != vm {
			return false
		}
		return !tied && !strict || s.allowed.Fits(id, to)
	}
}

// movers returns the VM of each rule group that may move, by group: the one on the node with the
// least work per watt, so that whole nodes become empty.
func (s *consolidator) movers(strict bool) map[int]int {
	loads := make([]float64, len(s.nodes))
	for i := range s.model.VMs {
		loads[s.model.VMs[i].Node] += s.model.VMs[i].Load
	}
	dear := func(n int) float64 {
		node := &s.model.Nodes[n]
		if node.MayTurnOff {
			return float64(node.Power.At(loads[n]/node.CPU)) / max(loads[n], 1)
		}
		return float64(node.Power.Full-node.Power.Idle) / node.CPU
	}
	order := make([]int, 0, len(s.vms))
	for i := range s.vms {
		if _, tied := s.allowed.Group(s.vms[i], strict); tied && !s.model.VMs[i].Fixed {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := s.model.VMs[a].Node, s.model.VMs[b].Node
		return cmp.Or(cmp.Compare(dear(y), dear(x)), cmp.Compare(x, y))
	})
	movers := map[int]int{}
	for _, i := range order {
		group, _ := s.allowed.Group(s.vms[i], strict)
		if _, chosen := movers[group]; !chosen {
			movers[group] = i
		}
	}
	return movers
}
