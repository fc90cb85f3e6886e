package solve

import (
	"slices"

	"vjob/repack"
)

// How a trial finds a place for an item: where it is, else the best fit.

// seatEnough is how many nodes are compared that can take an item at no extra cost.
const seatEnough = 64

// vicinity is how many nodes before one are still near it: racks are often numbered in
// one piece.
const vicinity = 2 * blockSize

// seatAll gives every item a place; the one that found none is returned, or -1. The
// search begins near a node; VMs that rules do not just keep apart begin near those
// before them.
func (t *Trial) seatAll(items []item, near int) (failed int) {
	return slices.IndexFunc(items, func(it item) bool {
		ok := t.seat(it, near)
		if vm := it.vms[0]; ok && slices.ContainsFunc(t.ofVM[vm], t.groups) {
			near = max(0, t.at[vm]-vicinity)
		}
		return !ok
	})
}

// seat gives an item the place that costs least in actions and soft rules, or of
// those that cost the same the one that leaves least room. Where its VMs are it
// stays if soft rules are not against it.
func (t *Trial) seat(it item, near int) bool {
	best := bid{node: repack.Nowhere}
	var usual int64 // what it costs on any other node, but for soft rules
	for _, vm := range it.vms {
		usual += t.far[vm]
	}
	for i, vm := range it.vms {
		if h := t.home[vm]; h != repack.Nowhere && (i == 0 || h != t.home[it.vms[i-1]]) && t.holds(it.need, h) {
			best = t.better(best, it, h)
		}
	}
	if best.node == repack.Nowhere || best.cost > usual {
		found := 0
		t.openings.each(it.need, near, func(n int) bool {
			if best = t.better(best, it, n); best.node != repack.Nowhere && best.cost <= usual {
				found++
			}
			return found < seatEnough
		})
	}
	if best.node == repack.Nowhere {
		return false
	}
	t.settle(it, best.node)
	return true
}

// settle puts an item on a node.
func (t *Trial) settle(it item, n int) {
	for _, vm := range it.vms {
		t.move(vm, n)
	}
}

// bid is a node for an item.
type bid struct {
	node  int
	cost  int64
	spare float64 // what is free there, of what is scarce; frugally, what it strains
}

// better is the better of a bid and that of another node, which has the room.
func (t *Trial) better(best bid, it item, n int) bid {
	least, spare := t.fare(it, n), t.leaves(it, n)
	if best.node != repack.Nowhere && (least > best.cost || least == best.cost && spare >= best.spare) {
		return best // whatever the rules say
	}
	penalty, ok := t.toll(it, n)
	if cost := least + penalty; ok && (best.node == repack.Nowhere || cost < best.cost || cost == best.cost && spare < best.spare) {
		return bid{n, cost, spare}
	}
	return best
}

// fare is what the actions cost that bring an item to a node.
func (t *Trial) fare(it item, n int) (sum int64) {
	for _, vm := range it.vms {
		sum += t.model.cost(vm, n)
	}
	return sum
}

// toll is what soft rules cost if an item, which is nowhere, goes to a node. Not ok: a
// hard rule is against it.
func (t *Trial) toll(it item, n int) (penalty int64, ok bool) {
	if len(it.vms) == 1 {
		return t.tollOne(it.vms[0], n)
	}
	mark := len(t.trail)
	defer t.back(mark)
	for _, vm := range it.vms {
		p, ok := t.tollOne(vm, n)
		if !ok {
			return 0, false
		}
		penalty += p
		t.move(vm, n)
	}
	return penalty, true
}

func (t *Trial) tollOne(vm, n int) (penalty int64, ok bool) {
	if !t.mayEnd(vm, n) || !t.mixes(vm, n) || t.outgrown.has(t.ofVM[vm], n) {
		return 0, false
	}
	breaches, penalty := t.delta(vm, repack.Nowhere, n)
	return penalty, breaches <= 0
}

// leaves is by what nodes of the same cost are compared: less is better.
func (t *Trial) leaves(it item, n int) float64 {
	if t.frugal {
		return t.strain(it, n)
	}
	return t.spare(n)
}

// spare is what is free on a node, each resource by how scarce it is.
func (t *Trial) spare(n int) (sum float64) {
	for d, dear := range t.dear {
		sum += dear * float64(t.room[n*t.dims+d]-t.load[n*t.dims+d])
	}
	return sum
}
