package ctxswitch

import "slices"

// seat gives the item a node: its home when that is wished and possible, where
// its image lies, else the best fit. As a last resort an item stays on a
// draining node that it could not leave.
func (l *layout) seat(it *item, stay bool) bool {
	if n := it.home; n >= 0 && (stay || !it.whole) && l.admits(it, n) {
		l.put(it, n)
		return true
	}
	if n := l.bestFit(it); n >= 0 {
		l.put(it, n)
		return true
	}
	return false
}

// remain leaves an item where it runs although the node drains.
func (l *layout) remain(it *item) bool {
	if it.whole && l.keeps(it, it.home) {
		l.put(it, it.home)
		return true
	}
	return false
}

// seatAll gives every item a node in the given order; the item that found none
// is returned.
func (l *layout) seatAll(items []*item, stay bool) (failed *item) {
	for _, it := range items {
		if !l.seat(it, stay) && !l.remain(it) {
			return it
		}
	}
	return nil
}

// squeeze is seatAll that stays, and displaces other items where it must.
func (l *layout) squeeze(items []*item) (failed *item) {
	for _, it := range items {
		if !l.seat(it, true) && !l.displace(it) && !l.remain(it) {
			return it
		}
	}
	return nil
}

// displacements is how many nodes are looked at to make room for one item.
const displacements = 16

// displace makes room for an item that fits nowhere by moving smaller ones from
// one node to others. The nodes are tried in order of what they lack; nothing
// changes when it fails.
func (l *layout) displace(it *item) bool {
	for _, n := range l.nearest(it, displacements) {
		if l.evict(it, n) {
			l.put(it, n)
			return true
		}
	}
	return false
}

// nearest lists the nodes on which only room stands in the way of the item,
// those that lack the least first.
func (l *layout) nearest(it *item, most int) []int {
	type candidate struct{ node, lack int64 }
	var list []candidate
	for n := range l.nodes {
		if l.nodes[n].Hosts() && len(l.items[n]) > 0 && it.need.Fits(l.nodes[n].Capacity) && l.forbids(it, n) == nil {
			list = append(list, candidate{int64(n), l.scarce.of(it.need) - l.scarce.of(l.free[n])})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return int(a.lack - b.lack) })
	nodes := make([]int, 0, min(most, len(list)))
	for _, c := range list[:min(most, len(list))] {
		nodes = append(nodes, int(c.node))
	}
	return nodes
}

// evict moves items from node n elsewhere, the cheapest to move first, until it
// has room for the item. Items of the same vjob or of one that comes before it
// may move as well: they still run.
func (l *layout) evict(it *item, n int) bool {
	type move struct {
		it *item
		to int
	}
	var moves []move
	victims := sorted(l.items[n], dearest)
	// The victims must not come back into the room that they leave.
	l.closed = n
	defer func() { l.closed = -1 }()
	for _, v := range slices.Backward(victims) {
		if fits(it.need, l.free[n]) {
			break
		}
		l.lift(v)
		to := l.bestFit(v)
		if to < 0 {
			l.put(v, n)
			continue
		}
		l.put(v, to)
		moves = append(moves, move{v, to})
	}
	if fits(it.need, l.free[n]) && l.forbids(it, n) == nil {
		return true
	}
	for _, m := range slices.Backward(moves) {
		l.lift(m.it)
		l.put(m.it, n)
	}
	return false
}
