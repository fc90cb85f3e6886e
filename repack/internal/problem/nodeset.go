package problem

import "math/bits"

// NodeSet is a set of nodes. It does not change once it is in use: most VMs share theirs with
// many others.
type NodeSet struct{ words []uint64 }

// NewNodeSet returns the set of the nodes in a list; nil for nil.
func NewNodeSet(nodes int, list []int) *NodeSet {
	if list == nil {
		return nil
	}
	s := &NodeSet{make([]uint64, (nodes+63)/64)}
	for _, n := range list {
		s.words[n/64] |= 1 << (n % 64)
	}
	return s
}

// Has reports whether the node is in the set. A nil set is empty.
func (s *NodeSet) Has(n int) bool {
	return s != nil && n/64 < len(s.words) && n >= 0 && s.words[n/64]>>(n%64)&1 == 1
}

// EachOutside visits the nodes that are not in the set, in order.
func (s *NodeSet) EachOutside(nodes int, visit func(n int)) {
	for from := 0; from < nodes; from += 64 {
		out := ^uint64(0)
		if s != nil && from/64 < len(s.words) {
			out = ^s.words[from/64]
		}
		for ; out != 0; out &= out - 1 {
			if n := from + bits.TrailingZeros64(out); n < nodes {
				visit(n)
			}
		}
	}
}

// Touches reports whether a move between these nodes concerns the set. A nil set is concerned
// by every move.
func (s *NodeSet) Touches(from, to int) bool { return s == nil || s.Has(from) || s.Has(to) }

// nodeSetCache makes each set only once: a ban of a hundred thousand VMs costs one set.
type nodeSetCache map[setKey]*NodeSet

type setKey struct {
	of, only *NodeSet
	node     int
}

// with returns the set with one more node.
func (shop nodeSetCache) with(s *NodeSet, node int) *NodeSet {
	if s.Has(node) {
		return s
	}
	return shop.made(setKey{of: s, node: node}, func(words []uint64) []uint64 {
		for len(words) <= node/64 {
			words = append(words, 0)
		}
		words[node/64] |= 1 << (node % 64)
		return words
	})
}

// outside returns the set with all nodes outside another set.
func (shop nodeSetCache) outside(s, only *NodeSet, nodes int) *NodeSet {
	return shop.made(setKey{of: s, only: only, node: -1}, func(words []uint64) []uint64 {
		for len(words) < (nodes+63)/64 {
			words = append(words, 0)
		}
		for i := range words {
			words[i] |= ^only.words[i]
		}
		return words
	})
}

func (shop nodeSetCache) made(r setKey, change func(words []uint64) []uint64) *NodeSet {
	if s, ok := shop[r]; ok {
		return s
	}
	var words []uint64
	if r.of != nil {
		words = append(words, r.of.words...)
	}
	s := &NodeSet{change(words)}
	shop[r] = s
	return s
}
