package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// How a trial makes room: by moving those who were taken before, as long as there is
// effort left.

// A gang may use up a share of the effort that is left, but no less than a little.
const (
	shares      = 16
	crumb       = 16
	effortNodes = 1024 // for each so many nodes it takes as much
)

// spend takes so much from the effort and reports whether it was there.
func (t *Trial) spend(work int) bool {
	work *= 1 + len(t.in.Nodes)/effortNodes
	if t.share < work || t.effort < work {
		return false
	}
	t.share, t.effort = t.share-work, t.effort-work
	return true
}

// rearrange looks for places for items that found none: where they strain rules least,
// elsewhere together, then by moving a few others, then by packing all anew. What it leaves behind when it fails
// is for the caller to take back.
func (t *Trial) rearrange(items []item) bool {
	t.share = min(t.effort, max(crumb, t.effort/shares))
	for _, try := range []func([]item) bool{t.sparingly, t.elsewhere, t.shove, t.packAnew} {
		if t.back(0); try(items) {
			return true
		}
	}
	return false
}

// packAnew gives everybody who was taken another place, those with the least choice
// first and then the bulky. It is worth half of the effort at most.
func (t *Trial) packAnew(items []item) bool {
	return t.packOnce(items) || t.sparing(func() bool { t.back(0); return t.packOnce(items) })
}

func (t *Trial) packOnce(items []item) bool {
	if t.effort <= 0 || t.hosted > t.effort/2 {
		return false
	}
	t.effort -= t.hosted
	list := slices.Concat(t.taken, items)
	for _, it := range t.taken {
		t.settle(it, repack.Nowhere)
	}
	choices, bulk := map[*nodeSet]int{}, make(map[int]int64, len(list))
	for _, it := range list {
		t.choice(choices, it)
		for _, vm := range it.vms {
			bulk[it.vms[0]] += t.bulk(vm)
		}
	}
	slices.SortFunc(list, func(a, b item) int {
		return cmp.Or(
			cmp.Compare(min(1, len(b.vms)-1), min(1, len(a.vms)-1)),
			cmp.Compare(t.choice(choices, a), t.choice(choices, b)),
			cmp.Compare(bulk[b.vms[0]], bulk[a.vms[0]]),
			cmp.Compare(a.vms[0], b.vms[0]),
		)
	})
	return t.seatAll(list, 0) < 0
}

// choice is how many nodes are left to the first VM of an item by rules on it alone.
func (t *Trial) choice(known map[*nodeSet]int, it item) int {
	set := t.final[it.vms[0]]
	if _, ok := known[set]; !ok {
		known[set] = 0
		set.eachOutside(len(t.in.Nodes), func(int) { known[set]++ })
	}
	return known[set]
}

// group is a set of nodes that a rule leaves to some VMs once one of them is there.
type group struct {
	guard int
	nodes []bool
}

// has reports whether a node is in the group, for a VM with these guards.
func (g *group) has(ofVM []int, n int) bool {
	return g != nil && g.nodes[n] && slices.Contains(ofVM, g.guard)
}

// mostRoamed is how many groups are tried without effort, as nobody moves for that,
// until somebody is taken.
const mostRoamed = 64

// elsewhere is for VMs that a rule holds inside one of several groups of nodes, such
// as a rack: if they do not fit into the group that the first of them has chosen, it
// is told to choose another, where there is much room.
func (t *Trial) elsewhere(items []item) bool {
	defer func() { t.outgrown = nil }()
	for ; ; t.roamed++ {
		failed := t.seatAll(items, t.roomiest())
		if failed < 0 {
			return true
		}
		if !t.outgrow(items, failed) || t.roamed >= mostRoamed && !t.spend(len(items)) {
			return false
		}
		t.back(0)
	}
}

// roomiest is a node in the block with the most room, of those not outgrown.
func (t *Trial) roomiest() (near int) {
	t.openings.refresh()
	most := 0.0
	for b := range t.openings.dirty {
		n, sum := b*blockSize, 0.0
		if t.outgrown != nil && t.outgrown.nodes[n] {
			continue
		}
		for d, dear := range t.dear {
			sum += dear * float64(t.openings.sums[b*t.dims+d])
		}
		if sum > most {
			near, most = n, sum
		}
	}
	return near
}

// outgrow adds the group in which an item has found no place to those that are too
// small. False: there is no such rule, or it leaves more than half of the nodes.
func (t *Trial) outgrow(items []item, failed int) bool {
	vm := items[failed].vms[0]
	for _, number := range t.ofVM[vm] {
		if !t.groups(number) || !t.begun(items[:failed], number) {
			continue
		}
		g := &t.guards[number]
		var nodes []int
		for _, n := range t.order {
			if g.Delta(vm, repack.Nowhere, n) <= 0 {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) == 0 || 2*len(nodes) > len(t.order) {
			continue
		}
		if t.outgrown == nil || t.outgrown.guard != number {
			t.outgrown = &group{number, make([]bool, len(t.in.Nodes))}
		}
		for _, n := range nodes {
			t.outgrown.nodes[n] = true
		}
		return true
	}
	return false
}

// begun reports whether a guard is about one of the items.
func (t *Trial) begun(items []item, number int) bool {
	return slices.ContainsFunc(items, func(it item) bool { return len(t.members(it.vms, number)) > 0 })
}

// shove is seatAll that moves others out of the way.
func (t *Trial) shove(items []item) bool {
	for _, it := range items {
		if !t.spend(1) || !t.seat(it, 0) && !t.displace(it, 0) && !t.displace(it, 1) {
			return false
		}
	}
	return true
}

// shoveNodes is on how many nodes room is made for one item.
const shoveNodes = 8

// displace makes room for an item that fits nowhere by moving others away from one
// node, and for those again up to some depth.
func (t *Trial) displace(it item, depth int) bool {
	before := len(t.held)
	t.held = append(t.held, it.vms...)
	defer func() { t.held = t.held[:before] }()
	for _, n := range t.closest(it) {
		mark := len(t.trail)
		if !t.spend(1) {
			return false
		}
		if t.takeOver(it, n) && t.settleAll(t.ousted(mark), depth) {
			return true
		}
		t.back(mark)
	}
	return false
}

// takeOver puts an item on a node and takes those away that are too many there.
func (t *Trial) takeOver(it item, n int) bool {
	broken := t.breaches
	t.settle(it, n)
	for t.breaches > broken {
		if !t.pick(n) {
			return false
		}
	}
	_, ok := t.relieve(n)
	return ok
}

// pick takes a VM away from a node, so that fewer hard rules are broken; of several
// the one that is easiest to place elsewhere.
func (t *Trial) pick(n int) bool {
	best, least := repack.Nowhere, price{}
	for _, e := range t.movable(n) {
		p := price{e.cost, e.bulk}
		if best != repack.Nowhere && (least.less(p) || p == least && best < e.vm) {
			continue
		}
		if breaches, _ := t.delta(e.vm, n, repack.Nowhere); breaches < 0 {
			best, least = e.vm, p
		}
	}
	if best == repack.Nowhere {
		return false
	}
	t.move(best, repack.Nowhere)
	return true
}

// settleAll finds places for VMs that had to go.
func (t *Trial) settleAll(vms []int, depth int) bool {
	for _, it := range t.items(vms) {
		if !t.spend(1) || !t.seat(it, 0) && (depth == 0 || !t.displace(it, depth-1)) {
			return false
		}
	}
	return true
}

// closest are the nodes that lack least to take an item.
func (t *Trial) closest(it item) []int {
	type lack struct {
		node int
		over float64
	}
	list := make([]lack, 0, shoveNodes+1)
	for n, takes := range t.openings.takes {
		if !takes || !within(it.need, t.room[n*t.dims:(n+1)*t.dims]) {
			continue
		}
		l := lack{n, t.lacking(it, n)}
		if len(list) == shoveNodes && l.over >= list[shoveNodes-1].over || !t.mayAll(it, n) {
			continue
		}
		if breaches, _ := t.delta(it.vms[0], repack.Nowhere, n); breaches > 0 {
			l.over += float64(breaches) / 10 // others would have to go for that
		}
		at, _ := slices.BinarySearchFunc(list, l, func(a, b lack) int {
			return cmp.Or(cmp.Compare(a.over, b.over), cmp.Compare(a.node, b.node))
		})
		list = slices.Insert(list, at, l)
		list = list[:min(len(list), shoveNodes)]
	}
	nodes := make([]int, len(list))
	for i, l := range list {
		nodes[i] = l.node
	}
	return nodes
}

// lacking is how much of an average node an item is short of on a node.
func (t *Trial) lacking(it item, n int) (sum float64) {
	for d, need := range it.need {
		if over := t.load[n*t.dims+d] + need - t.room[n*t.dims+d]; need > 0 && over > 0 {
			sum += float64(over) / float64(max(1, t.average[d]))
		}
	}
	return sum
}

// mayAll reports whether no rule on a VM alone keeps one of an item off a node.
func (t *Trial) mayAll(it item, n int) bool {
	return !slices.ContainsFunc(it.vms, func(vm int) bool { return !t.mayEnd(vm, n) })
}
