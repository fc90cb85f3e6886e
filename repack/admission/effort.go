package admission

import (
	"cmp"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Making room: VMs taken before are moved, as long as there is effort left.

// A gang may use a share of the remaining effort, but at least minShare.
const (
	shares      = 16
	minShare    = 16
	effortNodes = 1024 // searches cost one unit more for each so many nodes
)

// spendEffort takes work from the effort and reports whether there was enough.
func (t *search) spendEffort(work int) bool {
	work *= 1 + len(t.In.Nodes)/effortNodes
	if t.share < work || t.effort < work {
		return false
	}
	t.share, t.effort = t.share-work, t.effort-work
	return true
}

// rearranger finds places for items that found none, in other ways than one after the other.
type rearranger struct{ *search }

// rearrange looks for places for items that found none, unless patterns prove that they do not exist: with least strain on rules, then in
// another group of nodes, then by moving a few VMs, then by packing all anew. If it fails, the
// caller must roll back.
func (t rearranger) rearrange(items []item) bool {
	t.share = min(t.effort, max(minShare, t.effort/shares))
	patterns := t.patterns(items)
	if patterns != nil && patterns.Relax().Impossible {
		return false
	}
	packByPatterns := func(items []item) bool { return patterns != nil && t.packByPatterns(patterns, items) }
	for _, try := range []func([]item) bool{t.seatLeastStrain, t.otherGroups, t.displaceOthers, packByPatterns, t.packAnew} {
		t.RollBack(0)
		if try(items) {
			return true
		}
	}
	return false
}

// packAnew gives all VMs other places, those with the least choice first and then the largest.
// It costs at most half of the effort.
func (t rearranger) packAnew(items []item) bool {
	return t.packOnce(items) || t.withLeastStrain(func() bool { t.RollBack(0); return t.packOnce(items) })
}

func (t rearranger) packOnce(items []item) bool {
	if t.effort <= 0 || t.placedVMs > t.effort/2 {
		return false
	}
	t.effort -= t.placedVMs
	list := slices.Concat(t.placedItems, items)
	for _, it := range t.placedItems {
		t.put(it, repack.Nowhere)
	}
	choices, bulk := map[*problem.NodeSet]int{}, make(map[int]int64, len(list))
	for _, it := range list {
		t.choice(choices, it)
		for _, vm := range it.vms {
			bulk[it.vms[0]] += t.Bulk[vm]
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

// choice returns how many nodes the rules on the first VM of an item leave.
func (t rearranger) choice(known map[*problem.NodeSet]int, it item) int {
	set := t.Banned[it.vms[0]]
	if _, ok := known[set]; !ok {
		known[set] = 0
		set.EachOutside(len(t.In.Nodes), func(int) { known[set]++ })
	}
	return known[set]
}

// nodeGroup is the set of nodes that a rule leaves to some VMs once one of them is there.
type nodeGroup struct {
	guard int
	nodes []bool
}

// has reports whether a node is in the group, for a VM with these guards.
func (g *nodeGroup) has(ofVM []int, n int) bool {
	return g != nil && g.nodes[n] && slices.Contains(ofVM, g.guard)
}

// maxGroups bounds the groups tried without effort until VMs are taken; nothing moves for
// that.
const maxGroups = 64

// otherGroups is for VMs that a rule keeps inside one of several groups of nodes, such as a
// rack. If they do not fit into the group of the first of them, it tries other groups, those
// with much room first.
func (t rearranger) otherGroups(items []item) bool {
	defer func() { t.excludedGroup = nil }()
	for ; ; t.groupsTried++ {
		failed := t.seatAll(items, t.roomiestBlock())
		if failed < 0 {
			return true
		}
		if !t.excludeGroup(items, failed) || t.groupsTried >= maxGroups && !t.spendEffort(len(items)) {
			return false
		}
		t.RollBack(0)
	}
}

// roomiestBlock returns a node in the block with the most room, outside the excluded groups.
func (t rearranger) roomiestBlock() (near int) {
	t.Free.Refresh()
	most := 0.0
	for b := range t.Free.Dirty {
		n, sum := b*placement.BlockSize, 0.0
		if t.excludedGroup != nil && t.excludedGroup.nodes[n] {
			continue
		}
		for d, dear := range t.resourceWorth {
			sum += dear * float64(t.Free.SumFree[b*t.Dims+d])
		}
		if sum > most {
			near, most = n, sum
		}
	}
	return near
}

// excludeGroup excludes the group in which an item found no place. It returns false if there
// is no such rule, or the rule leaves more than half of the nodes.
func (t rearranger) excludeGroup(items []item, failed int) bool {
	vm := items[failed].vms[0]
	for _, number := range t.GuardsOfVM[vm] {
		if !t.groups(number) || !t.concernsAny(items[:failed], number) {
			continue
		}
		g := &t.Guards[number]
		var nodes []int
		for _, n := range t.OpenNodes {
			if g.Delta(vm, repack.Nowhere, n) <= 0 {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) == 0 || 2*len(nodes) > len(t.OpenNodes) {
			continue
		}
		if t.excludedGroup == nil || t.excludedGroup.guard != number {
			t.excludedGroup = &nodeGroup{number, make([]bool, len(t.In.Nodes))}
		}
		for _, n := range nodes {
			t.excludedGroup.nodes[n] = true
		}
		return true
	}
	return false
}

// concernsAny reports whether a guard concerns one of the items.
func (t rearranger) concernsAny(items []item, number int) bool {
	return slices.ContainsFunc(items, func(it item) bool { return len(t.members(it.vms, number)) > 0 })
}

// displaceOthers places items like seatAll, and moves others out of the way.
func (t rearranger) displaceOthers(items []item) bool {
	for _, it := range items {
		if !t.spendEffort(1) || !t.seat(it, 0) && !t.displace(it, 0) && !t.displace(it, 1) {
			return false
		}
	}
	return true
}

// displaceNodes bounds the nodes on which room is made for one item.
const displaceNodes = 8

// displace makes room for an item on one node by moving others away, and room for those in
// turn up to some depth.
func (t rearranger) displace(it item, depth int) bool {
	before := len(t.Kept)
	t.Kept = append(t.Kept, it.vms...)
	defer func() { t.Kept = t.Kept[:before] }()
	for _, n := range t.closest(it) {
		mark := len(t.Moves)
		if !t.spendEffort(1) {
			return false
		}
		if t.forceOn(it, n) && t.reseat(t.Displaced(mark), depth) {
			return true
		}
		t.RollBack(mark)
	}
	return false
}

// forceOn puts an item on a node and evicts the VMs that no longer fit there.
func (t rearranger) forceOn(it item, n int) bool {
	broken := t.Breaches
	t.put(it, n)
	for t.Breaches > broken {
		if !t.evictForRules(n) {
			return false
		}
	}
	_, ok := t.Evict(n)
	return ok
}

// evictForRules removes a VM from a node so that fewer hard rules are broken; of several the
// one that is easiest to place elsewhere.
func (t rearranger) evictForRules(n int) bool {
	best, least := repack.Nowhere, problem.EvictionCost{}
	for _, e := range t.Evictable(n) {
		p := problem.EvictionCost{Cost: e.Cost, Bulk: e.Bulk}
		if best != repack.Nowhere && (least.Less(p) || p == least && best < e.VM) {
			continue
		}
		if breaches, _ := t.Delta(e.VM, n, repack.Nowhere); breaches < 0 {
			best, least = e.VM, p
		}
	}
	if best == repack.Nowhere {
		return false
	}
	t.Move(best, repack.Nowhere)
	return true
}

// reseat finds places for displaced VMs.
func (t rearranger) reseat(vms []int, depth int) bool {
	for _, it := range t.items(vms) {
		if !t.spendEffort(1) || !t.seat(it, 0) && (depth == 0 || !t.displace(it, depth-1)) {
			return false
		}
	}
	return true
}

// closest returns the nodes that lack least to take an item.
func (t rearranger) closest(it item) []int {
	type lack struct {
		node int
		over float64
	}
	list := make([]lack, 0, displaceNodes+1)
	for n, takes := range t.Free.Accepts {
		if !takes || !placement.Within(it.need, t.Room[n*t.Dims:(n+1)*t.Dims]) {
			continue
		}
		l := lack{n, t.shortageOn(it, n)}
		if len(list) == displaceNodes && l.over >= list[displaceNodes-1].over || !t.mayAll(it, n) {
			continue
		}
		if breaches, _ := t.Delta(it.vms[0], repack.Nowhere, n); breaches > 0 {
			l.over += float64(breaches) / 10 // other VMs would have to go for that
		}
		at, _ := slices.BinarySearchFunc(list, l, func(a, b lack) int {
			return cmp.Or(cmp.Compare(a.over, b.over), cmp.Compare(a.node, b.node))
		})
		list = slices.Insert(list, at, l)
		list = list[:min(len(list), displaceNodes)]
	}
	nodes := make([]int, len(list))
	for i, l := range list {
		nodes[i] = l.node
	}
	return nodes
}

// shortageOn returns what a node lacks for an item, in parts of an average node.
func (t rearranger) shortageOn(it item, n int) (sum float64) {
	for d, need := range it.need {
		if over := t.EndLoad[n*t.Dims+d] + need - t.Room[n*t.Dims+d]; need > 0 && over > 0 {
			sum += float64(over) / float64(max(1, t.Average[d]))
		}
	}
	return sum
}

// mayAll reports whether rules on single VMs allow all of an item on a node.
func (t rearranger) mayAll(it item, n int) bool {
	return !slices.ContainsFunc(it.vms, func(vm int) bool { return !t.MayEnd(vm, n) })
}
