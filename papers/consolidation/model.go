package consolidation

import (
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"
)

// model is a problem made ready: items with one node left are pinned to it, and the
// others and the nodes are sorted into classes of equals.
type model struct {
	*Problem
	dims, nodes, items int
	room, need         []int64   // as flat arrays
	pin                []int     // where an item must be; Nowhere
	unit               []int64   // by dimension, what all needs are multiples of
	top                []float64 // by dimension, the most room that a node has
	may                []set     // nodes by item
	sets               [][]int   // Apart by item
	home               []int     // where an item is cheapest, by its gain; Nowhere
	gain               []int64   // what that is less than elsewhere, by item
	base               int64     // what all cost if all are away from home
	gcd                int64     // what all gains are multiples of; gains are counted in it
	kinds              []kind
	kindOf             []int // Nowhere: pinned
	nodeClasses        []nodeClass
	homeClasses        []homeClass
	busy               []bool // nodes with a pinned item
	forced             int    // how many of them
}

// kind is a class of items that are interchangeable, except for their homes (thesis eq. 7.7).
type kind struct {
	items     []int
	need      []int64 // in units
	gain      int64
	alone     bool // no two of them on one node
	conflicts set  // kinds that must not be with it; may be nil
}

// nodeClass is a class of nodes with the same room for the same kinds (thesis eq. 7.6).
type nodeClass struct {
	room []int64 // in units
	busy bool
	may  set // of kinds
}

// homeClass is a class of nodes of one site that are home to the same kinds (thesis eq.
// 8.3).
type homeClass struct {
	class int
	nodes []int
	homes []share
}

// share is so many of a kind.
type share struct{ kind, n int }

// newModel also says whether the problem contradicts itself; with cost, costs are
// looked at.
func newModel(p *Problem, cost bool) (m *model, ok bool) {
	m = &model{Problem: p, nodes: len(p.Room), items: len(p.Need)}
	if m.nodes > 0 {
		m.dims = len(p.Room[0])
	}
	for _, r := range p.Room {
		m.room = append(m.room, r...)
	}
	for _, n := range p.Need {
		m.need = append(m.need, n...)
	}
	m.sets = make([][]int, m.items)
	for s, items := range p.Apart {
		for _, i := range items {
			m.sets[i] = append(m.sets[i], s)
		}
	}
	m.domains()
	m.busy = make([]bool, m.nodes)
	if !m.pinAll() {
		return m, false
	}
	m.homes(cost)
	m.computeUnits()
	m.classes()
	return m, true
}

// domains notes where each item may be, by itself.
func (m *model) domains() {
	m.may = make([]set, m.items)
	for i := range m.may {
		m.may[i] = newSet(m.nodes)
		for n := range m.nodes {
			if m.within(i, n) && (m.May == nil || m.May(i, n)) {
				m.may[i].add(n)
			}
		}
	}
}

// within reports whether the room of a node is enough for an item. A dimension that the item
// does not need does not count.
func (m *model) within(i, n int) bool {
	for d := range m.dims {
		if need := m.need[i*m.dims+d]; need > 0 && need > m.room[n*m.dims+d] {
			return false
		}
	}
	return true
}

// pinAll puts items with one node left there. That takes room from other items, which may then
// have one node left.
func (m *model) pinAll() bool {
	m.pin = slices.Repeat([]int{Nowhere}, m.items)
	for again := true; again; {
		again = false
		for i := range m.items {
			if m.pin[i] != Nowhere {
				continue
			}
			switch m.may[i].count() {
			case 0:
				return false
			case 1:
				m.pinTo(i, m.may[i].first())
				again = true
			}
		}
	}
	return true
}

func (m *model) pinTo(i, n int) {
	m.pin[i] = n
	if !m.busy[n] {
		m.busy[n] = true
		m.forced++
	}
	for d := range m.dims {
		m.room[n*m.dims+d] -= m.need[i*m.dims+d]
	}
	for other := range m.items {
		if m.pin[other] == Nowhere && m.may[other].has(n) && !m.within(other, n) {
			m.may[other].drop(n)
		}
	}
	for _, s := range m.sets[i] {
		for _, other := range m.Apart[s] {
			if other != i && m.pin[other] == Nowhere {
				m.may[other].drop(n)
			}
		}
	}
}

// homes finds where each item is cheapest, and what it costs anywhere else.
func (m *model) homes(cost bool) {
	m.gcd = 1
	m.home, m.gain = slices.Repeat([]int{Nowhere}, m.items), make([]int64, m.items)
	if !cost || m.Cost == nil {
		return
	}
	m.gcd = 0
	for i := range m.items {
		near, far := int64(-1), int64(-1)
		for n := range m.nodes {
			if !m.may[i].has(n) {
				continue
			}
			switch c := m.Cost(i, n); {
			case near < 0:
				near, m.home[i] = c, n
			case c < near:
				near, far, m.home[i] = c, near, n
			case far < 0 || c < far:
				far = c
			}
		}
		if far < 0 {
			far = near
		}
		m.base += far
		if m.gain[i] = far - near; m.gain[i] == 0 {
			m.home[i] = Nowhere
		}
		m.gcd = gcdOf(m.gcd, m.gain[i])
	}
	m.gcd = max(m.gcd, 1)
	for i := range m.gain {
		m.gain[i] /= m.gcd
	}
}

// computeUnits finds the greatest unit of each dimension.
func (m *model) computeUnits() {
	m.unit = make([]int64, m.dims)
	for d := range m.unit {
		for i := range m.items {
			if m.pin[i] == Nowhere {
				m.unit[d] = gcdOf(m.unit[d], m.need[i*m.dims+d])
			}
		}
		m.unit[d] = max(m.unit[d], 1)
	}
}

func gcdOf(a, b int64) int64 { return new(big.Int).GCD(nil, nil, big.NewInt(a), big.NewInt(b)).Int64() }

// classes sorts items and nodes.
func (m *model) classes() {
	m.kindOf = slices.Repeat([]int{Nowhere}, m.items)
	known := map[string]int{}
	for i := range m.items {
		if m.pin[i] != Nowhere {
			continue
		}
		key := string(m.itemKey(i))
		k, ok := known[key]
		if !ok {
			k = len(m.kinds)
			known[key] = k
			need := make([]int64, m.dims)
			for d := range need {
				need[d] = m.need[i*m.dims+d] / m.unit[d]
			}
			m.kinds = append(m.kinds, kind{need: need, gain: m.gain[i]})
		}
		m.kinds[k].items = append(m.kinds[k].items, i)
		m.kindOf[i] = k
	}
	m.findConflicts()
	m.splitByHome()
	m.top = make([]float64, m.dims)
	for s := range m.nodeClasses {
		for d, room := range m.nodeClasses[s].room {
			m.top[d] = max(m.top[d], float64(room*m.unit[d]))
		}
	}
}

func (m *model) itemKey(i int) (key []byte) {
	for d := range m.dims {
		key = binary.AppendVarint(key, m.need[i*m.dims+d])
	}
	key = binary.AppendVarint(key, m.gain[i])
	for _, w := range m.may[i] {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	for _, s := range m.sets[i] {
		key = binary.AppendVarint(key, int64(s))
	}
	return key
}

// findConflicts turns the sets of items into pairs of kinds.
func (m *model) findConflicts() {
	for _, items := range m.Apart {
		var mine []int
		for _, i := range items {
			k := m.kindOf[i]
			if k == Nowhere {
				continue
			}
			if slices.Contains(mine, k) {
				m.kinds[k].alone = true
				continue
			}
			mine = append(mine, k)
		}
		for _, k := range mine {
			if m.kinds[k].conflicts == nil && len(mine) > 1 {
				m.kinds[k].conflicts = newSet(len(m.kinds))
			}
			for _, other := range mine {
				if other != k {
					m.kinds[k].conflicts.add(other)
				}
			}
		}
	}
}

// splitByHome sorts the nodes.
func (m *model) splitByHome() {
	homes := make([][]share, m.nodes)
	for k := range m.kinds {
		for _, i := range m.kinds[k].items {
			n := m.home[i]
			if n == Nowhere {
				continue
			}
			if last := len(homes[n]) - 1; last >= 0 && homes[n][last].kind == k {
				homes[n][last].n++
			} else {
				homes[n] = append(homes[n], share{k, 1})
			}
		}
	}
	sites, spots := map[string]int{}, map[string]int{}
	for n := range m.nodes {
		s := m.nodeClassOf(n, sites)
		if s < 0 {
			continue
		}
		key := binary.AppendVarint(nil, int64(s))
		for _, h := range homes[n] {
			key = binary.AppendVarint(binary.AppendVarint(key, int64(h.kind)), int64(h.n))
		}
		t, ok := spots[string(key)]
		if !ok {
			t = len(m.homeClasses)
			spots[string(key)] = t
			m.homeClasses = append(m.homeClasses, homeClass{class: s, homes: homes[n]})
		}
		m.homeClasses[t].nodes = append(m.homeClasses[t].nodes, n)
	}
}

// nodeClassOf is the class of a node; -1 if no item may be there.
func (m *model) nodeClassOf(n int, known map[string]int) int {
	may, some := newSet(len(m.kinds)), false
	for k := range m.kinds {
		if m.may[m.kinds[k].items[0]].has(n) {
			may.add(k)
			some = true
		}
	}
	if !some {
		return -1
	}
	key, room := []byte{0}, make([]int64, m.dims)
	if m.busy[n] {
		key[0] = 1
	}
	for d := range room {
		room[d] = max(m.room[n*m.dims+d], 0) / m.unit[d]
		key = binary.AppendVarint(key, room[d])
	}
	for _, w := range may {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	s, ok := known[string(key)]
	if !ok {
		s = len(m.nodeClasses)
		known[string(key)] = s
		m.nodeClasses = append(m.nodeClasses, nodeClass{room: room, busy: m.busy[n], may: may})
	}
	return s
}

func (s set) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s set) first() int {
	for i, w := range s {
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w)
		}
	}
	return -1
}
