package multifactor

import (
	"fmt"
	"slices"
	"strings"
)

// names are the names of the parts, in the order of display.
var names = [...]string{"queue", "as submitted", "age", "fair share", "size", "deadline", "runs"}

type parts [len(names)]int64

// Part is a part of a priority, in whole points.
type Part struct {
	Name   string // "age", "fair share", …
	Points int64
}

// Points returns the priority in whole points and its parts other than 0.
func (r *Priority) Points() (total int64, list []Part) {
	total, points := r.points()
	for i, p := range points {
		if p != 0 {
			list = append(list, Part{names[i], p})
		}
	}
	return total, list
}

// String returns the priority and its parts in whole points: "priority 1240 = 1000 queue + 200 age + 40 fair
// share". Parts of 0 are left out; the sum is exact.
func (r *Priority) String() string {
	total, list := r.Points()
	var b strings.Builder
	fmt.Fprintf(&b, "priority %d", total)
	for i, p := range list {
		switch {
		case i == 0:
			fmt.Fprintf(&b, " = %d %s", p.Points, p.Name)
		case p.Points > 0:
			fmt.Fprintf(&b, " + %d %s", p.Points, p.Name)
		default:
			fmt.Fprintf(&b, " - %d %s", -p.Points, p.Name)
		}
	}
	return b.String()
}

// points rounds the sum down, and the parts so that they add up to it: those that lose most are rounded up.
func (r *Priority) points() (total int64, points parts) {
	total = floor(r.key)
	rest := total
	order := make([]int, len(names))
	for i, p := range r.parts {
		points[i] = floor(p)
		rest -= points[i]
		order[i] = i
	}
	lost := func(i int) int64 { return r.parts[i] - scale*points[i] }
	slices.SortStableFunc(order, func(a, b int) int { return int(lost(b) - lost(a)) })
	for _, i := range order[:rest] {
		points[i]++
	}
	return total, points
}

func floor(n int64) int64 {
	if n < 0 {
		return -((-n + scale - 1) / scale)
	}
	return n / scale
}
