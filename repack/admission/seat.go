package admission

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
)

// An item stays where it is, or goes where it fits best.

// seatEnough is how many nodes without extra cost are compared.
const seatEnough = 64

// nearbyNodes is how many nodes before a node are near it: racks often have consecutive
// numbers.
const nearbyNodes = 2 * placement.BlockSize

// seatAll places every item. It returns the index of the item that found no place, or -1. The
// search begins near a node; VMs under rules that do more than keep them apart begin near the
// VMs before them.
func (t *search) seatAll(items []item, near int) (failed int) {
	return slices.IndexFunc(items, func(it item) bool {
		ok := t.seat(it, near)
		if vm := it.vms[0]; ok && slices.ContainsFunc(t.GuardsOfVM[vm], t.groups) {
			near = max(0, t.NodeOf[vm]-nearbyNodes)
		}
		return !ok
	})
}

// seat gives an item the place with the least cost of actions and soft rules, or of equal
// costs the one that leaves least room. An item stays where its VMs are unless soft rules are
// against it.
func (t *search) seat(it item, near int) bool {
	best := candidate{node: repack.Nowhere}
	var usual int64 // the cost on any other node, soft rules aside
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
	spare float64 // free scarce resources, or with leastStrain the strain
}

// better returns the better of a candidate and another node that has room.
func (t *search) better(best candidate, it item, n int) candidate {
	least, spare := t.moveCost(it, n), t.tieBreak(it, n)
	if best.node != repack.Nowhere && (least > best.cost || least == best.cost && spare >= best.spare) {
		return best // rules can only add cost
	}
	penalty, ok := t.rulePenalty(it, n)
	if cost := least + penalty; ok && (best.node == repack.Nowhere || cost < best.cost || cost == best.cost && spare < best.spare) {
		return candidate{n, cost, spare}
	}
	return best
}

// moveCost returns the cost of the actions that bring an item to a node.
func (t *search) moveCost(it item, n int) (sum int64) {
	for _, vm := range it.vms {
		sum += t.PlaceCost(vm, n)
	}
	return sum
}

// rulePenalty returns the penalty if an unplaced item goes to a node. It is not ok if a hard
// rule forbids that.
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

// tieBreak compares nodes of equal cost: less is better.
func (t *search) tieBreak(it item, n int) float64 {
	if t.leastStrain {
		return t.strain(it, n)
	}
	return t.weightedFree(n)
}

// weightedFree returns the free resources of a node, weighted by scarcity.
func (t *search) weightedFree(n int) (sum float64) {
	for d, dear := range t.resourceWorth {
		sum += dear * float64(t.Room[n*t.Dims+d]-t.EndLoad[n*t.Dims+d])
	}
	return sum
}
