package balance

// candidate is a move of one unit, and by how much it lowers the imbalance.
type candidate struct {
	gain     float64
	unit, to int
}

// beaten reports whether a move of a unit to a node would be preferred to the candidate. Of equal gains the first unit wins, and of
// that the first node, as in the loops of Algorithm 1.
func (c *candidate) beaten(gain float64, unit, to int) bool {
	if gain != c.gain {
		return gain > c.gain
	}
	return unit < c.unit || unit == c.unit && to < c.to
}

// search finds the single moves that lower the imbalance most.
type search struct {
	*state
	sources []source // by node
	bounds  []float64
	tree    tree
}

// source is what a node could lose.
type source struct {
	movable []int          // units that are not fixed and may be worth their cost, sorted
	largest [kinds]float64 // entitlements among them
}

func newSearch(st *state) *search {
	s := &search{state: st, sources: make([]source, len(st.c.Nodes)), bounds: make([]float64, len(st.c.Nodes))}
	for i := range s.sources {
		s.review(i)
	}
	s.tree = newTree(st)
	return s
}

// review updates what is known of the units of a node.
func (s *search) review(i int) {
	n := &s.sources[i]
	n.largest, n.movable = [kinds]float64{}, n.movable[:0]
	s.demands.foresee(i)
	for _, k := range s.layout.on[i] {
		u := &s.layout.units[k]
		if u.fixed != "" || !s.demands.mayPay(k) {
			continue
		}
		n.movable = append(n.movable, k)
		for _, r := range s.loads.resources {
			n.largest[r] = max(n.largest[r], u.size[r])
		}
	}
}

// best returns the move that lowers the imbalance most of those that are possible and gain more than the least: the
// result of one iteration of Algorithm 1. With hotOnly VMs leave only nodes over their capacity.
func (s *search) best(least float64, hotOnly bool) (candidate, bool) {
	c := candidate{gain: least, unit: -1, to: -1}
	if len(s.tree.boxes) == 0 {
		return c, false
	}
	first := -1
	for i := range s.bounds {
		s.bounds[i] = 0
		if s.mayLeave(i, hotOnly) {
			s.bounds[i] = s.mostGain(i)
		}
		if s.bounds[i] > 0 && (first < 0 || s.bounds[i] > s.bounds[first]) {
			first = i
		}
	}
	if first < 0 {
		return c, false
	}
	s.bestFrom(first, &c)
	for i, bound := range s.bounds {
		if i != first && bound > 0 && bound >= c.gain {
			s.bestFrom(i, &c)
		}
	}
	return c, c.unit >= 0
}

// mayLeave reports whether VMs may leave a node in this round.
func (s *search) mayLeave(i int, hotOnly bool) bool {
	return !s.limits.full(i) && !s.loads.nodes[i].leaving && (!hotOnly || s.loads.hot(i))
}

// mostGain bounds the gain of any move from a node.
func (s *search) mostGain(i int) float64 {
	return s.loads.mostGain(i, &s.sources[i].largest, &s.tree.boxes[0].corner)
}

// bestFrom improves a candidate by the units of a node.
func (s *search) bestFrom(i int, c *candidate) {
	for _, k := range s.sources[i].movable {
		s.bestTo(0, k, s.boundOf(0, &s.layout.units[k]), c)
	}
}

func (s *search) boundOf(b int, u *unit) float64 {
	return s.loads.gain(&u.size, &s.loads.nodes[u.node].corner, &s.tree.boxes[b].corner)
}

// bestTo improves a candidate by the moves of a unit to the nodes of a box.
func (s *search) bestTo(at, k int, bound float64, c *candidate) {
	b, u := &s.tree.boxes[at], &s.layout.units[k]
	if !c.beaten(bound, k, b.first) {
		return
	}
	if b.right > 0 {
		left, right := at+1, b.right
		leftBound, rightBound := s.boundOf(left, u), s.boundOf(right, u)
		if rightBound > leftBound || rightBound == leftBound && s.tree.boxes[right].first < s.tree.boxes[left].first {
			left, right, leftBound, rightBound = right, left, rightBound, leftBound
		}
		s.bestTo(left, k, leftBound, c)
		s.bestTo(right, k, rightBound, c)
		return
	}
	for _, to := range s.tree.order[b.from:b.to] {
		if to == u.node {
			continue
		}
		gain := s.loads.gainTo(u, to)
		if c.beaten(gain, k, to) && s.limits.hasRoom(u, to) && s.limits.refuses(u, to) == "" && s.demands.pays(k, to) {
			*c = candidate{gain, k, to}
		}
	}
}
