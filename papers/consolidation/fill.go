package consolidation

import (
	"cmp"
	"slices"
)

// pattern is a way to fill a node of a spot.
type pattern struct {
	class int
	of    []share // by rising kind
	gain  int64   // of those that are at home there
}

// filler finds the most valuable patterns of one site: a knapsack of several
// dimensions, by branch and bound. What the rest of the kinds may still add is known
// for each dimension by itself, and for their sum, by dynamic programming.
type filler struct {
	m     *model
	site  *nodeClass
	value []int64 // by kind
	left  []int   // how many of each kind there are
	order []int   // kinds worth something that may be here, by falling value for their size
	step  [][]int // by dimension and place in order: how many cells one takes
	most  [][]int64
	cells []int
	weigh []int64 // by dimension, for the sum of the dimensions

	room    []int64 // what is free
	free    []int   // the same in cells
	count   []int   // by kind, as put so far
	with    []int   // the kinds that are in
	worth   int64
	best    int64
	found   []share
	every   func(of []share) bool // told of each full pattern above best, if it is not nil
	budget  int64
	stopped bool
}

// grid is into how many cells a dimension is cut if it is greater.
const grid = 256

// newFiller makes the tables for kinds of these values.
func newFiller(m *model, s int, value []int64, left []int, all bool) *filler {
	f := &filler{m: m, site: &m.nodeClasses[s], value: value, left: left, count: make([]int, len(m.kinds))}
	for k := range m.kinds {
		if left[k] > 0 && (value[k] > 0 || all) && f.site.may.has(k) {
			f.order = append(f.order, k)
		}
	}
	f.balance()
	f.room = slices.Clone(f.site.room)
	f.cut()
	f.tabulate()
	f.free = slices.Clone(f.cells)
	return f
}

// balance chooses how much each dimension weighs in the sum, so that what can be
// packed of a room with the sum only is worth the least, and sorts by it.
func (f *filler) balance() {
	f.weigh = slices.Repeat([]int64{8}, f.m.dims)
	least := f.sortByDensity()
	for changed := f.m.dims > 1; changed; {
		changed = false
		for d := range f.weigh {
			for _, by := range [...][2]int64{{2, 1}, {1, 2}} {
				was := f.weigh[d]
				f.weigh[d] = was * by[0] / by[1]
				if worth := f.sortByDensity(); f.weigh[d] > 0 && f.weigh[d] <= 512 && worth < least*0.999 {
					least, changed = worth, true
					continue
				}
				f.weigh[d] = was
			}
		}
	}
	f.sortByDensity()
}

// sortByDensity puts those first that are worth the most for their bulk, and returns
// what so much of them is worth that the bulk is that of the room, the last in part.
func (f *filler) sortByDensity() (worth float64) {
	density, bulk := make([]float64, len(f.m.kinds)), make([]float64, len(f.m.kinds))
	for _, k := range f.order {
		bulk[k] = float64(f.bulk(k) + 1)
		density[k] = float64(f.value[k]) / bulk[k]
	}
	slices.SortFunc(f.order, func(a, b int) int {
		return cmp.Or(cmp.Compare(density[b], density[a]), cmp.Compare(a, b))
	})
	room := float64(f.whole())
	for _, k := range f.order {
		all := bulk[k] * float64(f.copies(k))
		if all >= room {
			return worth + density[k]*room
		}
		worth += density[k] * all
		room -= all
	}
	return worth
}

// bulk is the weighted sum of the shares of the site's room that one of the kind
// takes, in millionths.
func (f *filler) bulk(k int) (sum int64) {
	for d, need := range f.m.kinds[k].need {
		if f.site.room[d] > 0 {
			sum += f.weigh[d] * scaled(need, million, f.site.room[d])
		}
	}
	return sum
}

// whole is the bulk of the site's room.
func (f *filler) whole() (sum int64) {
	for _, w := range f.weigh {
		sum += w * million
	}
	return max(sum, 1)
}

const million = 1_000_000

// scaled is a share of a whole in parts, rounded down.
func scaled(part, parts, whole int64) int64 {
	if part <= (1<<62)/parts {
		return part * parts / whole
	}
	return int64(float64(part) / float64(whole) * float64(parts) * (1 - 1e-12))
}

// cut counts in cells what the kinds take in each dimension, and in their sum. Each is
// rounded down, so that what fits in the room fits in the cells.
func (f *filler) cut() {
	dims := f.m.dims
	for d := range dims {
		cells := min(f.site.room[d], grid)
		step := make([]int, len(f.order))
		for i, k := range f.order {
			if cells > 0 {
				step[i] = int(scaled(f.m.kinds[k].need[d], cells, f.site.room[d]))
			}
		}
		f.cells, f.step = append(f.cells, int(cells)), append(f.step, step)
	}
	if dims < 2 {
		return
	}
	step := make([]int, len(f.order))
	for i, k := range f.order {
		step[i] = int(f.bulk(k) * grid / f.whole())
	}
	f.cells, f.step = append(f.cells, grid), append(f.step, step)
}

// tabulate computes for each place in the order and number of free cells the most that
// the kinds from there on are worth.
func (f *filler) tabulate() {
	n := len(f.order)
	for d, cells := range f.cells {
		w := cells + 1
		table := make([]int64, (n+1)*w)
		for i := n - 1; i >= 0; i-- {
			row, k := table[i*w:(i+1)*w], f.order[i]
			copy(row, table[(i+1)*w:(i+2)*w])
			for copies, part := f.copies(k), 1; copies > 0; part *= 2 {
				part = min(part, copies)
				copies -= part
				addTo(row, f.step[d][i]*part, f.value[k]*int64(part))
			}
		}
		f.most = append(f.most, table)
	}
}

// addTo offers one more item to all numbers of free cells.
func addTo(row []int64, step int, value int64) {
	for c := len(row) - 1; c >= step; c-- {
		row[c] = max(row[c], row[c-step]+value)
	}
}

// copies is how many of a kind can be in one node.
func (f *filler) copies(k int) int {
	n := f.left[k]
	if f.m.kinds[k].alone {
		n = min(n, 1)
	}
	for d, need := range f.m.kinds[k].need {
		if need > 0 {
			n = int(min(int64(n), f.site.room[d]/need))
		}
	}
	return n
}

// rest is a number that what the kinds from i on can add is not above.
func (f *filler) rest(i int) int64 {
	least := int64(1) << 62
	for d, free := range f.free {
		least = min(least, f.most[d][i*(f.cells[d]+1)+free])
	}
	return least
}

// fits reports whether one more of a kind may come.
func (f *filler) fits(k int) bool {
	kd := &f.m.kinds[k]
	if f.count[k] >= f.left[k] || kd.alone && f.count[k] > 0 {
		return false
	}
	for d, need := range kd.need {
		if need > f.room[d] && need > 0 {
			return false
		}
	}
	if kd.conflicts == nil {
		return true
	}
	return !slices.ContainsFunc(f.with, kd.conflicts.has)
}

// put puts some of a kind in; fewer than none takes back what was put last.
func (f *filler) put(k, n int, worth int64) {
	if n > 0 && f.count[k] == 0 {
		f.with = append(f.with, k)
	}
	if f.count[k] += n; n < 0 && f.count[k] == 0 {
		f.with = f.with[:len(f.with)-1]
	}
	f.worth += worth
	for d, need := range f.m.kinds[k].need {
		f.room[d] -= need * int64(n)
	}
}

// walk decides on the kinds from i on.
func (f *filler) walk(i int) {
	for ; i < len(f.order); i++ {
		if f.budget--; f.budget < 0 {
			f.stopped = true
			return
		}
		if f.worth+f.rest(i) <= f.best {
			return
		}
		k := f.order[i]
		if !f.fits(k) {
			continue
		}
		f.put(k, 1, f.value[k])
		for d := range f.free {
			f.free[d] -= f.step[d][i]
		}
		f.walk(i)
		f.put(k, -1, -f.value[k])
		for d := range f.free {
			f.free[d] += f.step[d][i]
		}
		if f.stopped {
			return
		}
	}
	f.end()
}

// end is a pattern to which nothing of value is added any more.
func (f *filler) end() {
	if f.worth <= f.best {
		return
	}
	if f.every == nil {
		f.best, f.found = f.worth, f.shares()
		return
	}
	if slices.ContainsFunc(f.order, f.fits) {
		return
	}
	if !f.every(f.shares()) {
		f.stopped = true
	}
}

func (f *filler) shares() []share {
	of := make([]share, len(f.with))
	for i, k := range f.with {
		of[i] = share{k, f.count[k]}
	}
	slices.SortFunc(of, func(a, b share) int { return cmp.Compare(a.kind, b.kind) })
	return of
}

// fill finds the most valuable pattern of a spot above a worth, with what it is worth; exact: the
// worth is one that no pattern is above. At home, items are worth more.
func (f *filler) fill(homes []share, extra func(k int) int64, above, budget int64) (of []share, worth int64, exact bool) {
	f.best, f.found, f.budget, f.stopped = above, nil, budget, false
	all := f.rest(0)
	for _, h := range homes {
		all += (f.value[h.kind] + extra(h.kind)) * int64(min(h.n, f.left[h.kind]))
	}
	f.settle(homes, extra)
	if f.stopped {
		return f.found, max(all, f.best), false
	}
	return f.found, f.best, true
}

// settle decides how many stay at home, and then on the others.
func (f *filler) settle(homes []share, extra func(k int) int64) {
	if f.stopped {
		return
	}
	if len(homes) == 0 {
		f.walk(0)
		return
	}
	k, most := homes[0].kind, 0
	for most < homes[0].n && f.fits(k) {
		f.put(k, 1, 0)
		most++
	}
	f.put(k, -most, 0)
	each := f.value[k] + extra(k)
	for n := most; n >= 0; n-- {
		undo := f.reserve(k, n, each)
		f.settle(homes[1:], extra)
		undo()
	}
}

// reserve puts some of a kind in, and takes the cells for it.
func (f *filler) reserve(k, n int, each int64) (undo func()) {
	free := slices.Clone(f.free)
	f.put(k, n, each*int64(n))
	for d := range f.free {
		if d < f.m.dims && f.site.room[d] > 0 {
			f.free[d] = int(scaled(max(f.room[d], 0), int64(f.cells[d]), f.site.room[d]))
		}
	}
	if len(f.free) > f.m.dims {
		f.free[f.m.dims] = max(f.free[f.m.dims]-int(f.bulk(k)*int64(n)*grid/f.whole()), 0)
	}
	return func() {
		f.put(k, -n, -each*int64(n))
		f.free = free
	}
}
