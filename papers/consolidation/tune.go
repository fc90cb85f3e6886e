package consolidation

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// improver makes a packing cheaper by small changes, on at most so many nodes.
type improver struct {
	*assignment
	most  int
	steps *stepBudget
}

// polish makes changes as long as one makes the packing cheaper: nodes change all
// their items, an item goes home, or changes places with one that is there.
func (t *improver) polish() {
	for better := true; better && t.steps.left > 0; {
		better = t.trade()
		for i := range t.at {
			if t.pin[i] == Nowhere && t.homeward(i) {
				better = true
			}
		}
	}
}

// away is what an item would save at home.
func (t *improver) away(i int) int64 {
	if h := t.home[i]; h != Nowhere && t.at[i] != h {
		return t.Cost(i, t.at[i]) - t.Cost(i, h)
	}
	return 0
}

// homeward brings an item home, in the place of another if need be.
func (t *improver) homeward(i int) bool {
	saved, h := t.away(i), t.home[i]
	if saved <= 0 || t.vacant(h) && t.used >= t.most && len(t.here[t.at[i]]) > 1 {
		return false
	}
	if t.shift(i, h) {
		return true
	}
	from := t.at[i]
	for _, other := range slices.Clone(t.here[h]) {
		if t.Cost(other, from)-t.Cost(other, h) < saved && t.swap(i, other) {
			return true
		}
	}
	return false
}

// trade has nodes change all their items, if that is cheaper.
func (t *improver) trade() (better bool) {
	for i := range t.at {
		if t.pin[i] != Nowhere || t.away(i) <= 0 {
			continue
		}
		n, h := t.at[i], t.home[i]
		t.steps.spend(int64(len(t.here[n])+len(t.here[h])) * 4)
		if t.busy[n] == t.busy[h] && t.tradeCost(n, h) < 0 && t.exchange(n, h) {
			better = true
		}
	}
	return better
}

func (t *improver) tradeCost(n, other int) (sum int64) {
	for _, i := range t.here[n] {
		sum += t.Cost(i, other) - t.Cost(i, n)
	}
	for _, i := range t.here[other] {
		sum += t.Cost(i, n) - t.Cost(i, other)
	}
	return sum
}

// exchange has two nodes change all their items, if these may.
func (t *improver) exchange(n, other int) bool {
	mine, theirs := slices.Clone(t.here[n]), slices.Clone(t.here[other])
	return t.again(append(slices.Clone(mine), theirs...), func() bool {
		return t.putAll(mine, other) && t.putAll(theirs, n)
	})
}

func (p *assignment) putAll(items []int, n int) bool {
	for _, i := range items {
		if !p.fits(i, n) {
			return false
		}
		p.put(i, n)
	}
	return true
}

// again takes items away and has them put elsewhere; if that fails, all are back where
// they were.
func (p *assignment) again(items []int, put func() bool) bool {
	was := make([]int, len(items))
	for j, i := range items {
		was[j] = p.at[i]
		p.take(i)
	}
	if put() {
		return true
	}
	p.back(items, was)
	return false
}

// back has items where they were, wherever they are.
func (p *assignment) back(items, was []int) {
	for _, i := range items {
		if p.at[i] != Nowhere {
			p.take(i)
		}
	}
	for j, i := range items {
		p.put(i, was[j])
	}
}

// rebuild empties a few nodes at a time and fills them anew, homes first, as long as
// the steps allows. What is not dearer is kept.
func (s *cheapest) rebuild(steps *stepBudget) {
	p, ok := s.load(s.At)
	if !ok {
		return
	}
	t := &improver{assignment: p, most: s.most, steps: steps}
	for steps.left > 0 && !s.Proved {
		items := t.some(s.rng)
		if len(items) == 0 {
			break
		}
		if !t.refill(items, s.rng) {
			continue
		}
		for _, i := range items {
			t.homeward(i)
		}
		s.settle(p.at)
	}
	p.leave()
}

// some are the items of a few nodes: where one is that is not at home, its home, and
// others by chance.
func (t *improver) some(rng *rand.Rand) (items []int) {
	var strangers []int
	for i := range t.at {
		if t.pin[i] == Nowhere && t.away(i) > 0 {
			strangers = append(strangers, i)
		}
	}
	t.steps.spend(int64(t.items)/4 + 1)
	if len(strangers) == 0 {
		return nil
	}
	i := strangers[rng.IntN(len(strangers))]
	nodes := []int{t.at[i], t.home[i]}
	for range 1 + rng.IntN(3) {
		j := strangers[rng.IntN(len(strangers))]
		nodes = append(nodes, t.at[j], t.home[j])
	}
	slices.Sort(nodes)
	for _, n := range slices.Compact(nodes) {
		items = append(items, t.here[n]...)
	}
	return items
}

// refill puts items anew, in an order by chance, those first that save the most, and
// reports whether that is not dearer.
func (t *improver) refill(items []int, rng *rand.Rand) bool {
	was, before := make([]int, len(items)), int64(0)
	rank := make([]float64, t.items)
	for j, i := range items {
		was[j] = t.at[i]
		before += t.Cost(i, t.at[i])
		rank[i] = float64(t.gain[i]+1) * rng.Float64()
	}
	for _, i := range items {
		t.take(i)
	}
	order := slices.Clone(items)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank[b], rank[a]) })
	if t.reinsert(order, rng) && t.used <= t.most {
		after := int64(0)
		for _, i := range items {
			after += t.Cost(i, t.at[i])
		}
		if after <= before {
			return true
		}
	}
	t.back(items, was)
	return false
}

// reinsert brings items home where that is possible, mostly, and then the greatest
// first where there is the least room for them.
func (t *improver) reinsert(order []int, rng *rand.Rand) bool {
	var rest []int
	for _, i := range order {
		h := t.home[i]
		if h == Nowhere || rng.IntN(8) == 0 || t.vacant(h) && t.used >= t.most || !t.fits(i, h) {
			rest = append(rest, i)
			continue
		}
		t.put(i, h)
	}
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(t.size(b), t.size(a)) })
	t.steps.spend(int64(len(rest)*t.nodes)/4 + 1)
	for _, i := range rest {
		if !t.tightest(i) {
			return false
		}
	}
	return true
}

// tightest puts an item on the node with the least room that has enough.
func (t *improver) tightest(i int) bool {
	at, least := Nowhere, 0.0
	for n := range t.nodes {
		if t.vacant(n) && t.used >= t.most || !t.fits(i, n) {
			continue
		}
		room := t.spare(n)
		if t.vacant(n) {
			room += 1e6
		}
		if at == Nowhere || room < least {
			at, least = n, room
		}
	}
	if at == Nowhere {
		return false
	}
	t.put(i, at)
	return true
}
