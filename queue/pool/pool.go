// Package pool divides the capacity of a cluster among pools and their VMs by reservations, limits and
// shares. An entitlement is what a VM should get now: it depends on its own controls, on those of its
// pools, on its demand and on the demand of all others.
//
// The algorithm is the divvy operation of Ajay Gulati, Anne Holler, Minwen Ji, Ganesha Shanmuganathan,
// Carl Waldspurger and Xiaoyun Zhu, "VMware Distributed Resource Management: Design, Implementation, and
// Lessons Learned" (2012), §2.3. It is computed exactly, not in chunks, for one resource at a time.
package pool

import (
	"fmt"
	"math"

	"vjob/cluster"
)

// Unlimited is the limit of pools and VMs without one.
const Unlimited = math.MaxInt64

// Controls bound and weight what a pool or a VM gets of one resource, in its unit.
type Controls struct {
	Reservation int64 // at least this much, from 0
	Limit       int64 // at most this much, or [Unlimited]
	Shares      int64 // the weight among the children of the same pool, from 1
}

// Check returns a [cluster.FieldError] for controls that nothing can meet.
func (c Controls) Check() error {
	switch {
	case c.Reservation < 0:
		return cluster.BadField("reservation", c.Reservation, "0 or more")
	case c.Limit < 0:
		return cluster.BadField("limit", c.Limit, "0 or more")
	case c.Reservation > c.Limit:
		return cluster.Fault("reservation", "%d reserved, the limit is %d", c.Reservation, c.Limit)
	case c.Shares < 1 || c.Shares > cluster.MaxShares:
		return cluster.BadField("shares", c.Shares, fmt.Sprintf("from 1 to %d", cluster.MaxShares))
	}
	return nil
}

// MaxDepth bounds the levels of a tree.
const MaxDepth = 100

// Entry is a pool or a VM of a tree.
type Entry struct {
	Parent int // the index of its pool, which comes before it; -1 for the root, which is the first
	VM     bool
	Controls
}

// Tree is a tree of pools with VMs as leaves, for one resource. It keeps the last division, so that
// after a change of few demands only the pools that it reaches are divided again.
type Tree struct {
	entries     []Entry
	children    [][]int32
	demand      []int64 // of a VM as it was set; of a pool the sum of its children; both within the controls
	entitlement []int64
	dirty       []bool // the entry or one below it has another demand
	divided     bool
	work        divider

	// DemandFirst gives each child of a pool its demand, as far as the pool has the sum, before what is not
	// demanded is divided by shares. Without it that division, as in the paper, looks at shares alone. It is
	// set before the first [Tree.Divide].
	DemandFirst bool
}

// New returns a tree in which the VMs demand nothing. It fails with a [cluster.FieldError] if an entry has wrong
// controls, a pool that does not come before it, or a VM above it.
func New(entries []Entry) (*Tree, error) {
	t := &Tree{
		entries: entries, children: make([][]int32, len(entries)), demand: make([]int64, len(entries)),
		entitlement: make([]int64, len(entries)), dirty: make([]bool, len(entries)),
	}
	depth := make([]int, len(entries))
	for i := range entries {
		e := &entries[i]
		if err := e.Check(); err != nil {
			return nil, cluster.WithPath(fmt.Sprintf("entries[%d]", i), err)
		}
		switch {
		case i == 0 && e.Parent == -1 && !e.VM:
		case e.Parent < 0 || e.Parent >= i || entries[e.Parent].VM:
			return nil, cluster.BadField(fmt.Sprintf("entries[%d].parent", i), e.Parent, "the index of a pool before it")
		default:
			depth[i] = depth[e.Parent] + 1
			t.children[e.Parent] = append(t.children[e.Parent], int32(i))
		}
		if depth[i] > MaxDepth {
			return nil, cluster.Fault(fmt.Sprintf("entries[%d].parent", i), "deeper than %d levels", MaxDepth)
		}
		t.demand[i], t.dirty[i] = e.Reservation, true
	}
	return t, nil
}

// SetDemand sets the demand of a VM, from 0.
func (t *Tree) SetDemand(vm int, demand int64) {
	e := &t.entries[vm]
	demand = min(max(demand, e.Reservation), e.Limit)
	if t.demand[vm] == demand {
		return
	}
	t.demand[vm] = demand
	for i := vm; i >= 0 && !t.dirty[i]; i = t.entries[i].Parent {
		t.dirty[i] = true
	}
}

// Demand returns the demand of an entry within its controls, of a pool that of its VMs. It is that of the
// last [Tree.Divide].
func (t *Tree) Demand(i int) int64 { return t.demand[i] }

// Entitlement returns what an entry got at the last [Tree.Divide].
func (t *Tree) Entitlement(i int) int64 { return t.entitlement[i] }

// Divide divides a capacity among the pools and VMs. Without more demand than capacity, what is not demanded
// is divided as well, by shares up to the limits.
func (t *Tree) Divide(capacity int64) {
	if len(t.entries) == 0 {
		return
	}
	t.sumDemands()
	quantity := min(capacity, t.entries[0].Limit)
	if quantity != t.entitlement[0] {
		t.dirty[0], t.entitlement[0] = true, quantity
	}
	for i := range t.entries {
		if t.dirty[i] || !t.divided {
			t.divide(i)
		}
	}
	t.divided = true
}

// sumDemands computes the demands of the pools below which something changed, from the leaves up.
func (t *Tree) sumDemands() {
	for i := len(t.entries) - 1; i >= 0; i-- {
		e := &t.entries[i]
		if e.VM || !t.dirty[i] {
			continue
		}
		sum := int64(0)
		for _, c := range t.children[i] {
			sum = plus(sum, t.demand[c])
		}
		t.demand[i] = min(max(sum, e.Reservation), e.Limit)
	}
}

// divide divides the entitlement of a pool among its children. Those that get another one are divided too.
func (t *Tree) divide(i int) {
	t.dirty[i] = false
	list := t.children[i]
	if len(list) == 0 {
		return
	}
	d := &t.work
	d.reset(len(list))
	wanted := int64(0)
	for _, c := range list {
		wanted = plus(wanted, t.demand[c])
	}
	for k, c := range list {
		e := &t.entries[c]
		least, limit := e.Reservation, e.Limit
		switch {
		case wanted > t.entitlement[i]: // eq. 4
			limit = t.demand[c]
		case t.DemandFirst:
			least = t.demand[c]
		}
		d.claims[k] = claim{least, limit, e.Shares}
	}
	d.divide(t.entitlement[i])
	for k, c := range list {
		if t.entitlement[c] != d.given[k] {
			t.entitlement[c], t.dirty[c] = d.given[k], true
		}
	}
}

// plus adds, up to [Unlimited].
func plus(a, b int64) int64 {
	if a > Unlimited-b {
		return Unlimited
	}
	return a + b
}
