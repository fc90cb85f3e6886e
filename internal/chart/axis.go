package chart

import (
	"math"
	"strconv"
	"time"
)

// axis maps values to pixels.
type axis struct {
	limit   float64 // last value
	step    float64 // between ticks
	perUnit float64 // pixels
	unit    string
	seconds float64 // time axis: seconds of one unit
}

// at is the position of a time on a time axis, in pixels.
func (a *axis) at(d time.Duration) float64 {
	return min(d.Seconds()/a.seconds, a.limit) * a.perUnit
}

// timeAxis chooses the unit and ticks for a run of the given length.
func timeAxis(end time.Duration, width float64) axis {
	a := axis{unit: "s", seconds: 1}
	switch {
	case end > 96*time.Hour:
		a.unit, a.seconds = "days", 86400
	case end > 8*time.Hour:
		a.unit, a.seconds = "h", 3600
	case end > 10*time.Minute:
		a.unit, a.seconds = "min", 60
	}
	a.limit = max(end.Seconds()/a.seconds, 1e-3)
	a.step = niceStep(a.limit, 9, counted[a.unit])
	if next := math.Ceil(a.limit/a.step-1e-9) * a.step; next <= a.limit*1.06 {
		a.limit = next // end on a tick if it is near
	}
	a.perUnit = width / a.limit
	return a
}

// counted are the usual steps of a unit of time.
var counted = map[string][]float64{
	"s": {1, 2, 5, 10, 15, 20, 30, 60, 120}, "min": {1, 2, 5, 10, 15, 20, 30, 60, 120}, "h": {1, 2, 3, 4, 6, 12, 24},
}

// valueAxis chooses ticks from 0 to at least top, or to 1 if top is 0.
func valueAxis(top, height float64) axis {
	if top <= 0 {
		top = 1
	}
	a := axis{limit: max(top, 1e-3), seconds: 1}
	a.step = niceStep(a.limit, 4, nil)
	a.limit = math.Ceil(a.limit/a.step-1e-9) * a.step
	a.perUnit = height / a.limit
	return a
}

// below is a value axis that extends below 0, to the tick at or below low.
func below(top, low, height float64) (a axis, least float64) {
	if low >= 0 {
		return valueAxis(top, height), 0
	}
	a = valueAxis(max(top, 0)-low, height)
	least = math.Floor(low/a.step+1e-9) * a.step
	a.limit = max(math.Ceil(top/a.step-1e-9), 0) * a.step
	a.perUnit = height / (a.limit - least)
	return a, least
}

// niceStep is the first of the counted steps, or else a round number, that divides limit into at
// most n steps.
func niceStep(limit float64, n int, counted []float64) float64 {
	for _, s := range counted {
		if limit/s <= float64(n) {
			return s
		}
	}
	rough := limit / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, f := range []float64{1, 2, 2.5, 5, 10} {
		if s := f * power; s >= rough*0.9999 {
			return s
		}
	}
	return 10 * power
}

// grid draws vertical lines at the time ticks behind a panel.
func (c *canvas) grid(l *layout, x, y, height float64) {
	c.rect(x, y, l.panel, height, "panel")
	for v := 0.0; v <= l.scale.limit*1.0001; v += l.scale.step {
		at := x + v*l.scale.perUnit
		c.line(at, y, at, y+height, "grid")
	}
}

// timeTicks writes the numbers under a panel, and the title of the axis.
func (c *canvas) timeTicks(l *layout, x, y float64, title bool) {
	c.line(x, y, x+l.panel, y, "axis")
	for v := 0.0; v <= l.scale.limit*1.0001; v += l.scale.step {
		at := x + v*l.scale.perUnit
		c.line(at, y, at, y+4, "axis")
		c.text(at, y+16, "label", "middle", number(v))
	}
	if title {
		c.text(x+l.panel/2, y+32, "label", "middle", "time ("+l.scale.unit+")")
	}
}

// number formats a value with at most two decimals, without trailing zeros.
func number(v float64) string {
	v = math.Round(v*100) / 100
	if v == 0 {
		return "0" // never "-0"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func pad(n int64, width int) string {
	s := strconv.FormatInt(n, 10)
	for len(s) < width {
		s = "0" + s
	}
	return s
}

// across draws a value axis along the bottom of a panel, with tick lines behind the panel and the
// name below.
func (c *canvas) across(x *axis, left, top, bottom float64, name string) {
	for v := 0.0; v <= x.limit*1.0001; v += x.step {
		at := left + v*x.perUnit
		c.line(at, top, at, bottom, "grid")
		c.text(at, bottom+16, "label", "middle", number(v))
	}
	c.text(left+x.limit*x.perUnit/2, bottom+34, "label", "middle", name)
}
