package consolidation

import (
	"math"
	"math/rand/v2"
)

// lp is a linear program, solved by the revised simplex method with a dense
// inverse: the least cost of columns so that covers are covered and limits kept.
// What comes out only guides: bounds are computed from its rounded duals.
type lp struct {
	rows   int
	covers int       // the rows before it ask for at least so much, the others for at most
	sides  []float64 // right-hand sides, with a little noise against ties
	cols   []column
	inv    []float64 // of the basis, row by row
	basis  []int     // by row: a column, or slack, or missing
	in     []bool    // columns in the basis
	x      []float64 // of the basis
	y      []float64 // duals: of limits not above 0
	bigM   float64   // what one unit of a cover that is not covered costs
	pivots int
	work   int64
}

// column is one sparse column.
type column struct {
	row  []int32
	val  []float64
	cost float64
}

// Members of the basis that are no columns stand for what is left over in a row, or
// missing in it.
const (
	slack      = -1
	artificial = -2
)

const tiny = 1e-9

func newLP(covers int, sides []float64, bigM float64, rng *rand.Rand) *lp {
	rows := len(sides)
	p := &lp{
		rows: rows, covers: covers, bigM: bigM,
		sides: make([]float64, rows), inv: make([]float64, rows*rows), basis: make([]int, rows),
		x: make([]float64, rows), y: make([]float64, rows),
	}
	for r, side := range sides {
		noise := 1e-5 * (0.5 + rng.Float64())
		if r < covers {
			noise = -noise // what can just be done must not become impossible
		}
		p.sides[r] = side + noise
		p.x[r], p.inv[r*rows+r], p.basis[r] = p.sides[r], 1, slack
		if r < covers {
			p.basis[r], p.y[r] = artificial, bigM
		}
	}
	return p
}

func (p *lp) add(c column) {
	p.cols = append(p.cols, c)
	p.in = append(p.in, false)
}

// solve makes the columns' cost the least, if the steps allows.
func (p *lp) solve(m *stepBudget) {
	d := make([]float64, p.rows)
	for m.left > 0 {
		j, sign := p.entering()
		if j == none {
			return
		}
		p.direction(j, sign, d)
		r := p.leaving(d)
		if r < 0 {
			return
		}
		p.pivot(r, j, d)
		p.work += int64(p.rows*p.rows/16 + len(p.cols))
		m.spend(p.work)
		p.work = 0
	}
}

const none = math.MinInt

// entering is a column with the least reduced cost, or the slack of a row: ^row. The
// sign is that of the slack in its row.
func (p *lp) entering() (best int, sign float64) {
	best, least := none, -tiny*max(1, p.bigM)
	for j := range p.cols {
		if p.in[j] {
			continue
		}
		if rc := p.reduced(&p.cols[j]); rc < least {
			best, least = j, rc
		}
	}
	for r := range p.rows {
		rc, s := -p.y[r], 1.0
		if r < p.covers {
			rc, s = p.y[r], -1
		}
		if rc < least {
			best, least, sign = ^r, rc, s
		}
	}
	return best, sign
}

func (p *lp) reduced(c *column) float64 {
	rc := c.cost
	for i, r := range c.row {
		rc -= float64(p.y[r] * c.val[i])
	}
	return rc
}

// direction is how the basis changes with the entering column.
func (p *lp) direction(j int, sign float64, d []float64) {
	n := p.rows
	if j < 0 {
		for i := range n {
			d[i] = float64(sign * p.inv[i*n+^j])
		}
		return
	}
	c := &p.cols[j]
	for i := range n {
		sum, row := 0.0, p.inv[i*n:i*n+n]
		for k, r := range c.row {
			sum += float64(row[r] * c.val[k])
		}
		d[i] = sum
	}
}

// leaving returns the row of the basis that first falls to 0; of those that nearly do, the one
// with the greatest pivot, and artificial variables first.
func (p *lp) leaving(d []float64) int {
	limit := math.Inf(1)
	for i, v := range d {
		if v > 1e-7 {
			limit = min(limit, (max(p.x[i], 0)+1e-9)/v)
		}
	}
	best, pivot := -1, 0.0
	for i, v := range d {
		if v > 1e-7 && max(p.x[i], 0)/v <= limit && v > pivot {
			best, pivot = i, v
		}
	}
	return best
}

func (p *lp) pivot(r, j int, d []float64) {
	n := p.rows
	row := p.inv[r*n : r*n+n]
	step := max(p.x[r], 0) / d[r]
	rc := 0.0
	switch {
	case j >= 0:
		rc = p.reduced(&p.cols[j])
		p.in[j] = true
	case ^j < p.covers:
		rc = p.y[^j]
	default:
		rc = -p.y[^j]
	}
	inverse := 1 / d[r]
	for k := range row {
		row[k] = float64(row[k] * inverse)
	}
	for i := range n {
		f := d[i]
		if i == r || f == 0 {
			continue
		}
		p.x[i] -= float64(f * step)
		other := p.inv[i*n : i*n+n]
		for k, v := range row {
			if v != 0 {
				other[k] -= float64(f * v)
			}
		}
	}
	for k, v := range row {
		p.y[k] += float64(rc * v)
	}
	if old := p.basis[r]; old >= 0 {
		p.in[old] = false
	}
	p.x[r], p.basis[r] = step, slack
	if j >= 0 {
		p.basis[r] = j
	}
	if p.pivots++; p.pivots%64 == 0 {
		p.refresh()
	}
}

// refresh computes solution and duals anew from the inverse, against drift.
func (p *lp) refresh() {
	n := p.rows
	clear(p.y)
	for i := range n {
		sum, row := 0.0, p.inv[i*n:i*n+n]
		for k, v := range row {
			sum += float64(v * p.sides[k])
		}
		p.x[i] = sum
		cost := 0.0
		switch b := p.basis[i]; {
		case b >= 0:
			cost = p.cols[b].cost
		case b == artificial:
			cost = p.bigM
		}
		if cost == 0 {
			continue
		}
		for k, v := range row {
			p.y[k] += float64(cost * v)
		}
	}
}

// value is the cost of the present solution; whole: it lacks nothing.
func (p *lp) value() (sum float64, whole bool) {
	whole = true
	for i, b := range p.basis {
		switch {
		case b >= 0:
			sum += float64(p.x[i] * p.cols[b].cost)
		case b == artificial && p.x[i] > 1e-5:
			sum += float64(p.x[i] * p.bigM)
			whole = false
		}
	}
	return sum, whole
}

// amounts are how much of each column is in the solution.
func (p *lp) amounts() []float64 {
	x := make([]float64, len(p.cols))
	for i, b := range p.basis {
		if b >= 0 {
			x[b] = max(p.x[i], 0)
		}
	}
	return x
}
