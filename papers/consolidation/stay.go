package consolidation

import (
	"cmp"
	"slices"
)

// stay builds packings from the items that stay at home: on the nodes that keep the most,
// weighted by their room, the more the harder it is to find room for the others.
func (s *cheapest) stay() {
	each := s.stayers()
	for _, weight := range []float64{0, 0.1, 0.3, 1, 3, 10} {
		if s.done() || !s.steps.spend(int64(s.items*s.nodes/2)) {
			return
		}
		s.offer(s.stayOn(each, weight))
	}
}

// candidate is a node, and the items that stay there if it stays open.
type candidate struct {
	node  int
	items []int
	worth float64 // of these, as a share of the average node's
	room  float64
}

func (s *cheapest) stayers() (each []candidate) {
	weight := s.all().weights(s.model)
	worth, room := 0.0, 0.0
	for t := range s.homeClasses {
		of, most := s.keep(&s.homeClasses[t])
		for _, n := range s.homeClasses[t].nodes {
			v := candidate{node: n, worth: float64(most)}
			for d, w := range weight {
				v.room += w * float64(s.classOf(t).room[d])
			}
			for _, sh := range of {
				v.items = append(v.items, s.natives(sh, n)...)
			}
			worth, room = worth+v.worth, room+v.room
			each = append(each, v)
		}
	}
	for v := range each {
		each[v].worth /= max(worth, 1) / float64(len(each))
		each[v].room /= max(room, 1e-9) / float64(len(each))
	}
	return each
}

// natives are so many items of a kind that are at home on a node.
func (m *model) natives(s share, n int) (items []int) {
	for _, i := range m.kinds[s.kind].items {
		if m.home[i] == n && len(items) < s.n {
			items = append(items, i)
		}
	}
	return items
}

// stayOn opens the best nodes, and puts the others, biggest first, where the least
// room is left.
func (s *cheapest) stayOn(each []candidate, weight float64) []int {
	each = slices.Clone(each)
	score := func(v candidate) float64 {
		if s.busy[v.node] {
			return 1e18
		}
		return v.worth + weight*v.room
	}
	slices.SortStableFunc(each, func(a, b candidate) int { return cmp.Compare(score(b), score(a)) })
	p := s.newAssignment()
	if p == nil {
		return nil
	}
	defer p.leave()
	var open []int
	for _, v := range each {
		if !s.busy[v.node] && len(open) >= s.most-s.forced+s.busyOf(open) {
			break
		}
		open = append(open, v.node)
		for _, i := range v.items {
			if p.fits(i, v.node) {
				p.put(i, v.node)
			}
		}
	}
	e := &ejector{assignment: p, steps: s.steps, rng: s.rng, open: open, tries: slices.Repeat([]int64{1}, s.items)}
	for _, i := range s.sorted(s.size) {
		if p.at[i] == Nowhere && !e.tightest(i) {
			e.queue = append(e.queue, i)
		}
	}
	if !e.run(3000) {
		return nil
	}
	return p.at
}

// busyOf is how many of the nodes have a pinned item.
func (m *model) busyOf(nodes []int) (n int) {
	for _, node := range nodes {
		if m.busy[node] {
			n++
		}
	}
	return n
}

// tightest puts an item on the open node with the least room that has enough.
func (e *ejector) tightest(i int) bool {
	at, least := Nowhere, 0.0
	for _, n := range e.open {
		if e.fits(i, n) {
			if room := e.spare(n); at == Nowhere || room < least {
				at, least = n, room
			}
		}
	}
	if at != Nowhere {
		e.put(i, at)
	}
	return at != Nowhere
}
