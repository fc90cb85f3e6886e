// Package consolidation solves the two problems of Fabien Hermenier, Xavier Lorca, Jean-Marc
// Menaud, Gilles Muller and Julia Lawall, "Entropy: a Consolidation Manager for Clusters" (2008):
// packings on the fewest nodes (VMPP), and among those the cheapest to reach (VMRP). The thesis has
// them in chapters 7 and 8.
//
// Each result has a lower bound, which often proves it optimal. Equal items and equal nodes are
// considered once (thesis §7.2.2). The bound is the value of the linear program with one column for
// every way to fill a node, of which only useful ones are generated. Its duals are rounded to whole
// numbers first, so no bound depends on floating-point rounding.
//
// A [Problem] is numbers and callbacks, without VMs, plans and rules. [Plan] makes a plan from a
// packing. [Figures] compares our results with the paper's.
package consolidation

// Nowhere is the node of an item that is on none.
const Nowhere = -1

// Problem says what is to be packed where. The callbacks are asked often and always
// give the same answer to the same question.
type Problem struct {
	// Room of each node, by dimension, and what each item needs of it.
	Room, Need [][]int64
	// May reports whether the item may be on the node; nil is always.
	May func(item, node int) bool
	// Apart are sets of items of which no two may be on one node.
	Apart [][]int
	// Cost is what it takes to have the item on the node, not less than 0; nil is
	// nothing. It matters to [Cheapest] only.
	Cost func(item, node int) int64
	// Veto may have more to say; nil is nothing. Bounds do not know of it: they stay
	// true, and proofs become rarer.
	Veto Veto
}

// Veto follows where items come and go, and refuses some. At first no item has a place.
type Veto interface {
	// Admits reports whether the item, which is nowhere, may come to the node as
	// things stand.
	Admits(item, node int) bool
	Come(item, node int)
	Go(item, node int)
}

// SearchOptions bound a search. The same options give the same answer, unless Stop ends it.
type SearchOptions struct {
	Seed uint64
	// Steps is how many elementary steps the search may take, of some ten
	// nanoseconds each; 0 is 50 million.
	Steps int64
	// Stop is asked now and then whether the time is up; nil is never.
	Stop func() bool
}

// Answer is where everything is on the fewest nodes.
type Answer struct {
	// At has the node of each item; nil if no packing was found.
	At   []int
	Used int // nodes with an item
	// Bound is a number of nodes that no packing has less than.
	Bound int
	// Proved: no packing has fewer nodes; if At is nil, no packing exists.
	Proved bool
}

// Replacement is where everything is at the least cost.
type Replacement struct {
	At     []int // the node of each item; nil if no packing was found
	Used   int
	Cost   int64
	Bound  int64 // no packing on so few nodes costs less
	Proved bool  // no packing costs less; if At is nil, no packing exists
}

const defaultSteps = 50_000_000

// stepBudget counts the steps of a search and says when it has to end.
type stepBudget struct {
	left, ask int64
	stop      func() bool
}

func newStepBudget(b SearchOptions) *stepBudget {
	if b.Steps == 0 {
		b.Steps = defaultSteps
	}
	return &stepBudget{left: b.Steps, ask: b.Steps, stop: b.Stop}
}

// askEvery is after how many steps the time is asked for: a millisecond or two.
const askEvery = 1 << 17

// spend takes steps and reports whether the search may go on.
func (m *stepBudget) spend(steps int64) bool {
	m.left -= steps
	if m.left > 0 && m.ask-m.left >= askEvery && m.stop != nil {
		m.ask = m.left
		if m.stop() {
			m.left = 0
		}
	}
	return m.left > 0
}

// share is a steps for a part of what is left, and how to give back what it did not
// use.
func (m *stepBudget) share(most int64) (part *stepBudget, giveBack func()) {
	part = &stepBudget{left: min(most, m.left), stop: m.stop}
	part.ask = part.left
	before := part.left
	return part, func() {
		used := before - max(part.left, 0)
		if part.left <= 0 && m.stop != nil && m.stop() {
			used = m.left
		}
		m.spend(used)
	}
}

// set is a set of small numbers.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) drop(i int)     { s[i/64] &^= 1 << (i % 64) }
