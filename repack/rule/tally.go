package rule

import (
	"math/bits"

	"vjob/repack"
)

// tally counts by key in a small open table. There are thousands of rules on small
// sets: a slice by node for each would be too large, and a map too slow.
type tally struct {
	slots []slot // a power of two of them, at most half full
	used  int
	shift int
}

type slot struct{ key, n int } // n is 0 in a free slot

// newTally has room for so many keys before it must grow.
func newTally(keys int) tally {
	size := 8
	for size < 2*keys+2 {
		size *= 2
	}
	return tally{slots: make([]slot, size), shift: 64 - bits.TrailingZeros(uint(size))}
}

// home is where the search for a key begins: neighbours are far apart.
func (t *tally) home(key int) int { return int(uint64(key) * 0x9e3779b97f4a7c15 >> t.shift) }

// find is the slot of the key, or the free one where it belongs.
func (t *tally) find(key int) int {
	mask := len(t.slots) - 1
	i := t.home(key)
	for t.slots[i].n != 0 && t.slots[i].key != key {
		i = (i + 1) & mask
	}
	return i
}

func (t *tally) get(key int) int { return t.slots[t.find(key)].n }

// add changes the count of a key and returns it.
func (t *tally) add(key, d int) int {
	i := t.find(key)
	s := &t.slots[i]
	if s.n == 0 {
		if 2*(t.used+1) > len(t.slots) {
			t.grow()
			return t.add(key, d)
		}
		t.used++
	}
	s.key, s.n = key, s.n+d
	if s.n != 0 {
		return s.n
	}
	t.used--
	t.free(i)
	return 0
}

// free closes the gap at i: keys after it that could not have its place move up.
func (t *tally) free(i int) {
	mask := len(t.slots) - 1
	for j := (i + 1) & mask; t.slots[j].n != 0; j = (j + 1) & mask {
		if (j-t.home(t.slots[j].key))&mask >= (j-i)&mask {
			t.slots[i], i = t.slots[j], j
		}
	}
	t.slots[i] = slot{}
}

func (t *tally) grow() {
	old := t.slots
	*t = newTally(len(old))
	for _, s := range old {
		if s.n != 0 {
			t.slots[t.find(s.key)] = s
			t.used++
		}
	}
}

// move takes one from a place and gives one to another; Nowhere is no place.
func (t *tally) move(from, to int) {
	if from != repack.Nowhere {
		t.add(from, -1)
	}
	if to != repack.Nowhere {
		t.add(to, 1)
	}
}

// flags are a set of VMs or nodes.
type flags []uint64

func newFlags(size int, list []int) flags {
	f := make(flags, (size+63)/64)
	for _, i := range list {
		f[i/64] |= 1 << (i % 64)
	}
	return f
}

// has reports whether the set has i; it has not Nowhere.
func (f flags) has(i int) bool { return i >= 0 && f[i/64]>>(i%64)&1 == 1 }

// one is 1 if the set has i, and 0 if not.
func (f flags) one(i int) int {
	if i < 0 {
		return 0
	}
	return int(f[i/64] >> (i % 64) & 1)
}

// partition tells in which of several sets something is.
type partition struct{ of tally }

func newPartition(sets [][]int) partition {
	sum := 0
	for _, set := range sets {
		sum += len(set)
	}
	p := partition{newTally(sum)}
	for i, set := range sets {
		for _, x := range set {
			p.of.add(x, i+1)
		}
	}
	return p
}

// part is the number of the set, or Nowhere.
func (p *partition) part(x int) int { return p.of.get(x) - 1 }

// areas are groups of nodes, by node: they are asked for at each move.
type areas []int32

func newAreas(nodes int, groups [][]int) areas {
	a := make(areas, nodes)
	for n := range a {
		a[n] = repack.Nowhere
	}
	for g, list := range groups {
		for _, n := range list {
			a[n] = int32(g)
		}
	}
	return a
}

// area is the group of the node, or Nowhere.
func (a areas) area(node int) int {
	if node < 0 {
		return repack.Nowhere
	}
	return int(a[node])
}

// stray is 1 if the VM is on a node outside all groups.
func (a areas) stray(node int) int {
	if node >= 0 && a[node] < 0 {
		return 1
	}
	return 0
}
