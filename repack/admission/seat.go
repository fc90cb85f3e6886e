package admission

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
)

// How a trial finds a place for an item: where it is, else the best fit.

// seatEnough is how many nodes are compared that can take an item at no extra cost.
const seatEnough = 64

// nearbyNodes is how many nodes before one are still near it: racks are often numbered in
// one piece.
const nearbyNodes = 2 * placement.BlockSize

// seatAll gives every item a place; the one that found none is returned, or -1. The
// search begins near a node; VMs that rules do not just keep apart begin near those
// before them.
func (t *search) seatAll(items []item, near int) (failed int) {
	return slices.IndexFunc(items, func(it item) bool {
		ok := t.seat(it, near)
		if vm := it.vms[0]; ok && slices.ContainsFunc(t.GuardsOfVM[vm], t.groups) {
			near = max(0, t.NodeOf[vm]-nearbyNodes)
		}
		return !ok
	})
}

// seat gives an item the place that costs least in actions and soft rules, or of
// those that cost the same the one that leaves least room. Where its VMs are it
// stays if soft rules are not against it.
func (t *search) seat(it item, near int) bool {
	best := candidate{node: repack.Nowhere}
	var usual int64 // what it costs on any other node, but for soft rules
	for _, vm := range it.vms {
		usual += t.AwayCost[vm]
	}
	for i, vm := range it.vms {
		if h := t.Home[vm]; h != repack.Nowhere && (i == 0 || h != t.Home[it.vms[i-1]]) && t.Holds(it.need, h) {
			best = t.better(best, it, h)
		}
	}
	if best.node == repack.Nowhere || best.cost > usual {
		found := 0
		t.Free.Each(it.need, near, func(n int) bool {
			if best = t.better(best, it, n); best.node != repack.Nowhere && best.cost <= usual {
				found++
			}
			return found < seatEnough
		})
	}
	if best.node == repack.Nowhere {
		return false
	}
	t.put(it, best.node)
	return true
}

// put puts an item on a node.
func (t *search) put(it item, n int) {
	for _, vm := range it.vms {
		t.Move(vm, n)
	}
}

// candidate is a node for an item.
type candidate struct {
	node  int
	cost  int64
	spare float64 // what is free there, of what is scarce; frugally, what it strains
}

// better is the better of a bid and that of another node, which has the room.
func (t *search) better(best candidate, it item, n int) candidate {
	least, spare := t.moveCost(it, n), t.tieBreak(it, n)
	if best.node != repack.Nowhere && (least > best.cost || least == best.cost && spare >= best.spare) {
		return best // whatever the rules say
	}
	penalty, ok := t.rulePenalty(it, n)
	if cost := least + penalty; ok && (best.node == repack.Nowhere || cost < best.cost || cost == best.cost && spare < best.spare) {
		return candidate{n, cost, spare}
	}
	return best
}

// moveCost is what the actions cost that bring an item to a node.
func (t *search) moveCost(it item, n int) (sum int64) {
	for _, vm := range it.vms {
		sum += t.PlaceCost(vm, n)
	}
	return sum
}

// rulePenalty is what soft rules cost if an item, which is nowhere, goes to a node. Not ok: a
// hard rule is against it.
func (t *search) rulePenalty(it item, n int) (penalty int64, ok bool) {
	if len(it.vms) == 1 {
		return t.rulePenaltyOf(it.vms[0], n)
	}
	mark := len(t.Moves)
	defer t.RollBack(mark)
	for _, vm := range it.vms {
		p, ok := t.rulePenaltyOf(vm, n)
		if !ok {
			return 0, false
		}
		penalty += p
		t.Move(vm, n)
	}
	return penalty, true
}

func (t *search) rulePenaltyOf(vm, n int) (penalty int64, ok bool) {
	if !t.MayEnd(vm, n) || !t.sameClass(vm, n) || t.excludedGroup.has(t.GuardsOfVM[vm], n) {
		return 0, false
	}
	breaches, penalty := t.Delta(vm, repack.Nowhere, n)
	return penalty, breaches <= 0
}

// tieBreak is by what nodes of the same cost are compared: less is better.
func (t *search) tieBreak(it item, n int) float64 {
	if t.leastStrain {
		return t.strain(it, n)
	}
	return t.weightedFree(n)
}

// weightedFree is what is free on a node, each resource by how scarce it is.
func (t *search) weightedFree(n int) (sum float64) {
	for d, dear := range t.resourceWorth {
		sum += dear * float64(t.Room[n*t.Dims+d]-t.EndLoad[n*t.Dims+d])
	}
	return sum
}
