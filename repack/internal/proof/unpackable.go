package proof

import (
	"cmp"
	"fmt"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// Where memory is nearly used up, VMs of a few sizes may have room in all and yet no places:
// what is left on each node is too little for any of them. A search then finds no place and
// never proves that no place exists. Prices prove it: give each kind of VM a price, and fill
// each node with the most valuable VMs. If all nodes together hold less value than all VMs
// have, the VMs do not fit, whatever the prices are. This is the dual of the cutting stock
// problem (Gilmore, Gomory: A linear programming approach to the cutting-stock problem,
// Operations Research 9, 1961).

// Bounds of the effort: more kinds or fillings take too long. fillRounds is how often prices
// change.
const (
	maxKinds    = 24
	maxFillings = 20_000 // of all nodes
	fillRounds  = 96
)

// vmKind is a set of VMs with the same need that may go elsewhere.
type vmKind struct {
	need  []int64
	count int64
	price int64
	short int64 // how many of them are in none of the best fillings
}

// nodeKind is a set of nodes with the same room beside the VMs that must not leave.
type nodeKind struct {
	room  []int64
	count int64
	ways  [][]int64 // all maximal fillings: how many VMs of each kind
}

// Unpackable looks for a price of each kind of VM at which all VMs are worth more than what
// the nodes can hold. It returns in words why no placement exists, or nil.
func Unpackable(m *problem.Problem) []string {
	kinds, ok := kindsOf(m)
	if !ok {
		return nil
	}
	nodes, left := nodeKindsOf(m), maxFillings
	for i := range nodes {
		if left = nodes[i].fill(kinds, left); left <= 0 {
			return nil
		}
	}
	for round := range int64(fillRounds) {
		worth, held := weigh(kinds, nodes)
		switch {
		case worth > held:
			return []string{fmt.Sprintf("%d VMs of %d sizes have no places together: what they leave of each node is too little for the others",
				len(m.Wanted), len(kinds))}
		case 2*worth < held: // ample room
			return nil
		}
		for k := range kinds {
			kinds[k].reprice(round)
		}
	}
	return nil
}

// kindsOf sorts the VMs that may move into kinds, the largest first. It is not ok if there are
// too many kinds, or none.
func kindsOf(m *problem.Problem) (kinds []vmKind, ok bool) {
	for _, vm := range m.Wanted {
		need := m.Next[vm*m.Dims : (vm+1)*m.Dims]
		if fixed(m, vm) || !slices.ContainsFunc(need, func(x int64) bool { return x > 0 }) {
			continue
		}
		k := slices.IndexFunc(kinds, func(k vmKind) bool { return slices.Equal(k.need, need) })
		if k < 0 {
			if k = len(kinds); k == maxKinds {
				return nil, false
			}
			kinds = append(kinds, vmKind{need: need, price: m.Bulk[vm]})
		}
		kinds[k].count++
	}
	slices.SortFunc(kinds, func(a, b vmKind) int { return cmp.Or(cmp.Compare(b.price, a.price), slices.Compare(a.need, b.need)) })
	return kinds, len(kinds) > 0
}

// fixed reports whether a VM ends where it is.
func fixed(m *problem.Problem, vm int) bool {
	return m.Rooted[vm] && m.In.VMs[vm].State == repack.Running
}

// nodeKindsOf sorts the nodes into kinds by their room.
func nodeKindsOf(m *problem.Problem) (list []nodeKind) {
	index := map[string]int{}
	for _, n := range m.OpenNodes {
		room := slices.Clone(m.Room[n*m.Dims : (n+1)*m.Dims])
		for _, vm := range m.Residents[n] {
			for d := range room {
				if fixed(m, vm) {
					room[d] -= m.Next[vm*m.Dims+d]
				}
			}
		}
		key := string(appendInts(nil, room))
		if at, known := index[key]; known {
			list[at].count++
			continue
		}
		index[key] = len(list)
		list = append(list, nodeKind{room: room, count: 1})
	}
	return list
}

func appendInts(b []byte, list []int64) []byte {
	for _, x := range list {
		for range 8 {
			b, x = append(b, byte(x)), x>>8
		}
	}
	return b
}

// fill lists the fillings within a number of steps and returns the steps left.
func (v *nodeKind) fill(kinds []vmKind, left int) int {
	way := make([]int64, len(kinds))
	var next func(k int)
	next = func(k int) {
		if left--; left <= 0 {
			return
		}
		if k == len(kinds) {
			if !v.takesMore(kinds, way) {
				v.ways = append(v.ways, slices.Clone(way))
			}
			return
		}
		most := kinds[k].fits(v.room)
		take(v.room, kinds[k].need, most)
		for way[k] = most; ; way[k]-- {
			next(k + 1)
			if way[k] == 0 || left <= 0 {
				break
			}
			take(v.room, kinds[k].need, -1)
		}
		take(v.room, kinds[k].need, -way[k])
		way[k] = 0
	}
	next(0)
	return left
}

// takesMore reports whether one more VM fits beside a filling.
func (v *nodeKind) takesMore(kinds []vmKind, way []int64) bool {
	for k := range kinds {
		if kinds[k].count > way[k] && kinds[k].fits(v.room) > 0 {
			return true
		}
	}
	return false
}

// fits returns how many VMs of a kind fit into the room.
func (k *vmKind) fits(room []int64) int64 {
	most := k.count
	for d, need := range k.need {
		if room[d] < 0 {
			return 0
		}
		if need > 0 {
			most = min(most, room[d]/need)
		}
	}
	return most
}

func take(room, need []int64, n int64) {
	for d := range room {
		room[d] -= n * need[d]
	}
}

// weigh returns the worth of all VMs, and of the best fillings of all nodes. It counts the VMs
// that are in no filling.
func weigh(kinds []vmKind, nodes []nodeKind) (worth, held int64) {
	for k := range kinds {
		worth += kinds[k].count * kinds[k].price
		kinds[k].short = kinds[k].count
	}
	for i := range nodes {
		v := &nodes[i]
		var best []int64
		most := int64(-1)
		for _, way := range v.ways {
			var sum int64
			for k, n := range way {
				sum += n * kinds[k].price
			}
			if sum > most {
				best, most = way, sum
			}
		}
		held += max(most, 0) * v.count
		for k, n := range best {
			kinds[k].short -= n * v.count
		}
	}
	return worth, held
}

// reprice raises the price of VMs that are left out, and lowers the price of kinds of which
// the fillings hold more than there are; less with each round.
func (k *vmKind) reprice(round int64) {
	change := k.price / 4 * max(-k.count, min(k.count, k.short)) / k.count
	k.price = max(1, k.price+change*8/(8+round))
}
