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
	room int64 // what is left on the node then; less is better
}

func (a offer) less(b offer) bool {
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.room, b.room), cmp.Compare(a.node, b.node)) < 0
}

// enough is how many nodes that can take a VM at once are compared.
const enough = 48

// insert gives the VM the best node that it finds. It returns false if there is no such node.
func (s *search) insert(vm int) bool {
	best := offer{node: repack.Nowhere, cost: 1 << 62}
	if h := s.Home[vm]; h != repack.Nowhere {
		if o, ok := s.fittingOffer(vm, h); ok {
			best = o
		}
	}
	for _, n := range s.RackNodes(vm) {
		if s.Fits(vm, n) {
			if o, ok := s.offerOn(vm, n); ok && o.less(best) {
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
		o, ok := s.offerOn(vm, n)
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

// fittingOffer returns the offer of a node for an unplaced VM. It is not ok if the node lacks
// room, or a hard rule forbids it.
func (s *search) fittingOffer(vm, node int) (offer, bool) {
	if !s.Fits(vm, node) {
		return offer{}, false
	}
	return s.offerOn(vm, node)
}

// offerOn returns the offer of a node that has room for the VM.
func (s *search) offerOn(vm, node int) (offer, bool) {
	if !s.MayEnd(vm, node) {
		return offer{}, false
	}
	breaches, penalty := s.Delta(vm, repack.Nowhere, node)
	if breaches > 0 {
		return offer{}, false
	}
	return offer{node, s.PlaceCost(vm, node) + penalty + s.estimateWait(vm, node) + s.Congestion.Wait(vm, node), s.slack(vm, node)}, true
}

// estimateWait estimates how long the VM waits for room on a node, weighted: until enough
// departures have left.
func (s *search) estimateWait(vm, node int) int64 {
	if s.StaysAt(vm, node) {
		return 0
	}
	last := s.Ready(node)
	if s.FitsAtPeak(vm, node) {
		return s.WaitCost(vm) * int64(last)
	}
	gone := make([]int64, s.Dims)
	leaving := slices.Clone(s.Leaving.At(node))
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

// slack returns the scarce resources left on the node, in millionths.
func (s *search) slack(vm, node int) (sum int64) {
	for d := range s.Dims {
		if room := s.Room[node*s.Dims+d]; room > 0 {
			sum += (room - s.EndLoad[node*s.Dims+d] - s.Next[vm*s.Dims+d]) * s.Scarcity[d] / room
		}
	}
	return sum
}
