package script

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// things is of what a set is.
type things uint8

const (
	anything things = iota
	vms
	nodes
)

func (t things) String() string { return [...]string{"VMs or nodes", "VMs", "nodes"}[t] }

// one is the singular.
func (t things) one() string { return [...]string{"VM or node", "VM", "node"}[t] }

// value is what an expression stands for. The zero value is one that could not be
// had; whatever is made of it stays silent, since it was told already.
type value struct {
	depth depth
	word  *Word // of a text
	of    things
	set   []int   // of a set and of a member
	sets  [][]int // of a list
}

// depth is what kind of value it is.
type depth uint8

const (
	unknown depth = iota
	text1         // a name or a number that is not looked up yet
	member        // one VM or node
	set1          // a set
	list          // a list of sets
)

// String is how messages call the value: "a set of 5 VMs".
func (v value) String() string {
	switch {
	case v.depth == text1:
		return Name(v.word.Text)
	case v.depth == member:
		return "one " + v.of.one()
	case v.depth == set1 && len(v.set) == 0:
		return "an empty set"
	case v.depth == set1 && len(v.set) == 1:
		return "a set of one " + v.of.one()
	case v.depth == set1:
		return fmt.Sprintf("a set of %d %s", len(v.set), v.of)
	case len(v.sets) == 0:
		return "an empty list"
	case len(v.sets) == 1:
		return fmt.Sprintf("a list of one set of %s", v.of)
	}
	return fmt.Sprintf("a list of %d sets of %s", len(v.sets), v.of)
}

// combine joins two sets by an operator. The elements of x come first, then those of y.
func combine[T any, K comparable](op byte, x, y []T, key func(T) K) []T {
	inX, inY := keys(x, key), keys(y, key)
	out := make([]T, 0, len(x))
	for _, m := range x {
		if op == '+' || inY[key(m)] == (op == '&') {
			out = append(out, m)
		}
	}
	if op != '+' {
		return out
	}
	for _, m := range y {
		if !inX[key(m)] {
			out = append(out, m)
		}
	}
	return out
}

func keys[T any, K comparable](list []T, key func(T) K) map[K]bool {
	has := make(map[K]bool, len(list))
	for _, x := range list {
		has[key(x)] = true
	}
	return has
}

func itself(m int) int { return m }

// content is the same for sets of the same members.
func content(set []int) string {
	b := make([]byte, 0, 4*len(set))
	for _, m := range slices.Sorted(slices.Values(set)) {
		b = binary.AppendVarint(b, int64(m))
	}
	return string(b)
}
