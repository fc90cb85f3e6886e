package solve

import "math/bits"

// nodeSet is a set of nodes. It does not change once it is in use: most VMs share
// theirs with many others.
type nodeSet struct{ words []uint64 }

// newNodeSet has the nodes of a list; of nil it is nil.
func newNodeSet(nodes int, list []int) *nodeSet {
	if list == nil {
		return nil
	}
	s := &nodeSet{make([]uint64, (nodes+63)/64)}
	for _, n := range list {
		s.words[n/64] |= 1 << (n % 64)
	}
	return s
}

// has reports whether the node is in the set. A nil one is empty.
func (s *nodeSet) has(n int) bool {
	return s != nil && n/64 < len(s.words) && n >= 0 && s.words[n/64]>>(n%64)&1 == 1
}

// eachOutside visits the nodes that are not in the set, in order.
func (s *nodeSet) eachOutside(nodes int, visit func(n int)) {
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

// touches reports whether a move from or to these nodes concerns the set. A nil
// one is everything.
func (s *nodeSet) touches(from, to int) bool { return s == nil || s.has(from) || s.has(to) }

// nodeSetCache makes sets from sets, each only once: a ban of a hundred thousand VMs
// costs one set and not as many.
type nodeSetCache map[setKey]*nodeSet

type setKey struct {
	of, only *nodeSet
	node     int
}

// with is the set and one node more.
func (shop nodeSetCache) with(s *nodeSet, node int) *nodeSet {
	if s.has(node) {
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

// outside is the set and everything that is not in another.
func (shop nodeSetCache) outside(s, only *nodeSet, nodes int) *nodeSet {
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

func (shop nodeSetCache) made(r setKey, change func(words []uint64) []uint64) *nodeSet {
	if s, ok := shop[r]; ok {
		return s
	}
	var words []uint64
	if r.of != nil {
		words = append(words, r.of.words...)
	}
	s := &nodeSet{change(words)}
	shop[r] = s
	return s
}
