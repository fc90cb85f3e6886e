package solve_test

import "math"

// simplex minimises cost x where rows x >= or <= or = right, x >= 0: two phases on a
// dense tableau, by Bland's rule. It is slow and simple, to hold the bounds against.
type simplex struct {
	cost []float64
	rows [][]float64
	kind []byte // '<', '>', '='
	rhs  []float64
}

func (s *simplex) row(kind byte, right float64, terms map[int]float64) {
	r := make([]float64, len(s.cost))
	for k, v := range terms {
		r[k] = v
	}
	if right < 0 {
		for k := range r {
			r[k] = -r[k]
		}
		right, kind = -right, map[byte]byte{'<': '>', '>': '<', '=': '='}[kind]
	}
	s.rows, s.kind, s.rhs = append(s.rows, r), append(s.kind, kind), append(s.rhs, right)
}

// minimum is the optimum; false: the rows contradict each other.
func (s *simplex) minimum() (float64, bool) {
	n, m := len(s.cost), len(s.rows)
	width := n + 2*m // slack and artificial variables
	t, basis := make([][]float64, m), make([]int, m)
	artificial := make([]bool, width)
	for i := range t {
		t[i] = make([]float64, width+1)
		copy(t[i], s.rows[i])
		t[i][width] = s.rhs[i]
		switch s.kind[i] {
		case '<':
			t[i][n+i], basis[i] = 1, n+i
			continue
		case '>':
			t[i][n+i] = -1
		}
		t[i][n+m+i], basis[i], artificial[n+m+i] = 1, n+m+i, true
	}
	first := make([]float64, width)
	for k := range first {
		if artificial[k] {
			first[k] = 1
		}
	}
	if run(t, basis, first, nil) > 1e-7 {
		return 0, false
	}
	second := make([]float64, width)
	copy(second, s.cost)
	return run(t, basis, second, artificial), true
}

// run pivots until no column that is not barred improves the cost.
func run(t [][]float64, basis []int, cost []float64, barred []bool) (value float64) {
	width := len(cost)
	for {
		enter := -1
		for k := 0; k < width && enter < 0; k++ {
			if barred != nil && barred[k] {
				continue
			}
			reduced := cost[k]
			for i, b := range basis {
				reduced -= cost[b] * t[i][k]
			}
			if reduced < -1e-9 {
				enter = k
			}
		}
		if enter < 0 {
			break
		}
		leave, ratio := -1, math.Inf(1)
		for i := range t {
			if t[i][enter] > 1e-9 {
				if r := t[i][width] / t[i][enter]; r < ratio-1e-12 || r < ratio+1e-12 && basis[i] < basis[leave] {
					leave, ratio = i, r
				}
			}
		}
		if leave < 0 {
			return math.Inf(-1)
		}
		pivot(t, leave, enter)
		basis[leave] = enter
	}
	for i, b := range basis {
		value += cost[b] * t[i][width]
	}
	return value
}

func pivot(t [][]float64, row, column int) {
	p := t[row][column]
	for k := range t[row] {
		t[row][k] /= p
	}
	for i := range t {
		if f := t[i][column]; i != row && f != 0 {
			for k := range t[i] {
				t[i][k] -= f * t[row][k]
			}
		}
	}
}
