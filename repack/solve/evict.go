package solve

import (
	"cmp"
	"slices"
)

// eviction is the search for the cheapest VMs to take away from one node so that
// the others fit: branch and bound over its VMs, dearest first.
type eviction struct {
	*Problem
	items []Evictable
	over  []int64 // what must go at least, by dimension
	rest  []int64 // what the items from each on have in all, dimension by dimension
	taken []bool
	best  []bool
	least evictionCost
	steps int
	exact bool
}

// Evictable is a VM that may be taken away, at a cost.
type Evictable struct {
	vm   int
	cost int64
	bulk int64 // how hard it is to find another place for
}

// evictionCost is what a choice costs; of two that cost the same, the less bulky one is
// easier to place elsewhere.
type evictionCost struct{ cost, bulk int64 }

func (p evictionCost) less(q evictionCost) bool {
	return cmp.Or(cmp.Compare(p.cost, q.cost), cmp.Compare(p.bulk, q.bulk)) < 0
}

func (p evictionCost) plus(e Evictable) evictionCost {
	return evictionCost{p.cost + e.cost, p.bulk + e.bulk}
}

// evictSteps bounds the search on one node; what is found by then is good.
const evictSteps = 50_000

// cheapestEviction is the cheapest set of the items without which a load fits in the
// room; exact: it is proved to be. Nil, false: not even all of them are enough.
func (m *Problem) cheapestEviction(items []Evictable, load, room []int64) (set []int, cost int64, exact, ok bool) {
	e := eviction{Problem: m, items: items, over: make([]int64, m.dims), exact: true}
	for d := range e.over {
		e.over[d] = load[d] - room[d]
	}
	slices.SortFunc(e.items, func(a, b Evictable) int {
		return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(b.bulk, a.bulk), cmp.Compare(a.vm, b.vm))
	})
	e.rest = make([]int64, (len(items)+1)*m.dims)
	for i, item := range slices.Backward(items) {
		for d := range m.dims {
			e.rest[i*m.dims+d] = e.rest[(i+1)*m.dims+d] + m.next[item.vm*m.dims+d]
		}
	}
	e.taken, e.least = make([]bool, len(items)), evictionCost{1 << 62, 0}
	e.branch(0, evictionCost{})
	if e.best == nil {
		return nil, 0, e.exact, false
	}
	for i := range items {
		if e.best[i] {
			set = append(set, items[i].vm)
		}
	}
	return set, e.least.cost, e.exact, true
}

// branch decides on the items from i on: first without the item, as it is one of
// the dearest.
func (e *eviction) branch(i int, p evictionCost) {
	if !p.less(e.least) {
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
			if e.over[d] > e.rest[i*e.dims+d] {
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
	vm := e.items[i].vm
	for d := range e.over {
		e.over[d] -= e.next[vm*e.dims+d]
	}
	e.taken[i] = true
	e.branch(i+1, p.plus(e.items[i]))
	e.taken[i] = false
	for d := range e.over {
		e.over[d] += e.next[vm*e.dims+d]
	}
}
