package proof

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/pattern"
	"vjob/repack/internal/problem"
)

// Where VMs are of a few sizes, package pattern knows what the nodes can hold together. Two things follow: that some VMs have no
// places although there is room in all, as what is left of each node is too little; and how many VMs must at least
// leave their homes to make room for others.

// Unpackable returns in words why the VMs have no places together; nil if that is not proved.
func Unpackable(m *problem.Problem) []string {
	p := PatternsOf(m, m.Wanted, fixed)
	if p == nil || !p.Relax().Impossible {
		return nil
	}
	return []string{fmt.Sprintf("%d VMs of %d sizes have no places together: what they leave of each node is too little for the others",
		len(m.Wanted), len(p.Kinds))}
}

// Patterns is a problem in which the VMs that may move are of a few kinds.
type Patterns struct {
	*pattern.Problem
	KindOf []int   // by VM; -1 for one that does not matter, as it must stay or needs nothing
	nodes  [][]int // by class
	fixed  func(m *problem.Problem, vm int) bool
	worth  func(vm int) int64
	bound  int64 // of the objective, if no VM that prefers its home were there
}

// NewPatterns returns nil if there are too many kinds or patterns, if costs are too large to be multiplied, or if the objective does not
// add up the costs of VMs.
func NewPatterns(m *Bounds) *Patterns {
	if m.Objective == repack.Makespan {
		return nil
	}
	prefers := make([]bool, len(m.In.VMs))
	for _, vms := range m.preferred.All() {
		for _, vm := range vms {
			prefers[vm] = true
		}
	}
	worth := func(vm int) int64 {
		if !prefers[vm] {
			return 0
		}
		return m.minAway(vm) - m.minHome[vm]
	}
	p := &Patterns{worth: worth, fixed: fixed}
	if !p.of(m.Problem, m.Wanted) {
		return nil
	}
	p.bound = m.alone()
	most := int64(0)
	for _, vm := range m.Wanted {
		if p.KindOf[vm] >= 0 {
			p.bound += worth(vm)
			most = max(most, worth(vm))
		}
	}
	if most > largestWorth/int64(len(m.Wanted)) {
		return nil
	}
	return p
}

// largestWorth is what all VMs may be worth together: prices are a thousand times as large.
const largestWorth = 1 << 48

// Bound returns a lower bound of the objective.
func (p *Patterns) Bound() int64 {
	r := p.Relax()
	if r.Impossible {
		return problem.Never
	}
	return p.bound - r.Most
}

// Held is how many VMs of each kind a node holds at most.
type Held struct {
	Node int
	VMs  []int64
}

// Fill returns what nodes hold such that all VMs have places and as few as possible leave their homes; nil if it finds
// nothing.
func (p *Patterns) Fill() (list []Held) {
	next := make([]int, len(p.nodes))
	for _, h := range p.Problem.Fill() {
		for range h.Nodes {
			list = append(list, Held{p.nodes[h.Class][next[h.Class]], h.VMs})
			next[h.Class]++
		}
	}
	return list
}

// Residents returns the VMs of a kind at home on a node, those first that cost the most to leave.
func (p *Patterns) Residents(m *problem.Problem, node, kind int) (list []int) {
	for _, vm := range m.Residents.At(node) {
		if p.KindOf[vm] == kind && p.worth(vm) > 0 {
			list = append(list, vm)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(p.worth(b), p.worth(a)) })
	return list
}

// PatternsOf returns patterns for some VMs, to which it makes no difference where they are. Fixed VMs are where they run. It returns
// nil if there are too many kinds or patterns.
func PatternsOf(m *problem.Problem, vms []int, fixed func(m *problem.Problem, vm int) bool) *Patterns {
	p := &Patterns{fixed: fixed, worth: func(int) int64 { return 0 }}
	if !p.of(m, vms) {
		return nil
	}
	return p
}

// of sorts VMs and nodes into kinds and classes. It reports whether these are few.
func (p *Patterns) of(m *problem.Problem, vms []int) (ok bool) {
	kinds := p.kinds(m, vms)
	if kinds == nil {
		return false
	}
	p.Problem, ok = pattern.New(kinds, p.classes(m, kinds))
	return ok
}

// kinds sorts the VMs that may move into kinds, the largest first; nil if there are too many.
func (p *Patterns) kinds(m *problem.Problem, vms []int) (kinds []pattern.Kind) {
	p.KindOf = make([]int, len(m.In.VMs))
	for vm := range p.KindOf {
		p.KindOf[vm] = -1
	}
	for _, vm := range vms {
		need := m.Next[vm*m.Dims : (vm+1)*m.Dims]
		if p.fixed(m, vm) || !slices.ContainsFunc(need, func(x int64) bool { return x > 0 }) {
			continue
		}
		k := slices.IndexFunc(kinds, func(k pattern.Kind) bool { return slices.Equal(k.Need, need) })
		if k < 0 {
			if k = len(kinds); k == pattern.MaxKinds {
				return nil
			}
			kinds = append(kinds, pattern.Kind{Need: need, Bulk: m.Bulk[vm]})
		}
		kinds[k].Count++
		p.KindOf[vm] = k
	}
	order := make([]int, len(kinds))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(kinds[b].Bulk, kinds[a].Bulk), slices.Compare(kinds[a].Need, kinds[b].Need))
	})
	sorted, rank := make([]pattern.Kind, len(kinds)), make([]int, len(kinds))
	for i, k := range order {
		sorted[i], rank[k] = kinds[k], i
	}
	for vm, k := range p.KindOf {
		if k >= 0 {
			p.KindOf[vm] = rank[k]
		}
	}
	return sorted
}

// fixed reports whether a VM ends where it is.
func fixed(m *problem.Problem, vm int) bool {
	return m.Rooted[vm] && m.In.VMs[vm].State == repack.Running
}

// classes sorts the nodes by their room beside the VMs that must stay, and by what their residents are worth. It gives up once there are
// too many.
func (p *Patterns) classes(m *problem.Problem, kinds []pattern.Kind) (list []pattern.Class) {
	index := map[string]int{}
	c := pattern.Class{Room: make([]int64, m.Dims), Worth: make([][]int64, len(kinds))}
	var key []byte
	for _, n := range m.OpenNodes {
		p.classify(m, n, &c)
		key = appendKey(key[:0], &c)
		at, known := index[string(key)]
		if !known {
			if at = len(list); at == pattern.MaxClasses {
				return append(list, c)
			}
			index[string(key)] = at
			list, p.nodes = append(list, copyOf(&c)), append(p.nodes, nil)
		}
		list[at].Count++
		p.nodes[at] = append(p.nodes[at], n)
	}
	return list
}

// classify sets the room of a node and the worth of its residents.
func (p *Patterns) classify(m *problem.Problem, n int, c *pattern.Class) {
	copy(c.Room, m.Room[n*m.Dims:])
	for k := range c.Worth {
		c.Worth[k] = c.Worth[k][:0]
	}
	for _, vm := range m.Residents.At(n) {
		if p.fixed(m, vm) {
			for d := range c.Room {
				c.Room[d] -= m.Next[vm*m.Dims+d]
			}
		}
		if k := p.KindOf[vm]; k >= 0 && p.worth(vm) > 0 {
			c.Worth[k] = append(c.Worth[k], p.worth(vm))
		}
	}
	for _, w := range c.Worth {
		slices.SortFunc(w, func(a, b int64) int { return cmp.Compare(b, a) })
	}
}

// appendKey appends a key that is equal for nodes of one class.
func appendKey(key []byte, c *pattern.Class) []byte {
	for _, x := range c.Room {
		key = binary.AppendVarint(key, x)
	}
	for _, w := range c.Worth {
		for _, x := range w {
			key = binary.AppendVarint(key, x)
		}
		key = binary.AppendVarint(key, 0)
	}
	return key
}

func copyOf(c *pattern.Class) pattern.Class {
	own := pattern.Class{Room: slices.Clone(c.Room), Worth: make([][]int64, len(c.Worth))}
	for k, w := range c.Worth {
		own.Worth[k] = slices.Clone(w)
	}
	return own
}
