package consolidation

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// remainder is what remains to be packed, and where.
type remainder struct {
	left  []int // by kind
	spare []int // nodes by spot
	open  int   // how many nodes may still be opened; matters only when costs are
}

func (r *remainder) clone() *remainder {
	return &remainder{slices.Clone(r.left), slices.Clone(r.spare), r.open}
}

func (m *model) all() *remainder {
	r := &remainder{left: make([]int, len(m.kinds)), spare: make([]int, len(m.homeClasses))}
	for k := range m.kinds {
		r.left[k] = len(m.kinds[k].items)
	}
	for s := range m.homeClasses {
		r.spare[s] = len(m.homeClasses[s].nodes)
	}
	return r
}

// take uses up a node for a pattern.
func (r *remainder) take(m *model, p *pattern) {
	for _, s := range p.of {
		r.left[s.kind] = max(r.left[s.kind]-s.n, 0)
	}
	r.spare[p.class]--
	if !m.classOf(p.class).busy {
		r.open--
	}
}

func (r *remainder) empty() bool {
	for _, n := range r.left {
		if n > 0 {
			return false
		}
	}
	return true
}

func (m *model) classOf(spot int) *nodeClass { return &m.nodeClasses[m.homeClasses[spot].class] }

// cost is what a pattern adds to the objective: a node, or, negative, what is saved.
func (m *model) cost(p *pattern, replace bool) float64 {
	switch {
	case replace:
		return -float64(p.gain)
	case m.classOf(p.class).busy:
		return 0
	default:
		return 1
	}
}

// saved is what the items of a pattern that are at home save.
func (m *model) saved(spot int, of []share) (sum int64) {
	for _, h := range m.homeClasses[spot].homes {
		for _, s := range of {
			if s.kind == h.kind {
				sum += m.kinds[s.kind].gain * int64(min(s.n, h.n))
			}
		}
	}
	return sum
}

// relaxation is the linear program of the patterns for what remains. Rows are the
// kinds that remain, the spots that do, and if costs matter the nodes that may be
// opened.
type relaxation struct {
	*model
	*remainder
	replace  bool // costs matter, not nodes
	scale    int64
	most     float64 // no value is above it, so that no sum overflows
	patterns []pattern
	known    map[string]bool
	lp       *lp
	rowKind  []int // by kind; -1
	rowSpot  []int
	steps    *stepBudget
	// bound is the best one so far, in units of 1/scale; ended: the program has no
	// better one.
	bound       int64
	ended       bool
	priceBudget int64 // for the search for one pattern
	rough       bool  // one ended before it was sure
	casual      bool  // then that is good enough
	best        duals // those of the bound; the rent is what a node is worth beyond the toll
}

const unbounded = -1 << 62

// relax makes the program; patterns are those to begin with.
func (m *model) relax(r *remainder, replace bool, patterns []pattern, steps *stepBudget, rng *rand.Rand) *relaxation {
	x := &relaxation{
		model: m, remainder: r, replace: replace, steps: steps, known: map[string]bool{}, bound: unbounded, priceBudget: priceSteps,
		rowKind: slices.Repeat([]int{-1}, len(m.kinds)), rowSpot: slices.Repeat([]int{-1}, len(m.homeClasses)),
	}
	var sides []float64
	for k, n := range r.left {
		if n > 0 {
			x.rowKind[k] = len(sides)
			sides = append(sides, float64(n))
		}
	}
	covers := len(sides)
	for s, n := range r.spare {
		if n > 0 {
			x.rowSpot[s] = len(sides)
			sides = append(sides, float64(n))
		}
	}
	bigM := 2.0
	if replace {
		sides = append(sides, float64(r.open))
		bigM = 4 * float64(m.dearest()+1)
	}
	x.scale, x.most = m.scale(replace), float64(int64(1)<<60/int64(m.items+m.nodes+1))
	x.lp = newLP(covers, sides, bigM, rng)
	for i := range patterns {
		x.add(patterns[i].class, patterns[i].of)
	}
	return x
}

func (m *model) dearest() (most int64) {
	for k := range m.kinds {
		most = max(most, m.kinds[k].gain)
	}
	return most
}

// scale is into how many parts duals are rounded: so many that no sum overflows.
func (m *model) scale(replace bool) int64 {
	scale, most := int64(1)<<24, int64(m.nodes+1)
	if replace {
		most = m.dearest() + 1
	}
	for scale > 1 && float64(scale)*float64(most)*float64(m.items+m.nodes+1) > 1<<52 {
		scale /= 2
	}
	return scale
}

// add makes a column for a pattern, as far as its kinds remain, unless it is there.
func (x *relaxation) add(spot int, of []share) bool {
	if x.spare[spot] == 0 {
		return false
	}
	p := pattern{class: spot}
	key := binary.AppendVarint(nil, int64(spot))
	for _, s := range of {
		if s.n = min(s.n, x.left[s.kind]); s.n > 0 {
			p.of = append(p.of, s)
			key = binary.AppendVarint(binary.AppendVarint(key, int64(s.kind)), int64(s.n))
		}
	}
	if len(p.of) == 0 || x.known[string(key)] {
		return false
	}
	x.known[string(key)] = true
	p.gain = x.saved(spot, p.of)
	c := column{cost: x.cost(&p, x.replace)}
	for _, s := range p.of {
		c.row, c.val = append(c.row, int32(x.rowKind[s.kind])), append(c.val, float64(s.n))
	}
	c.row, c.val = append(c.row, int32(x.rowSpot[spot])), append(c.val, 1)
	if x.replace && !x.classOf(spot).busy {
		c.row, c.val = append(c.row, int32(x.lp.rows-1)), append(c.val, 1)
	}
	x.patterns = append(x.patterns, p)
	x.lp.add(c)
	return true
}

// solveWithin gives the program a part of the budget only.
func (x *relaxation) solveWithin(target, steps int64) {
	whole := x.steps
	part, giveBack := whole.share(steps)
	x.steps = part
	x.solve(target)
	giveBack()
	x.steps = whole
}

// solve prices until no pattern is missing, or the bound is above the target, or the
// steps has run out. It may be called again.
func (x *relaxation) solve(target int64) {
	for x.steps.left > 0 && !x.ended {
		x.lp.solve(x.steps)
		if x.steps.left <= 0 {
			return
		}
		added := x.price()
		if x.reached() > target {
			return
		}
		value, whole := x.lp.value()
		switch {
		case !x.replace && whole && float64(x.reached()) >= value-1e-4:
			x.ended = true // the whole number above cannot be raised
		case added:
		case x.rough && whole && !x.casual:
			x.priceBudget *= 4
		case whole || x.lp.bigM*float64(x.scale) > x.most:
			x.ended = true
		default:
			x.lp.bigM *= 16
			x.lp.refresh()
		}
	}
}

// reached is the bound as a whole number.
func (x *relaxation) reached() int64 {
	if x.bound == unbounded {
		return unbounded
	}
	return upwards(x.bound, x.scale)
}

func upwards(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

// duals are prices: of an item of each kind, for opening a node, and for a node of
// each spot. Any that are not less than 0 give a bound.
type duals struct {
	value []int64
	toll  int64
	rent  []int64
}

// duals rounds those of the program.
func (x *relaxation) duals() duals {
	whole := func(y float64) int64 { return int64(min(max(0, y)*float64(x.scale), x.most)) }
	u := duals{make([]int64, len(x.kinds)), x.scale, make([]int64, len(x.homeClasses))}
	for k, r := range x.rowKind {
		if r >= 0 {
			u.value[k] = whole(x.lp.y[r])
		}
	}
	for s, r := range x.rowSpot {
		if r >= 0 {
			u.rent[s] = whole(-x.lp.y[r])
		}
	}
	if x.replace {
		u.toll = whole(-x.lp.y[x.lp.rows-1])
	}
	return u
}

// between are duals that are mostly those of the best bound: the program's own jump
// about.
func (x *relaxation) between(u duals) duals {
	mix := func(best, own int64) int64 { return own + (best-own)/10*smooth }
	v := duals{make([]int64, len(u.value)), mix(x.best.toll, u.toll), make([]int64, len(u.rent))}
	for k := range v.value {
		v.value[k] = mix(x.best.value[k], u.value[k])
	}
	for s := range v.rent {
		v.rent[s] = mix(x.best.rent[s], u.rent[s])
	}
	return v
}

// smooth is how many tenths of the duals are those of the best bound.
const smooth = 7

// price looks for patterns that are worth more than they cost, at duals near those of
// the best bound, and if that yields none that are so for the program, at its own.
func (x *relaxation) price() (added bool) {
	u := x.duals()
	if x.replace && x.bound != unbounded && x.priceAt(x.between(u)) {
		return true
	}
	return x.priceAt(u)
}

// priceAt also computes the bound that goes with the duals.
func (x *relaxation) priceAt(u duals) (added bool) {
	x.rough = false
	bound, rent := int64(0), make([]int64, len(x.homeClasses))
	for k, n := range x.left {
		bound += u.value[k] * int64(n)
	}
	if x.replace {
		bound -= u.toll * int64(x.open)
	}
	fillers := make([]*filler, len(x.nodeClasses))
	for s := range x.homeClasses {
		if x.rowSpot[s] < 0 {
			continue
		}
		at := x.homeClasses[s].class
		if fillers[at] == nil {
			fillers[at] = newFiller(x.model, at, u.value, slices.Clone(x.left), false)
			x.steps.spend(int64(len(fillers[at].order)*(grid+1)*len(fillers[at].cells)/16) + 1)
		}
		worth, more := x.priceSpot(fillers[at], s, u)
		bound -= worth * int64(x.spare[s])
		rent[s], added = worth, added || more
	}
	if bound > x.bound {
		x.bound, x.best = bound, duals{u.value, u.toll, rent}
	}
	return added
}

// extra is what an item at home is worth beyond the others of its kind.
func (x *relaxation) extra(k int) int64 {
	if !x.replace {
		return 0
	}
	return x.kinds[k].gain * x.scale
}

// priceSteps bounds the search for one pattern at first.
const priceSteps = 50_000

// priceSpot adds patterns of one spot: the most valuable, and others for the items
// that are not in it. It returns what a node there is worth at most beyond its toll.
func (x *relaxation) priceSpot(f *filler, s int, u duals) (worth int64, added bool) {
	toll := u.toll
	if f.site.busy {
		toll = 0
	}
	above := toll + u.rent[s] + x.scale>>20
	copy(f.left, x.left)
	for round := 0; ; round++ {
		of, most, exact := f.fill(x.homeClasses[s].homes, x.extra, above, min(x.priceBudget, x.steps.left))
		x.steps.spend(min(x.priceBudget, x.steps.left) - max(f.budget, 0))
		x.rough = x.rough || !exact
		if round == 0 {
			worth = max(0, most-toll)
		}
		if of == nil || !x.add(s, of) {
			return worth, added
		}
		last := len(x.lp.cols) - 1
		added = added || x.lp.reduced(&x.lp.cols[last]) < -tiny*max(1, x.lp.bigM)
		if !exact || round >= x.spare[s]/len(x.homeClasses) {
			return worth, added
		}
		for _, sh := range of {
			f.left[sh.kind] = max(f.left[sh.kind]-sh.n, 0)
		}
	}
}
