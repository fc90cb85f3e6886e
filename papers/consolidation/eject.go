package consolidation

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// ejector packs items without a place onto the open nodes. It displaces others for them: those
// that have found places most easily so far. In between, items change nodes at random.
type ejector struct {
	*assignment
	steps *stepBudget
	rng   *rand.Rand
	open  []int
	queue []int
	tries []int64 // by item: how often it was hard to place
}

// eject looks for a packing on one node less, until the steps has run out: it closes
// one node after the other, for a while each, the emptiest ones first.
func (s *fewest) eject(steps *stepBudget) {
	part := s.At
	if part == nil {
		part = s.partial()
	}
	for round := 0; steps.left > 0 && part != nil && s.Bound < s.Used; round++ {
		p, ok := s.begin(part)
		if !ok {
			return
		}
		e := &ejector{assignment: p, steps: steps, rng: s.rng, tries: slices.Repeat([]int64{1}, s.items)}
		for i := range p.at {
			if p.at[i] == Nowhere {
				e.queue = append(e.queue, i)
			}
		}
		if s.At != nil && !e.close(round) {
			p.leave()
			return
		}
		e.collect(s.At == nil)
		if e.run(int64(2000) << min(round/4, 20)) {
			s.settle(p.at)
			part = s.At
		}
		p.leave()
	}
}

// begin has everything where a packing has it, if it has it somewhere.
func (m *model) begin(at []int) (*assignment, bool) {
	p := m.newAssignment()
	if p == nil {
		return nil, false
	}
	for i, n := range at {
		if m.pin[i] == Nowhere && n != Nowhere && p.fits(i, n) {
			p.put(i, n)
		}
	}
	return p, true
}

// partial packs what can be packed simply.
func (s *fewest) partial() []int {
	p := s.newAssignment()
	if p == nil {
		return nil
	}
	nodes := s.byRoom()
	for _, i := range s.orders(s.rng)[0] {
		if j := slices.IndexFunc(nodes, func(n int) bool { return p.fits(i, n) }); j >= 0 {
			p.put(i, nodes[j])
		}
	}
	p.leave()
	return p.at
}

// close empties an open node: at first the emptiest one, later one by chance.
func (e *ejector) close(round int) bool {
	var list []int
	for n := range e.nodes {
		if len(e.here[n]) > 0 && !e.busy[n] {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return false
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(e.spare(b), e.spare(a)) })
	if round >= len(list) {
		round = e.rng.IntN(len(list))
	}
	for _, i := range slices.Clone(e.here[list[round]]) {
		e.take(i)
		e.queue = append(e.queue, i)
	}
	return true
}

// collect notes which nodes are open: those with items, or all.
func (e *ejector) collect(all bool) {
	for n := range e.nodes {
		if all || !e.vacant(n) {
			e.open = append(e.open, n)
		}
	}
}

// run places the items of the queue in so many rounds, or fails.
func (e *ejector) run(rounds int64) bool {
	for ; rounds > 0 && len(e.queue) > 0 && len(e.open) > 0; rounds-- {
		i := e.queue[len(e.queue)-1]
		e.queue = e.queue[:len(e.queue)-1]
		if e.insert(i) {
			continue
		}
		e.tries[i]++
		if !e.replace(i) {
			e.queue = append([]int{i}, e.queue...)
		}
		e.perturb()
		if !e.steps.spend(int64(len(e.open) * 8)) {
			return false
		}
	}
	return len(e.queue) == 0
}

// insert puts an item where there is room, by chance if there are several places.
func (e *ejector) insert(i int) bool {
	at, seen := Nowhere, 0
	for _, n := range e.open {
		if e.fits(i, n) {
			if seen++; e.rng.IntN(seen) == 0 {
				at = n
			}
		}
	}
	if at != Nowhere {
		e.put(i, at)
	}
	return at != Nowhere
}

// replace puts an item in the place of one or two others, those that are easiest to
// place, and these in the queue.
func (e *ejector) replace(i int) bool {
	least, at, out := int64(1)<<62, Nowhere, [2]int{}
	seen := 0
	for _, n := range e.open {
		if !e.may[i].has(n) {
			continue
		}
		here := e.here[n]
		for a := range here {
			for b := a; b < len(here); b++ {
				cost := e.tries[here[a]]
				if b > a {
					cost += e.tries[here[b]]
				}
				if cost > least || !e.gives(i, n, here[a], here[b]) {
					continue
				}
				if cost < least {
					least, seen = cost, 0
				}
				if seen++; e.rng.IntN(seen) == 0 {
					at, out = n, [2]int{here[a], here[b]}
				}
			}
		}
	}
	if at == Nowhere {
		return false
	}
	e.take(out[0])
	e.queue = append(e.queue, out[0])
	if out[1] != out[0] {
		e.take(out[1])
		e.queue = append(e.queue, out[1])
	}
	if !e.fits(i, at) {
		return false // the veto, or a set that both are in
	}
	e.put(i, at)
	return true
}

// gives reports whether a node has room for an item without one or two others.
func (e *ejector) gives(i, n, a, b int) bool {
	for d := range e.dims {
		need := e.need[i*e.dims+d]
		if need == 0 {
			continue
		}
		room := e.free[n*e.dims+d] + e.need[a*e.dims+d]
		if a != b {
			room += e.need[b*e.dims+d]
		}
		if need > room {
			return false
		}
	}
	for _, s := range e.sets[i] {
		crew := e.crew[s*e.nodes+n]
		if crew > 0 && slices.Contains(e.sets[a], s) {
			crew--
		}
		if crew > 0 && a != b && slices.Contains(e.sets[b], s) {
			crew--
		}
		if crew > 0 {
			return false
		}
	}
	return true
}

// perturbations is how many items change nodes by chance between two that are placed.
const perturbations = 10

// perturb moves and swaps items at random.
func (e *ejector) perturb() {
	for range perturbations {
		n, other := e.open[e.rng.IntN(len(e.open))], e.open[e.rng.IntN(len(e.open))]
		if n == other || len(e.here[n]) == 0 {
			continue
		}
		a := e.here[n][e.rng.IntN(len(e.here[n]))]
		if len(e.here[other]) == 0 || e.rng.IntN(2) == 0 {
			e.shift(a, other)
			continue
		}
		e.swap(a, e.here[other][e.rng.IntN(len(e.here[other]))])
	}
}

// shift moves an item, if it may go.
func (p *assignment) shift(i, n int) bool {
	from := p.at[i]
	p.take(i)
	if p.fits(i, n) {
		p.put(i, n)
		return true
	}
	p.put(i, from)
	return false
}

// swap has two items change places, if they may.
func (p *assignment) swap(a, b int) bool {
	n, other := p.at[a], p.at[b]
	if !p.room2(a, b, n, other) {
		return false
	}
	p.take(a)
	p.take(b)
	if p.fits(a, other) {
		p.put(a, other)
		if p.fits(b, n) {
			p.put(b, n)
			return true
		}
		p.take(a)
	}
	p.put(a, n)
	p.put(b, other)
	return false
}

// room2 reports quickly whether there is room for a swap.
func (p *assignment) room2(a, b, n, other int) bool {
	if !p.may[a].has(other) || !p.may[b].has(n) {
		return false
	}
	for d := range p.dims {
		more := p.need[a*p.dims+d] - p.need[b*p.dims+d]
		if more > p.free[other*p.dims+d] || -more > p.free[n*p.dims+d] {
			return false
		}
	}
	return true
}
