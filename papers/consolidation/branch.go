package consolidation

import (
	"math"
	"math/rand/v2"
	"slices"
)

// branching searches all ways to use columns that are known, by branch and bound: the
// program is solved, and a column that is used in part is used either more or less.
type branching struct {
	*model
	root     *remainder
	replace  bool
	patterns []pattern
	steps    *stepBudget
	rng      *rand.Rand
	scale    int64
	most     float64
	target   int64 // what a solution may cost
	best     []pattern
}

// limits say how often a pattern is used at least and at most.
type limits struct {
	pattern, least, most int
}

// search reports whether all ways were tried; better is called for each solution, and
// lowers the target.
func (b *branching) search(fixed []limits) bool {
	if b.steps.left <= 0 {
		return false
	}
	r, spent, chosen := b.root.clone(), int64(0), []pattern{}
	for _, f := range fixed {
		for range f.least {
			chosen = append(chosen, b.patterns[f.pattern])
			spent += int64(b.cost(&b.patterns[f.pattern], b.replace))
			r.take(b.model, &b.patterns[f.pattern])
		}
	}
	if slices.Min(append(r.spare, 0)) < 0 || b.replace && r.open < 0 || spent > b.target && !b.replace {
		return true
	}
	if r.empty() {
		if spent <= b.target {
			b.best, b.target = chosen, spent-1
		}
		if !b.replace {
			return true
		}
	}
	amounts, bound := b.solve(r, fixed)
	if b.steps.left <= 0 {
		return false
	}
	if bound > b.target-spent {
		return true
	}
	j, amount := b.fraction(amounts)
	if j < 0 {
		return b.round(r, amounts, chosen, spent)
	}
	least, most := 0, int(1)<<30
	for _, f := range fixed {
		if f.pattern == j {
			least, most = f.least, f.most
		}
	}
	others := slices.DeleteFunc(slices.Clone(fixed), func(f limits) bool { return f.pattern == j })
	up := append(slices.Clone(others), limits{j, least + amount + 1, most})
	down := append(slices.Clone(others), limits{j, least, least + amount})
	return b.search(up) && b.search(down)
}

// solve has the amounts of the patterns in the program's solution, and a bound.
func (b *branching) solve(r *remainder, fixed []limits) (amounts []float64, bound int64) {
	p := b.relaxed(r, fixed)
	for {
		p.lp.solve(b.steps)
		if b.steps.left <= 0 {
			return nil, 0
		}
		bound = p.bound()
		if _, whole := p.lp.value(); whole || bound > b.target || p.lp.bigM*float64(b.scale) > b.most {
			break
		}
		p.lp.bigM *= 16
		p.lp.refresh()
	}
	amounts = make([]float64, len(b.patterns))
	for c, a := range p.lp.amounts() {
		amounts[p.pattern[c]] = a
	}
	return amounts, bound
}

// fraction is the pattern of which the greatest part of one is used; -1 if none is.
func (b *branching) fraction(amounts []float64) (j, amount int) {
	j, top := -1, 1e-4
	for i, a := range amounts {
		if f := a - math.Floor(a); f > top && f < 1-1e-4 {
			j, amount, top = i, int(a), f
		}
	}
	return j, amount
}

// round notes a solution that is whole. It reports whether that is the best that this
// part of the tree has; rounding errors may leave doubt.
func (b *branching) round(r *remainder, amounts []float64, chosen []pattern, spent int64) bool {
	r = r.clone()
	for j, a := range amounts {
		for range int(a + 0.5) {
			chosen = append(chosen, b.patterns[j])
			spent += int64(b.cost(&b.patterns[j], b.replace))
			r.take(b.model, &b.patterns[j])
		}
	}
	if !r.empty() || slices.Min(append(r.spare, 0)) < 0 || b.replace && r.open < 0 {
		return false
	}
	if spent <= b.target {
		b.best, b.target = chosen, spent-1
	}
	return true
}

// branch is the program of one node of the tree.
type branch struct {
	*branching
	rest    *remainder
	lp      *lp
	pattern []int // by column
	limit   []int // its row, by column; -1
	row     []int // of each kind; -1
	spotRow []int
	rooms   []int64 // right-hand sides, whole
}

func (b *branching) relaxed(r *remainder, fixed []limits) *branch {
	x := &branch{
		branching: b, rest: r,
		row: slices.Repeat([]int{-1}, len(b.kinds)), spotRow: slices.Repeat([]int{-1}, len(b.homeClasses)),
	}
	side := func(n int) int {
		x.rooms = append(x.rooms, int64(n))
		return len(x.rooms) - 1
	}
	for k, n := range r.left {
		if n > 0 {
			x.row[k] = side(n)
		}
	}
	covers := len(x.rooms)
	for s, n := range r.spare {
		if n > 0 {
			x.spotRow[s] = side(n)
		}
	}
	open := -1
	if b.replace {
		open = side(r.open)
	}
	limit := map[int]int{}
	for _, f := range fixed {
		if f.most < 1<<30 {
			limit[f.pattern] = side(f.most - f.least)
		}
	}
	sides := make([]float64, len(x.rooms))
	for i, n := range x.rooms {
		sides[i] = float64(n)
	}
	bigM := 2.0
	if b.replace {
		bigM = 4 * float64(b.dearest()+1)
	}
	x.lp = newLP(covers, sides, bigM, b.rng)
	for j := range b.patterns {
		x.add(j, open, limit)
	}
	return x
}

func (x *branch) add(j, open int, limit map[int]int) {
	p := &x.patterns[j]
	if x.spotRow[p.class] < 0 {
		return
	}
	c := column{cost: x.cost(p, x.replace)}
	entry := func(row int, v float64) {
		c.row, c.val = append(c.row, int32(row)), append(c.val, v)
	}
	for _, s := range p.of {
		if x.row[s.kind] >= 0 {
			entry(x.row[s.kind], float64(s.n))
		}
	}
	entry(x.spotRow[p.class], 1)
	if open >= 0 && !x.classOf(p.class).busy {
		entry(open, 1)
	}
	own, ok := limit[j]
	if ok {
		entry(own, 1)
	} else {
		own = -1
	}
	x.lp.add(c)
	x.pattern, x.limit = append(x.pattern, j), append(x.limit, own)
}

// bound is what the rounded duals prove.
func (x *branch) bound() int64 {
	dual := make([]int64, x.lp.rows)
	sum := int64(0)
	spotEnd := x.lp.covers
	for r, y := range x.lp.y {
		if r < x.lp.covers {
			dual[r] = int64(min(max(0, y)*float64(x.scale), x.most))
			sum += dual[r] * x.rooms[r]
		} else {
			dual[r] = -int64(min(max(0, -y)*float64(x.scale), x.most))
		}
	}
	for _, r := range x.spotRow {
		if r >= 0 {
			dual[r] = 0 // the best of its patterns says
			spotEnd++
		}
	}
	for r := spotEnd; r < x.lp.rows; r++ {
		sum += dual[r] * x.rooms[r]
	}
	worth := make([]int64, len(x.homeClasses))
	for c, j := range x.pattern {
		p := &x.patterns[j]
		v := -int64(x.lp.cols[c].cost) * x.scale
		for i, r := range x.lp.cols[c].row {
			v += dual[r] * int64(x.lp.cols[c].val[i])
		}
		worth[p.class] = max(worth[p.class], v)
	}
	for s, v := range worth {
		if v > 0 {
			sum -= v * int64(x.rest.spare[s])
		}
	}
	return upwards(sum, x.scale)
}
