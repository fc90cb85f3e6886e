package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// offer is a node for a VM.
type offer struct {
	node int
	cost int64 // of the action, its wait and soft rules
	room int64 // what is left on the node then; little is good
}

func (a offer) less(b offer) bool {
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.room, b.room), cmp.Compare(a.node, b.node)) < 0
}

// enough is how many nodes that can take a VM at once are compared.
const enough = 48

// insert gives the VM the best node that it finds, or leaves it nowhere.
func (s *search) insert(vm int) bool {
	best := offer{node: repack.Nowhere, cost: 1 << 62}
	if h := s.Home[vm]; h != repack.Nowhere {
		if o, ok := s.fittingOffer(vm, h); ok {
			best = o
		}
	}
	for _, n := range s.RackNodes(vm) {
		if s.Fits(vm, n) {
			if o, ok := s.bid(vm, n); ok && o.less(best) {
				best = o
			}
		}
	}
	found, at := 0, s.turn
	for range s.OpenNodes {
		if at == len(s.OpenNodes) {
			at = 0
		}
		n := s.OpenNodes[at]
		at++
		if n == s.Home[vm] || !s.Fits(vm, n) {
			continue
		}
		o, ok := s.bid(vm, n)
		if !ok {
			continue
		}
		if o.less(best) {
			best = o
		}
		if s.Congestion == nil && o.cost == s.AwayCost[vm] || s.Congestion != nil && s.FitsAtPeak(vm, n) {
			if found++; found == enough {
				s.turn = at - 1
				break
			}
		}
	}
	if best.node == repack.Nowhere {
		return false
	}
	s.Move(vm, best.node)
	return true
}

// fittingOffer is what it takes to have the VM, which is nowhere, on a node. Not ok: it
// has no room there, or a hard rule is against it.
func (s *search) fittingOffer(vm, node int) (offer, bool) {
	if !s.Fits(vm, node) {
		return offer{}, false
	}
	return s.bid(vm, node)
}

// bid is the offer of a node on which the VM has room.
func (s *search) bid(vm, node int) (offer, bool) {
	if !s.MayEnd(vm, node) {
		return offer{}, false
	}
	breaches, penalty := s.Delta(vm, repack.Nowhere, node)
	if breaches > 0 {
		return offer{}, false
	}
	return offer{node, s.PlaceCost(vm, node) + penalty + s.estimateWait(vm, node) + s.Congestion.Wait(vm, node), s.slack(vm, node)}, true
}

// estimateWait estimates how long the VM has to wait for its room on a node, weighted:
// until enough of those who leave have left.
func (s *search) estimateWait(vm, node int) int64 {
	if s.StaysAt(vm, node) {
		return 0
	}
	last := s.Ready(node)
	if s.FitsAtPeak(vm, node) {
		return s.WaitCost(vm) * int64(last)
	}
	gone := make([]int64, s.Dims)
	leaving := slices.Clone(s.Leaving[node])
	slices.SortFunc(leaving, func(a, b int) int { return cmp.Compare(s.DepartureTime[a], s.DepartureTime[b]) })
	for _, other := range leaving {
		last = max(last, s.DepartureTime[other])
		enough := true
		for d := range s.Dims {
			gone[d] += s.Now[other*s.Dims+d]
			need := s.Next[vm*s.Dims+d]
			if need > 0 && s.PeakLoad[node*s.Dims+d]+need-gone[d] > s.Room[node*s.Dims+d] {
				enough = false
			}
		}
		if enough {
			break
		}
	}
	return s.WaitCost(vm) * int64(max(1, last))
}

// slack is what is left on the node of what is scarce, in millionths of it.
func (s *search) slack(vm, node int) (sum int64) {
	for d := range s.Dims {
		if room := s.Room[node*s.Dims+d]; room > 0 {
			sum += (room - s.EndLoad[node*s.Dims+d] - s.Next[vm*s.Dims+d]) * s.Scarcity[d] / room
		}
	}
	return sum
}
