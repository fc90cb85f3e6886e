package problem

import (
	"cmp"
	"slices"
)

// eviction finds the cheapest VMs to remove from one node so that the others fit: branch and
// bound over its VMs, the most expensive first.
type eviction struct {
	*Problem
	items []Evictable
	over  []int64 // the least amount that must go, by dimension
	rest  []int64 // the sum of the items from each one on, by item and dimension
	taken []bool
	best  []bool
	least EvictionCost
	steps int
	exact bool
}

// Evictable is a VM that may be evicted, at a cost.
type Evictable struct {
	VM   int
	Cost int64
	Bulk int64 // how hard it is to place elsewhere
}

// EvictionCost is the cost of a choice. Of equal costs, the smaller bulk is easier to place
// elsewhere.
type EvictionCost struct{ Cost, Bulk int64 }

// Less reports whether the choice is better.
func (p EvictionCost) Less(q EvictionCost) bool {
	return cmp.Or(cmp.Compare(p.Cost, q.Cost), cmp.Compare(p.Bulk, q.Bulk)) < 0
}

func (p EvictionCost) plus(e Evictable) EvictionCost {
	return EvictionCost{p.Cost + e.Cost, p.Bulk + e.Bulk}
}

// evictSteps bounds the search on one node; the best choice so far is good by then.
const evictSteps = 50_000

// CheapestEviction returns the cheapest set of items without which a load fits into the room.
// It is exact if it is proved to be the cheapest, and not ok if even all items are not enough.
func (m *Problem) CheapestEviction(items []Evictable, load, room []int64) (set []int, cost int64, exact, ok bool) {
	e := eviction{Problem: m, items: items, over: make([]int64, m.Dims), exact: true}
	for d := range e.over {
		e.over[d] = load[d] - room[d]
	}
	slices.SortFunc(e.items, func(a, b Evictable) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Bulk, a.Bulk), cmp.Compare(a.VM, b.VM))
	})
	e.rest = make([]int64, (len(items)+1)*m.Dims)
	for i, item := range slices.Backward(items) {
		for d := range m.Dims {
			e.rest[i*m.Dims+d] = e.rest[(i+1)*m.Dims+d] + m.Next[item.VM*m.Dims+d]
		}
	}
	e.taken, e.least = make([]bool, len(items)), EvictionCost{1 << 62, 0}
	e.branch(0, EvictionCost{})
	if e.best == nil {
		return nil, 0, e.exact, false
	}
	for i := range items {
		if e.best[i] {
			set = append(set, items[i].VM)
		}
	}
	return set, e.least.Cost, e.exact, true
}

// branch decides on the items from i on. It first keeps the item, as it is one of the most
// expensive.
func (e *eviction) branch(i int, p EvictionCost) {
	if !p.Less(e.least) {
		return
	}
	if e.steps++; e.steps > evictSteps {
		e.exact = false
		if e.best != nil {
			return
		}
	}
	done := true
	for d := range e.over {
		if e.over[d] > 0 {
			done = false
			if e.over[d] > e.rest[i*e.Dims+d] {
				return
			}
		}
	}
	if done {
		e.best, e.least = slices.Clone(e.taken), p
		return
	}
	if i == len(e.items) {
		return
	}
	e.branch(i+1, p)
	vm := e.items[i].VM
	for d := range e.over {
		e.over[d] -= e.Next[vm*e.Dims+d]
	}
	e.taken[i] = true
	e.branch(i+1, p.plus(e.items[i]))
	e.taken[i] = false
	for d := range e.over {
		e.over[d] += e.Next[vm*e.Dims+d]
	}
}
