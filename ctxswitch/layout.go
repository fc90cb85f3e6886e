package ctxswitch

import (
	"maps"
	"slices"

	"vjob/cluster"
)

// layout is a packing in the making: the room that each node has left while
// items are given nodes one by one. Nodes are numbered in order of their names.
type layout struct {
	nodes  []cluster.Node
	number map[cluster.NodeID]int
	free   []cluster.Resources
	// most is the index by free room: the largest free CPU and the largest free
	// memory in each block of nodes that take VMs. What does not fit in it fits on
	// no node of the block.
	most   []cluster.Resources
	items  [][]*item // on each node, in order of arrival
	place  map[cluster.VMID]int
	rules  map[cluster.VMID][]*packRule
	host   func(cluster.VMID) (cluster.NodeID, bool) // for Rule.Allows
	closed int                                       // a node that is left aside for the moment, -1 for none
	// scarce is the dimension of which the VMs ask for the larger part of the
	// cluster: it is the one that packing must not waste.
	scarce dimension
}

// block is how many nodes share an entry of the index.
const block = 32

// dimension is one of the resources.
type dimension uint8

const (
	cpu dimension = iota
	memory
	dimensions
)

// of is the amount of the resource, in its own unit.
func (d dimension) of(r cluster.Resources) int64 {
	if d == cpu {
		return int64(r.CPU)
	}
	return int64(r.Memory)
}

// fits reports whether the need is met by what is free. What is not needed need
// not be there: a VM without CPU need does not mind an overload of CPU.
func fits(need, free cluster.Resources) bool {
	return (need.CPU == 0 || need.CPU <= free.CPU) && (need.Memory == 0 || need.Memory <= free.Memory)
}

// newLayout has all nodes with the room that claims leave, and no VMs.
func newLayout(nodes []cluster.Node, claims map[cluster.NodeID]cluster.Resources, rules []packRule) *layout {
	l := &layout{
		nodes:  nodes,
		number: make(map[cluster.NodeID]int, len(nodes)),
		free:   make([]cluster.Resources, len(nodes)),
		most:   make([]cluster.Resources, (len(nodes)+block-1)/block),
		items:  make([][]*item, len(nodes)),
		place:  map[cluster.VMID]int{},
		rules:  map[cluster.VMID][]*packRule{},
		closed: -1,
	}
	for i, n := range nodes {
		l.number[n.ID] = i
		l.free[i] = n.Capacity.Minus(claims[n.ID])
	}
	for b := range l.most {
		l.index(b * block)
	}
	for i := range rules {
		for _, vm := range rules[i].VMs {
			l.rules[vm] = append(l.rules[vm], &rules[i])
		}
	}
	l.lookUp()
	return l
}

// lookUp binds the host function to this layout and not to the one it was
// copied from.
func (l *layout) lookUp() {
	l.host = func(vm cluster.VMID) (cluster.NodeID, bool) {
		if n, ok := l.place[vm]; ok {
			return l.nodes[n].ID, true
		}
		return "", false
	}
}

// clone copies what placing changes.
func (l *layout) clone() *layout {
	c := *l
	c.free, c.most, c.items = slices.Clone(l.free), slices.Clone(l.most), slices.Clone(l.items)
	c.place = maps.Clone(l.place)
	for i := range c.items {
		c.items[i] = slices.Clip(c.items[i]) // an append copies
	}
	c.lookUp()
	return &c
}

// index brings the entry of the block of node n up to date.
func (l *layout) index(n int) {
	var most cluster.Resources
	from := n / block * block
	for i := from; i < min(from+block, len(l.nodes)); i++ {
		if l.nodes[i].Hosts() {
			most.CPU, most.Memory = max(most.CPU, l.free[i].CPU), max(most.Memory, l.free[i].Memory)
		}
	}
	l.most[n/block] = most
}

// pin places a VM that is not to be moved by any search.
func (l *layout) pin(vm cluster.VMID, need cluster.Resources, n int) {
	l.place[vm] = n
	l.free[n] = l.free[n].Minus(need)
	l.index(n)
}

// put places an item, whether it fits or not.
func (l *layout) put(it *item, n int) {
	for _, vm := range it.vms {
		l.place[vm] = n
	}
	l.items[n] = append(l.items[n], it)
	l.free[n] = l.free[n].Minus(it.need)
	l.index(n)
}

// lift takes an item from its node.
func (l *layout) lift(it *item) {
	n := l.place[it.vms[0]]
	for _, vm := range it.vms {
		delete(l.place, vm)
	}
	at := slices.Index(l.items[n], it)
	l.items[n] = slices.Concat(l.items[n][:at], l.items[n][at+1:])
	l.free[n] = l.free[n].Plus(it.need)
	l.index(n)
}

// admits reports whether the item may arrive at node n: the node takes VMs, has
// the room, and no rule is against it.
func (l *layout) admits(it *item, n int) bool {
	return l.nodes[n].Hosts() && n != l.closed && fits(it.need, l.free[n]) && l.forbids(it, n) == nil
}

// keeps reports whether the item may stay on node n, which need not take VMs
// any more.
func (l *layout) keeps(it *item, n int) bool {
	state := l.nodes[n].State
	return (state == cluster.Online || state == cluster.Draining) &&
		fits(it.need, l.free[n]) && l.forbids(it, n) == nil
}

// forbids is a rule that keeps the item off node n, or nil.
func (l *layout) forbids(it *item, n int) *packRule {
	if !it.ruled {
		return nil
	}
	for _, vm := range it.vms { // as if all were there, so that they see each other
		l.place[vm] = n
	}
	defer func() {
		for _, vm := range it.vms {
			delete(l.place, vm)
		}
	}()
	for _, vm := range it.vms {
		for _, r := range l.rules[vm] {
			if !r.Allows(vm, l.nodes[n].ID, l.host) {
				return r
			}
		}
	}
	return nil
}

// bestFit is the node on which the item leaves the least room in the scarce
// dimension, then in the other; -1 when none admits it.
func (l *layout) bestFit(it *item) int {
	best, least, second := -1, int64(0), int64(0)
	other := cpu + memory - l.scarce
	for b, most := range l.most {
		if !fits(it.need, most) {
			continue
		}
		for n := b * block; n < min((b+1)*block, len(l.nodes)); n++ {
			if !fits(it.need, l.free[n]) {
				continue
			}
			s, o := l.scarce.of(l.free[n]), other.of(l.free[n])
			if best >= 0 && (s > least || s == least && o >= second) {
				continue
			}
			if l.admits(it, n) {
				best, least, second = n, s, o
			}
		}
	}
	return best
}

// total is the free room of all nodes that take VMs; an overloaded node does not
// use up what others have.
func (l *layout) total() cluster.Resources {
	var sum cluster.Resources
	for i, n := range l.nodes {
		if n.Hosts() {
			sum.CPU += max(0, l.free[i].CPU)
			sum.Memory += max(0, l.free[i].Memory)
		}
	}
	return sum
}

// capacity is what all nodes that take VMs could give if they were empty.
func (l *layout) capacity() cluster.Resources {
	var sum cluster.Resources
	for _, n := range l.nodes {
		if n.Hosts() {
			sum = sum.Plus(n.Capacity)
		}
	}
	return sum
}
