package ctxswitch

import (
	"cmp"
	"slices"

	"vjob/cluster"
)

// item is what is placed as one: a VM, or VMs that gather rules tie together.
type item struct {
	vms    []cluster.VMID
	need   cluster.Resources // in sum
	ruled  bool              // some rule names one of the VMs
	home   int               // node on which most of its memory is now, running or as an image; -1 for none
	whole  bool              // all of it runs at home: staying costs nothing
	choice int               // how many nodes its rules leave, for hardest first
}

// member is one VM as it is asked to be placed.
type member struct {
	vm   cluster.VMID
	need cluster.Resources
	node int // where it runs or its image lies; -1 for nowhere
	runs bool
}

// gather makes items of members: those that a gather rule names together, also
// through others, become one. The items come in order of their first members.
func gather(l *layout, members []member) []*item {
	at := make(map[cluster.VMID]int, len(members))
	leader := make([]int, len(members))
	for i, m := range members {
		at[m.vm], leader[i] = i, i
	}
	find := func(i int) int {
		for leader[i] != i {
			i = leader[i]
		}
		return i
	}
	for i, m := range members {
		for _, r := range l.rules[m.vm] {
			if r.Kind != gathers {
				continue
			}
			for _, other := range r.VMs {
				if j, ok := at[other]; ok {
					a, b := find(i), find(j)
					leader[max(a, b)] = min(a, b)
				}
			}
		}
	}
	groups := make([][]member, len(members))
	for i, m := range members {
		groups[find(i)] = append(groups[find(i)], m)
	}
	var items []*item
	for _, group := range groups {
		if len(group) > 0 {
			items = append(items, newItem(l, group))
		}
	}
	return items
}

func newItem(l *layout, group []member) *item {
	it := &item{home: -1, whole: true, choice: len(l.nodes), vms: make([]cluster.VMID, 0, len(group))}
	weight := map[int]cluster.MiB{}
	for _, m := range group {
		it.vms = append(it.vms, m.vm)
		it.need = it.need.Plus(m.need)
		it.ruled = it.ruled || len(l.rules[m.vm]) > 0
		for _, r := range l.rules[m.vm] {
			switch r.Kind {
			case fences:
				it.choice = min(it.choice, len(r.Nodes))
			case bans:
				it.choice = min(it.choice, len(l.nodes)-len(r.Nodes))
			default: // the others leave the choice of the first node free
			}
		}
		if m.node < 0 {
			continue
		}
		weight[m.node] += m.need.Memory + 1
		if it.home < 0 || weight[m.node] > weight[it.home] {
			it.home = m.node
		}
	}
	for _, m := range group {
		it.whole = it.whole && m.runs && m.node == it.home
	}
	return it
}

// order is a way to compare items; the first is placed first.
type order func(a, b *item) int

// hardest orders by how few nodes the rules leave, then by size in the scarce
// dimension, decreasing (first fit decreasing and its kin).
func hardest(scarce dimension) order {
	other := cpu + memory - scarce
	return func(a, b *item) int {
		return cmp.Or(
			cmp.Compare(a.choice, b.choice),
			-cmp.Compare(scarce.of(a.need), scarce.of(b.need)),
			-cmp.Compare(other.of(a.need), other.of(b.need)),
			a.vms[0].Compare(b.vms[0]),
		)
	}
}

// dearest orders by what it costs to move the item: by memory, decreasing.
func dearest(a, b *item) int {
	return cmp.Or(-cmp.Compare(a.need.Memory, b.need.Memory), a.vms[0].Compare(b.vms[0]))
}

// foremost orders what stays before what comes, and the hardest first.
func foremost(scarce dimension) order {
	comes := func(it *item) int {
		if it.whole {
			return 0
		}
		return 1
	}
	within := hardest(scarce)
	return func(a, b *item) int {
		return cmp.Or(cmp.Compare(comes(a), comes(b)), within(a, b))
	}
}

// sorted is the items in an order; the argument is left alone.
func sorted(items []*item, by order) []*item {
	list := slices.Clone(items)
	slices.SortFunc(list, by)
	return list
}
