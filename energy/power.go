package energy

import (
	"math"
	"slices"
	"time"
)

// Watts is power.
type Watts float64

// Joules is energy.
type Joules float64

// KWh is the energy in kilowatt-hours.
func (j Joules) KWh() float64 { return float64(j) / 3.6e6 }

// Over is the energy of a constant power over a time.
func (w Watts) Over(d time.Duration) Joules { return Joules(float64(w) * d.Seconds()) }

// Power is the power model of a node. Idle and Full alone are the linear model (paper §2.1).
type Power struct {
	Idle Watts // on, without load
	Full Watts // all processors busy
	// Measured are points between idle and full, by load; power is linear between two of them.
	// The curve need not be convex, but never falls.
	Measured []Point
	Standby  Watts // off
	On, Off  Switch
}

// Point is the power at a load between 0 and 1, both exclusive.
type Point struct {
	Load  float64
	Power Watts
}

// Switch is the energy and the time to turn a node on or off.
type Switch struct {
	Energy Joules
	Time   time.Duration
}

// Power is the average power while switching; 0 if the time is not known.
func (s Switch) Power() Watts {
	if s.Time <= 0 {
		return 0
	}
	return Watts(float64(s.Energy) / s.Time.Seconds())
}

// At is the power at a load between 0 and 1 when the node is on.
func (p *Power) At(load float64) Watts {
	load = min(max(load, 0), 1)
	from, to := Point{0, p.Idle}, Point{1, p.Full}
	i, exact := slices.BinarySearchFunc(p.Measured, load, func(m Point, load float64) int {
		switch {
		case m.Load < load:
			return -1
		case m.Load > load:
			return 1
		}
		return 0
	})
	if exact {
		return p.Measured[i].Power
	}
	if i > 0 {
		from = p.Measured[i-1]
	}
	if i < len(p.Measured) {
		to = p.Measured[i]
	}
	return from.Power + (to.Power-from.Power)*Watts((load-from.Load)/(to.Load-from.Load))
}

// Steepest is the steepest slope of the curve, in watts per full load: the power is at most
// idle power plus load times Steepest.
func (p *Power) Steepest() (most Watts) {
	curve := p.Curve()
	for i, b := range curve[1:] {
		a := curve[i]
		most = max(most, (b.Power-a.Power)/Watts(b.Load-a.Load))
	}
	return most
}

// Curve returns the corners of the model, idle and full included, in order of load.
func (p *Power) Curve() []Point {
	list := append([]Point{{0, p.Idle}}, p.Measured...)
	return append(list, Point{1, p.Full})
}

// Share is the part of a node's power that is attributed to one job, in proportion to its CPU
// share. If the jobs get no CPU, each of them gets an equal part.
func (p *Power) Share(job, all, capacity float64, jobs int) Watts {
	if all <= 0 {
		return p.Idle / Watts(max(jobs, 1))
	}
	return p.At(all/capacity) * Watts(job/all)
}

// Fault returns the field of the model that is wrong, its value and what is expected; "" if
// the model is valid.
func (p *Power) Fault() (field string, value any, want string) {
	positive := func(w Watts) bool { return w >= 0 && !math.IsInf(float64(w), 0) }
	switch {
	case !positive(p.Idle):
		return "idle power", p.Idle, "watts from 0 on"
	case !positive(p.Full):
		return "full power", p.Full, "watts from 0 on"
	case p.Idle > p.Full:
		return "idle power", p.Idle, "at most the power under full load"
	case !positive(p.Standby):
		return "standby power", p.Standby, "watts from 0 on"
	case p.Standby > p.Idle:
		return "standby power", p.Standby, "at most the idle power"
	}
	last := Point{0, p.Idle}
	for _, m := range p.Measured {
		switch {
		case !(m.Load > last.Load && m.Load < 1):
			return "measured load", m.Load, "more than the one before, and less than 1"
		case !(m.Power >= last.Power && m.Power <= p.Full):
			return "measured power", m.Power, "between the one before and that under full load"
		}
		last = m
	}
	return "", nil, ""
}
