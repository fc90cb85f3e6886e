package fill

import (
	"cmp"
	"slices"
)

// filling is what a node holds.
type filling struct {
	items []int
	free  []int64 // what it leaves free, by dimension
	cost  int64
	rank  float64 // the cost with some noise
}

// filler enumerates the fillings of a node: some of the items at home leave, and others come.
type filler struct {
	*search
	node   int
	depth  int   // how many items may come
	most   int64 // what a filling must cost less than
	steps  int
	others []int // items that may come, the largest first
	gap    []int64
	chosen []int
	list   []*filling
}

// fillings returns the fillings of the node with items that are left, the cheapest first.
func (f *filler) fillings() []*filling {
	budget := f.steps
	f.gap = make([]int64, f.Dims)
	f.findOthers()
	var mine []int
	for _, i := range f.home[f.node] {
		if f.at[i] == Nowhere {
			mine = append(mine, i)
		}
	}
	slices.SortFunc(mine, func(a, b int) int { return cmp.Or(cmp.Compare(f.Cost[a], f.Cost[b]), cmp.Compare(a, b)) })
	for _, m := range f.leavers(mine) {
		copy(f.gap, f.Room[f.node*f.Dims:(f.node+1)*f.Dims])
		f.chosen = f.chosen[:0]
		for b, i := range mine {
			if b >= maxHome || m.set>>b&1 == 0 {
				f.chosen = append(f.chosen, i)
				f.take(i, 1)
			}
		}
		if f.add(0, f.depth, m.cost); f.steps <= 0 {
			break
		}
	}
	f.search.steps -= budget - max(f.steps, 0) + len(f.items)/16
	slices.SortFunc(f.list, func(a, b *filling) int { return cmp.Compare(a.rank, b.rank) })
	return f.list
}

// findOthers finds the items that may come: those without a home that is open first, in part.
func (f *filler) findOthers() {
	var homeless, settled []int
	for _, i := range f.items {
		switch {
		case f.at[i] != Nowhere || f.Home[i] == f.node || !f.May(i, f.node):
		case !f.settled(i):
			homeless = append(homeless, i)
		case f.Cost[i] < Fixed:
			settled = append(settled, i)
		}
	}
	for _, list := range [...][]int{homeless, settled} {
		f.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	f.others = append(f.others, homeless[:min(len(homeless), window*2/3)]...)
	f.others = append(f.others, settled[:min(len(settled), window-len(f.others))]...)
	slices.SortFunc(f.others, func(a, b int) int { return cmp.Or(cmp.Compare(f.tightNeed(b), f.tightNeed(a)), cmp.Compare(a, b)) })
}

// settled reports whether an item may still stay at home.
func (s *search) settled(i int) bool { return s.Home[i] != Nowhere && s.open[s.Home[i]] }

func (s *search) tightNeed(i int) int64 { return s.Need[i*s.Dims+s.tight] }

// leaving is a set of items at home that leave.
type leaving struct {
	set  int
	cost int64
}

// leavers returns the sets of items that may leave, of those at home in the order of their costs, the cheapest set first.
func (f *filler) leavers(mine []int) []leaving {
	sets, most := []leaving{{}}, min(f.most, Fixed)
	for b, i := range mine[:min(len(mine), maxHome)] {
		for _, m := range sets {
			if cost := m.cost + f.Cost[i]; cost < most {
				sets = append(sets, leaving{m.set | 1<<b, cost})
			}
		}
	}
	slices.SortFunc(sets, func(a, b leaving) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.set, b.set)) })
	return sets
}

func (f *filler) take(i int, sign int64) {
	for d := range f.gap {
		f.gap[d] -= sign * f.Need[i*f.Dims+d]
	}
}

// add notes the filling if it leaves little free, and adds up to some more items, from a
// position in the others on.
func (f *filler) add(from, more int, cost int64) {
	f.steps--
	fits, full := true, true
	for d, g := range f.gap {
		fits, full = fits && g >= 0, full && g <= f.slack[d]
	}
	if !fits || cost >= f.most || f.steps <= 0 {
		return
	}
	if full {
		f.note(cost)
	}
	for j := from; j < len(f.others) && more > 0; j++ {
		i := f.others[j]
		need := f.tightNeed(i)
		if need > f.gap[f.tight] {
			continue
		}
		if left := len(f.others) - j; need*int64(min(more, left)) < f.gap[f.tight]-f.slack[f.tight] {
			return // the others are smaller
		}
		extra := int64(0)
		if f.settled(i) {
			extra = f.Cost[i]
		}
		f.take(i, 1)
		f.chosen = append(f.chosen, i)
		f.add(j+1, more-1, cost+extra)
		f.chosen = f.chosen[:len(f.chosen)-1]
		f.take(i, -1)
		if f.steps <= 0 {
			return
		}
	}
}

func (f *filler) note(cost int64) {
	if cost += f.Wait(f.node, f.chosen); cost >= f.most {
		return
	}
	f.list = append(f.list, &filling{slices.Clone(f.chosen), slices.Clone(f.gap), cost, float64(cost) * (1 + 0.2*f.rng.Float64())})
	if len(f.list) == maxFillings {
		f.steps = 0
	}
}
