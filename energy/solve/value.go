package solve

import (
	"math"

	"vjob/energy"
)

// LPBound returns LPBOUND: no allocation has a better value. It returns false if the problem is
// infeasible.
func LPBound(p *energy.Problem) (value float64, ok bool) {
	f := NewFluid(p)
	switch p.Objective {
	case energy.BoundedYield:
		value, _, ok = f.Power(p.Floor)
		return value, ok
	case energy.BoundedPower:
		return f.affords(p)
	default:
		return f.trade(p)
	}
}

// MaxPower returns the least power at which a fluid problem reaches its largest yield, and that
// yield (paper §2.6). It returns false if the problem is infeasible.
func MaxPower(p *energy.Problem) (watts energy.Watts, yield float64, ok bool) {
	f := NewFluid(p)
	e, _, ok := f.Power(f.most)
	return energy.Watts(e), f.most, ok
}

// affords is the largest yield within the budget. Power is convex in the yield, so Newton's
// method from the top never overshoots.
func (f *Fluid) affords(p *energy.Problem) (float64, bool) {
	y := f.most
	for range 100 {
		e, slope, ok := f.Power(y)
		if !ok {
			return 0, false
		}
		over := e - float64(p.Budget)
		if over <= 1e-9*e {
			break
		}
		if slope <= 0 {
			return 0, false
		}
		y -= over / slope
		if y <= 0 {
			return 0, false
		}
	}
	return y, y >= p.Floor-energy.Tolerance
}

// trade is the largest Z. Where power is below EMax, Z is concave in the yield; above it only
// the yield counts.
func (f *Fluid) trade(p *energy.Problem) (float64, bool) {
	if _, _, ok := f.Power(p.Floor); !ok {
		return 0, false
	}
	weight := (1 - p.Lambda) / float64(p.EMax)
	at := func(y float64) tangent {
		e, slope, _ := f.Power(y)
		return tangent{dualPoint{value: p.Lambda*y + 1 - p.Lambda - weight*e}, y, p.Lambda - weight*slope}
	}
	low, high := at(p.Floor), at(f.most)
	best := max(low.value, high.value, p.Lambda*f.most)
	if low.slope > 0 && high.slope < 0 {
		best = max(best, maximize(low, high, at).value)
	}
	return best, true
}

// LBHBound returns the stronger bound, of whole nodes and divisible jobs: no allocation has a
// better value. It returns false if the problem is infeasible.
func LBHBound(p *energy.Problem) (value float64, ok bool) {
	w := NewWhole(p)
	switch p.Objective {
	case energy.BoundedYield:
		return w.Power(p.Floor)
	case energy.BoundedPower:
		return w.affords(p)
	default:
		return w.trade(p)
	}
}

// affords is the largest yield within the budget. Power never falls as the yield grows.
func (w *Whole) affords(p *energy.Problem) (float64, bool) {
	within := func(y float64) bool {
		e, ok := w.Power(y)
		return ok && e <= float64(p.Budget+energy.Excess)
	}
	low, high := max(p.Floor, 1e-9), w.fluid.most
	switch {
	case high <= 0 || !within(low):
		return 0, false
	case within(high):
		return high, true
	}
	for range 50 {
		if y := (low + high) / 2; within(y) {
			low = y
		} else {
			high = y
		}
	}
	return high, true
}

// trade bounds Z. For nodes that are alike, the least power is concave between the yields at
// which one more node is full, so Z is largest at one of them; for other nodes, each small
// step is bounded by its ends.
func (w *Whole) trade(p *energy.Problem) (float64, bool) {
	if _, ok := w.Power(p.Floor); !ok {
		return 0, false
	}
	z := func(y, powerAt float64) float64 {
		e, _ := w.Power(powerAt)
		return p.Lambda*y + (1-p.Lambda)*max(0, 1-e/float64(p.EMax))
	}
	best := max(z(p.Floor, p.Floor), z(w.fluid.most, w.fluid.most))
	if w.alike {
		for k := 1; k <= len(p.Nodes); k++ {
			if y := float64(k) * p.Nodes[0].CPU / w.fluid.demand; y > p.Floor && y < w.fluid.most {
				best = max(best, z(y, y))
			}
		}
		return best, true
	}
	const steps = 128
	width := (w.fluid.most - p.Floor) / steps
	for k := range steps {
		y := p.Floor + float64(k)*width
		best = max(best, z(y+width, y))
	}
	return min(best, math.Max(p.Lambda, 1)), true
}
