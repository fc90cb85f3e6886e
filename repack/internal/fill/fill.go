// Package fill places items on nodes that have hardly any room to spare, by nodes instead of by
// items: it chooses what a node holds in the end, then the next node.
//
// What all nodes leave free together is known from the start, so a node may leave no more than
// what is left of that, its slack. In a full cluster few fillings of a node pass. This is the
// search of bin completion (Korf: A new algorithm for optimal bin packing, AAAI 2002; Fukunaga,
// Korf: Bin completion algorithms for multicontainer packing, JAIR 28, 2007) in several dimensions,
// with homes that items leave at a cost.
//
// [Place] places everything, [Repack] finds the cheapest placement on a few nodes. An [Annealing] improves the placement of
// all items where a little room is left. All count their steps, so that the same numbers give the same placement.
package fill

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Nowhere is the node of an item that is on none.
const Nowhere = -1

// Fixed is the cost of items that do not leave their home.
const Fixed = 1 << 50

// Problem says what is to be placed where. Items and nodes are numbers.
type Problem struct {
	Dims  int
	Room  []int64 // by node and dimension
	Need  []int64 // by item and dimension
	Home  []int   // by item; Nowhere for none
	Cost  []int64 // by item: of being elsewhere than at home
	Items []int   // what is to be placed
	Nodes []int   // where
	May   func(item, node int) bool
	// Wait returns what it costs to wait until all of these items have room on a node.
	Wait func(node int, items []int) int64
}

// Placed is an item and the node that it gets.
type Placed struct{ Item, Node int }

// Place places all items. It closes most of the nodes one by one, each at the least cost, and
// the last ones by trying all ways; if that fails, it begins anew with another order. It returns
// nil after a number of steps.
func Place(p *Problem, rng *rand.Rand, steps int) []Placed {
	s := newSearch(p, rng, p.Items, p.Nodes)
	if !s.roomy() {
		return nil
	}
	s.limit = math.MaxInt64
	for s.steps = steps; s.steps > 0 && s.best == nil; {
		s.floor = 0
		s.orderNodes()
		s.close(0, 0)
	}
	return s.best
}

// Repack places the items that are on some nodes anew on these nodes, so that fewer costs
// arise. It returns nil if it finds nothing that costs at most as much within a number of steps.
func Repack(p *Problem, at []int, nodes []int, more int64, rng *rand.Rand, steps int) []Placed {
	var items []int
	for _, i := range p.Items {
		if slices.Contains(nodes, at[i]) {
			items = append(items, i)
		}
	}
	s := newSearch(p, rng, items, nodes)
	if !s.roomy() {
		return nil
	}
	s.all, s.steps, s.limit = true, steps, s.costOf(at)+1+more
	s.orderNodes()
	s.close(0, 0)
	return s.best
}

// How much is tried. Until the endgame, one filling of each node is: what it lacks costs
// nothing there, as many nodes are left.
const (
	endgame      = 7 // nodes of which several fillings are tried
	endgameSteps = 3_000_000
	window       = 80   // items from elsewhere that may come to a node
	additions    = 3    // how many of them do at most, before the endgame
	maxHome      = 12   // items at home of which all subsets are tried
	maxFillings  = 2000 // of one node
	fillingSteps = 300_000
)

// search closes nodes in an order. Closed nodes have their final items.
type search struct {
	*Problem
	rng   *rand.Rand
	all   bool // all fillings of all nodes are tried
	steps int
	floor int   // steps that are left for other orders
	limit int64 // what the next solution must cost less than
	best  []Placed

	items []int
	order []int   // nodes
	open  []bool  // by node
	at    []int   // by item: its node if that is closed
	home  [][]int // items by the position of their home in the problem's nodes
	slack []int64 // what the open nodes may leave free
	tight int     // the dimension with the least slack
}

func newSearch(p *Problem, rng *rand.Rand, items, nodes []int) *search {
	s := &search{
		Problem: p, rng: rng, items: items, order: slices.Clone(nodes),
		open: make([]bool, len(p.Room)/p.Dims), at: slices.Repeat([]int{Nowhere}, len(p.Home)), home: make([][]int, len(p.Room)/p.Dims),
	}
	for _, n := range nodes {
		s.open[n] = true
	}
	for _, i := range items {
		if h := p.Home[i]; h != Nowhere && s.open[h] {
			s.home[h] = append(s.home[h], i)
		}
	}
	return s
}

// roomy computes the slack. It returns false if there is less room than need.
func (s *search) roomy() bool {
	s.slack = make([]int64, s.Dims)
	least := 2.0
	for d := range s.Dims {
		var room int64
		for _, n := range s.order {
			room += s.Room[n*s.Dims+d]
		}
		s.slack[d] = room
		for _, i := range s.items {
			s.slack[d] -= s.Need[i*s.Dims+d]
		}
		if s.slack[d] < 0 {
			return false
		}
		if share := float64(s.slack[d]) / float64(max(1, room)); share <= least {
			s.tight, least = d, share
		}
	}
	return true
}

// costOf returns what a placement costs.
func (s *search) costOf(at []int) (sum int64) {
	on := make(map[int][]int, len(s.order))
	for _, i := range s.items {
		on[at[i]] = append(on[at[i]], i)
		if h := s.Home[i]; h != Nowhere && h != at[i] && s.open[h] {
			sum += s.Cost[i]
		}
	}
	for _, n := range s.order {
		sum += s.Wait(n, on[n])
	}
	return sum
}

// orderNodes chooses an order: nodes that are full with the items at home first, then those
// with few items.
func (s *search) orderNodes() {
	key := make(map[int]float64, len(s.order))
	for _, n := range s.order {
		key[n] = float64(len(s.home[n])) + 3*s.rng.Float64()
		if s.full(n) {
			key[n] = -1
		}
	}
	slices.SortFunc(s.order, func(a, b int) int {
		switch {
		case key[a] != key[b] && key[a] < key[b]:
			return -1
		case key[a] != key[b]:
			return 1
		}
		return a - b
	})
}

// full reports whether the items at home fill a node.
func (s *search) full(n int) bool {
	for d := range s.Dims {
		free := s.Room[n*s.Dims+d]
		for _, i := range s.home[n] {
			free -= s.Need[i*s.Dims+d]
		}
		if free < 0 || free > s.slack[d]/int64(len(s.order)) {
			return false
		}
	}
	return true
}

// close closes the nodes from a position in the order on. It returns false when the search is
// over.
func (s *search) close(k int, cost int64) bool {
	if k == len(s.order)-1 {
		return s.closeLast(cost)
	}
	n, left := s.order[k], len(s.order)-k
	f := filler{search: s, node: n, depth: math.MaxInt, most: s.limit - cost, steps: min(fillingSteps, s.steps)}
	tries := maxFillings
	switch {
	case s.all:
	case left == endgame:
		s.floor, tries = max(0, s.steps-endgameSteps), 12
	case left > endgame:
		tries, f.depth = 1, additions
	case left > 3:
		tries = 12
	}
	s.open[n] = false
	defer func() { s.open[n] = true }()
	list := f.fillings()
	for _, w := range list[:min(tries, len(list))] {
		if cost+w.cost >= s.limit {
			continue
		}
		s.put(n, w, 1)
		more := s.close(k+1, cost+w.cost)
		s.put(n, w, -1)
		if !more {
			return false
		}
	}
	return s.steps > s.floor
}

// closeLast gives the last node what is left.
func (s *search) closeLast(cost int64) bool {
	n := s.order[len(s.order)-1]
	var rest []int
	for _, i := range s.items {
		if s.at[i] == Nowhere {
			if !s.May(i, n) {
				return true
			}
			rest = append(rest, i)
		}
	}
	for d := range s.Dims {
		free := s.Room[n*s.Dims+d]
		for _, i := range rest {
			free -= s.Need[i*s.Dims+d]
		}
		if free < 0 {
			return true
		}
	}
	if cost += s.Wait(n, rest); cost >= s.limit {
		return true
	}
	s.limit, s.best = cost, s.best[:0]
	for _, i := range s.items {
		at := s.at[i]
		if at == Nowhere {
			at = n
		}
		s.best = append(s.best, Placed{i, at})
	}
	return s.all
}

// put closes a node with a filling, or opens it again.
func (s *search) put(n int, w *filling, sign int64) {
	for _, i := range w.items {
		s.at[i] = n
		if sign < 0 {
			s.at[i] = Nowhere
		}
	}
	for d, free := range w.free {
		s.slack[d] -= sign * free
	}
}
