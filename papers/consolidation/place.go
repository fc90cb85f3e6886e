package consolidation

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// assignment is a packing in the making: which item is where.
type assignment struct {
	*model
	at   []int
	free []int64 // by node and dimension, as the pinned items leave it
	here [][]int // items by node, without the pinned
	crew []int32 // by set of Apart and node: how many of the set are there
	used int
}

// newAssignment has the pinned items only; nil if the veto does not admit one.
func (m *model) newAssignment() *assignment {
	p := &assignment{
		model: m, at: slices.Repeat([]int{Nowhere}, m.items), free: slices.Clone(m.room), here: make([][]int, m.nodes),
		crew: make([]int32, len(m.Apart)*m.nodes), used: m.forced,
	}
	for i, n := range m.pin {
		if n == Nowhere {
			continue
		}
		for _, s := range m.sets[i] {
			p.crew[s*m.nodes+n]++
		}
		if m.Veto != nil {
			if !m.Veto.Admits(i, n) {
				p.leave()
				return nil
			}
			m.Veto.Come(i, n)
		}
		p.at[i] = n
	}
	return p
}

// leave tells the veto that everything is nowhere again.
func (p *assignment) leave() {
	if p.Veto == nil {
		return
	}
	for i, n := range p.at {
		if n != Nowhere {
			p.Veto.Go(i, n)
		}
	}
}

// fits reports whether an item that is nowhere may come to a node.
func (p *assignment) fits(i, n int) bool {
	if !p.may[i].has(n) {
		return false
	}
	for d := range p.dims {
		if need := p.need[i*p.dims+d]; need > 0 && need > p.free[n*p.dims+d] {
			return false
		}
	}
	for _, s := range p.sets[i] {
		if p.crew[s*p.nodes+n] > 0 {
			return false
		}
	}
	return p.Veto == nil || p.Veto.Admits(i, n)
}

func (p *assignment) vacant(n int) bool { return len(p.here[n]) == 0 && !p.busy[n] }

func (p *assignment) put(i, n int) {
	if p.vacant(n) {
		p.used++
	}
	p.at[i] = n
	p.here[n] = append(p.here[n], i)
	for d := range p.dims {
		p.free[n*p.dims+d] -= p.need[i*p.dims+d]
	}
	for _, s := range p.sets[i] {
		p.crew[s*p.nodes+n]++
	}
	if p.Veto != nil {
		p.Veto.Come(i, n)
	}
}

func (p *assignment) take(i int) {
	n := p.at[i]
	p.at[i] = Nowhere
	j := slices.Index(p.here[n], i)
	last := len(p.here[n]) - 1
	p.here[n][j] = p.here[n][last]
	p.here[n] = p.here[n][:last]
	if p.vacant(n) {
		p.used--
	}
	for d := range p.dims {
		p.free[n*p.dims+d] += p.need[i*p.dims+d]
	}
	for _, s := range p.sets[i] {
		p.crew[s*p.nodes+n]--
	}
	if p.Veto != nil {
		p.Veto.Go(i, n)
	}
}

// load has the items where another packing has them, and reports whether the veto
// admits them all.
func (m *model) load(at []int) (p *assignment, ok bool) {
	if p = m.newAssignment(); p == nil {
		return nil, false
	}
	for i, n := range at {
		if m.pin[i] != Nowhere {
			continue
		}
		if n == Nowhere || !p.fits(i, n) {
			p.leave()
			return nil, false
		}
		p.put(i, n)
	}
	return p, true
}

// usedBy is how many nodes a packing uses.
func (m *model) usedBy(at []int) (used int) {
	seen := newSet(m.nodes)
	for _, n := range at {
		if !seen.has(n) {
			seen.add(n)
			used++
		}
	}
	return used
}

// realize gives the patterns nodes and the items places in them: first those that are
// at home there. Patterns may have more of a kind than there are.
func (m *model) realize(chosen []pattern) []int {
	at, next, node := slices.Clone(m.pin), make([]int, len(m.homeClasses)), make([]int, len(chosen))
	waiting := make([][]int, len(m.kinds))
	for k := range m.kinds {
		waiting[k] = slices.Clone(m.kinds[k].items)
	}
	more := make([][]share, len(chosen)) // of each pattern, the items that are not at home there
	for c := range chosen {
		p := &chosen[c]
		node[c] = m.homeClasses[p.class].nodes[next[p.class]]
		next[p.class]++
		for _, s := range p.of {
			waiting[s.kind] = slices.DeleteFunc(waiting[s.kind], func(i int) bool {
				if m.home[i] != node[c] || s.n == 0 {
					return false
				}
				at[i] = node[c]
				s.n--
				return true
			})
			more[c] = append(more[c], s)
		}
	}
	for c := range chosen {
		for _, s := range more[c] {
			n := min(s.n, len(waiting[s.kind]))
			for _, i := range waiting[s.kind][:n] {
				at[i] = node[c]
			}
			waiting[s.kind] = waiting[s.kind][n:]
		}
	}
	return at
}

// patterns are those by which a packing fills its nodes.
func (m *model) patterns(at []int) (list []pattern) {
	if at == nil {
		return nil
	}
	of := make([][]share, m.nodes)
	for k := range m.kinds {
		for _, i := range m.kinds[k].items {
			n := at[i]
			if last := len(of[n]) - 1; last >= 0 && of[n][last].kind == k {
				of[n][last].n++
			} else {
				of[n] = append(of[n], share{k, 1})
			}
		}
	}
	for s := range m.homeClasses {
		for _, n := range m.homeClasses[s].nodes {
			if len(of[n]) > 0 {
				list = append(list, pattern{class: s, of: of[n]})
			}
		}
	}
	return list
}

// orders are ways to sort items, hardest first: by each dimension, by the sum and by
// the greatest of their shares, and some at random.
func (m *model) orders(rng *rand.Rand) (list [][]int) {
	sum, top := make([]float64, m.items), make([]float64, m.items)
	weight := m.all().weights(m)
	for i, k := range m.kindOf {
		if k == Nowhere {
			continue
		}
		for d, need := range m.kinds[k].need {
			share := 0.0
			if m.top[d] > 0 {
				share = float64(need*m.unit[d]) / m.top[d]
			}
			sum[i] += weight[d] * share
			top[i] = max(top[i], share)
		}
	}
	by := []func(i int) float64{func(i int) float64 { return sum[i] }, func(i int) float64 { return top[i] }}
	for d := range m.dims {
		by = append(by, func(i int) float64 { return float64(m.need[i*m.dims+d]) })
	}
	for range 4 {
		noise := make([]float64, m.items)
		for i := range noise {
			noise[i] = sum[i] * (0.8 + 0.4*rng.Float64())
		}
		by = append(by, func(i int) float64 { return noise[i] })
	}
	for _, f := range by {
		list = append(list, m.sorted(f))
	}
	return list
}

// sorted are the items that are not pinned, greatest first; of equals those that have
// the fewest nodes.
func (m *model) sorted(by func(i int) float64) (list []int) {
	for i, n := range m.pin {
		if n == Nowhere {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(m.may[a].count(), m.may[b].count()))
	})
	return list
}

// fitAll puts one item after the other on the node that is first, or, if best, that is
// fullest then, and opens nodes as they come. The veto is left clear.
func (m *model) fitAll(order, nodes []int, best bool) []int {
	p := m.newAssignment()
	if p == nil {
		return nil
	}
	defer p.leave()
	for _, i := range order {
		at, least := Nowhere, 0.0
		for _, n := range nodes {
			if !p.fits(i, n) || p.vacant(n) && at != Nowhere {
				continue
			}
			room := 0.0
			if best && !p.vacant(n) {
				room = p.spare(n)
			}
			if at == Nowhere || room < least && !p.vacant(n) || p.vacant(at) && !p.vacant(n) {
				at, least = n, room
			}
			if !best && !p.vacant(n) {
				break
			}
		}
		if at == Nowhere {
			return nil
		}
		p.put(i, at)
	}
	return p.at
}

// spare is how much of a node is free, summed over the dimensions.
func (p *assignment) spare(n int) (sum float64) {
	for d := range p.dims {
		if p.top[d] > 0 {
			sum += float64(p.free[n*p.dims+d]) / p.top[d]
		}
	}
	return sum
}

// size is how big an item is, summed over the dimensions.
func (m *model) size(i int) (sum float64) {
	for d := range m.dims {
		if m.top[d] > 0 {
			sum += float64(m.need[i*m.dims+d]) / m.top[d]
		}
	}
	return sum
}

// FirstFit is what the heuristic that others consolidate with comes to (First Fit
// Decreasing, thesis eq. 7.3): the items, those first that need the most in one
// dimension, each on the first node that has room; nil if that fails.
func FirstFit(p *Problem, dimension int) []int {
	m, ok := newModel(p, false)
	if !ok {
		return nil
	}
	nodes := make([]int, m.nodes)
	for n := range nodes {
		nodes[n] = n
	}
	order := make([]int, 0, m.items)
	for i, n := range m.pin {
		if n == Nowhere {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(m.need[b*m.dims+dimension], m.need[a*m.dims+dimension])
	})
	place := m.newAssignment()
	if place == nil {
		return nil
	}
	defer place.leave()
	for _, i := range order {
		j := slices.IndexFunc(nodes, func(n int) bool { return place.fits(i, n) })
		if j < 0 {
			return nil
		}
		place.put(i, nodes[j])
	}
	return place.at
}
