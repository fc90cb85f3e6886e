package pattern

import (
	"math"
)

// simplex solves the linear program: the worth of the patterns is maximised, such that each kind is covered and each node holds one
// pattern at most. Its rows are the kinds, then the classes. Variables are numbered: the patterns, then the slack of each row, then
// the VMs of each kind that have no place (the artificial variables of the first phase). It is the revised method with a dense
// inverse; prices that are negated duals of the kinds prove what it finds, see relax.go.
type simplex struct {
	*Problem
	closed  []bool // patterns that are not used; may be nil
	rows    int
	worth   []float64 // of variables in this phase
	base    []int     // the variable of each row
	value   []float64 // of it
	inverse []float64 // of the matrix of these variables, by row
	dual    []float64 // by row
	step    []float64 // scratch: the change of each row's variable if one enters
}

// What counts as zero, and how many steps without progress are taken before the first variable enters that improves, which
// never cycles (Bland: New finite pivoting rules for the simplex method, Mathematics of Operations Research 2, 1977).
const (
	tolerance   = 1e-9
	stallSteps  = 64
	stepsPerRow = 50
)

func newSimplex(p *Problem, closed []bool, wanted, nodes []int64) *simplex {
	rows := len(p.Kinds) + len(p.Classes)
	s := &simplex{
		Problem: p, closed: closed, rows: rows, worth: make([]float64, len(p.columns)+rows+len(p.Kinds)), base: make([]int, rows), value: make([]float64, rows),
		inverse: make([]float64, rows*rows), dual: make([]float64, rows), step: make([]float64, rows),
	}
	for r := range rows {
		s.inverse[r*rows+r] = 1
		if r < len(p.Kinds) {
			s.base[r], s.value[r] = s.missing(r), float64(wanted[r])
		} else {
			s.base[r], s.value[r] = s.slack(r), float64(nodes[r-len(p.Kinds)])
		}
	}
	return s
}

// slack returns the variable of a row that takes up what is left of it: VMs more than wanted, or nodes without a pattern.
func (s *simplex) slack(row int) int { return len(s.columns) + row }

// missing returns the variable of the VMs of a kind that have no place.
func (s *simplex) missing(kind int) int { return len(s.columns) + s.rows + kind }

// place makes the VMs without a place as few as possible, by bulk. It reports whether none are left.
func (s *simplex) place() bool {
	most := 0.0
	for k := range s.Kinds {
		most = max(most, float64(s.Kinds[k].Bulk))
	}
	for k := range s.Kinds {
		s.worth[s.missing(k)] = -float64(s.Kinds[k].Bulk) / most
	}
	s.run()
	for r, v := range s.base {
		if v >= s.missing(0) && s.value[r] > 1e-6 {
			return false
		}
	}
	return true
}

// improve makes the worth of the patterns as high as possible, in units of scale, after all VMs have places.
func (s *simplex) improve(scale float64) {
	clear(s.worth)
	for c := range s.columns {
		s.worth[c] = float64(s.columns[c].worth) / scale
	}
	s.run()
}

// run takes steps until no variable improves the solution. VMs that have a place keep one.
func (s *simplex) run() {
	stalled := 0
	for range stepsPerRow * s.rows {
		s.price()
		enters := s.entering(stalled > stallSteps)
		if enters < 0 {
			return
		}
		s.follow(enters)
		row := s.leaving()
		if row < 0 {
			return // not bounded, which patterns always are
		}
		if s.value[row] > tolerance {
			stalled = 0
		} else {
			stalled++
		}
		s.pivot(row, enters)
	}
}

// price computes the dual price of each row.
func (s *simplex) price() {
	clear(s.dual)
	for r, v := range s.base {
		if w := s.worth[v]; w != 0 {
			for i, x := range s.inverse[r*s.rows : (r+1)*s.rows] {
				s.dual[i] += float64(w * x)
			}
		}
	}
}

// entering returns the variable that improves the solution the most for each unit, or with first the first that does; -1 if
// none does.
func (s *simplex) entering(first bool) int {
	best, most := -1, tolerance
	for v := range s.missing(0) {
		if v < len(s.closed) && s.closed[v] {
			continue
		}
		if gain := s.gain(v); gain > most {
			best, most = v, gain
			if first {
				break
			}
		}
	}
	return best
}

// gain returns how much one unit of a variable improves the solution.
func (s *simplex) gain(v int) float64 {
	if v >= len(s.columns) {
		r := v - len(s.columns)
		if r < len(s.Kinds) {
			return s.dual[r]
		}
		return -s.dual[r]
	}
	c := &s.columns[v]
	sum := s.worth[v] - s.dual[len(s.Kinds)+c.class]
	for k, n := range c.vms {
		if n > 0 {
			sum -= float64(s.dual[k] * float64(n))
		}
	}
	return sum
}

// follow computes how much less of each row's variable there is for each unit of one that enters.
func (s *simplex) follow(v int) {
	add := func(row int, times float64) {
		for r := range s.step {
			s.step[r] += float64(times * s.inverse[r*s.rows+row])
		}
	}
	clear(s.step)
	if v >= len(s.columns) {
		if r := v - len(s.columns); r < len(s.Kinds) {
			add(r, -1)
		} else {
			add(r, 1)
		}
		return
	}
	c := &s.columns[v]
	for k, n := range c.vms {
		if n > 0 {
			add(k, float64(n))
		}
	}
	add(len(s.Kinds)+c.class, 1)
}

// leaving returns the row of the variable that becomes zero first, or -1. VMs without a place that are zero
// stay so.
func (s *simplex) leaving() int {
	row, least := -1, math.Inf(1)
	for r, d := range s.step {
		gone := s.base[r] >= s.missing(0)
		if d <= tolerance && (!gone || d >= -tolerance || s.value[r] > tolerance) {
			continue
		}
		limit := max(0, s.value[r]/d)
		switch {
		case limit > least+tolerance:
			continue
		case row >= 0 && limit > least-tolerance && s.base[r] < s.base[row]:
			continue // of several the one with the highest number: VMs without a place first
		}
		row, least = r, min(least, limit)
	}
	return row
}

// pivot makes a variable that of a row.
func (s *simplex) pivot(row, enters int) {
	own := s.inverse[row*s.rows : (row+1)*s.rows]
	by := s.step[row]
	for i := range own {
		own[i] /= by
	}
	s.value[row] = max(0, s.value[row]/by)
	for r, d := range s.step {
		if r == row || d == 0 {
			continue
		}
		s.value[r] = max(0, s.value[r]-float64(d*s.value[row]))
		for i, x := range own {
			if x != 0 {
				s.inverse[r*s.rows+i] -= float64(d * x)
			}
		}
	}
	s.base[row] = enters
}
