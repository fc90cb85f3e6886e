package chart

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// span is the range of a series, including 0 and its capacity.
func (s *Series) span() (low, top float64) {
	top = s.Capacity
	for _, p := range s.Points {
		low, top = min(low, p.Value), max(top, p.Value)
	}
	return low, top
}

// utilisation draws one series as a filled step line with its capacity, on an axis from low to
// top.
func (c *canvas) utilisation(l *layout, s *Series, low, top float64, end time.Duration, x, y float64) {
	scale, least := below(top, low, seriesSize)
	zero := y + seriesSize + least*scale.perUnit
	c.text(x, y-8, "h3", "start", s.Name)
	c.text(x+l.panel, y-8, "note", "end", s.note(end))
	c.grid(l, x, y, seriesSize)
	for v := least; v <= scale.limit+scale.step*1e-4; v += scale.step {
		level := zero - v*scale.perUnit
		c.line(x, level, x+l.panel, level, "grid")
		c.text(x-8, level+4, "label", "end", number(v))
	}
	c.rotated(x-labelWidth+24, y+seriesSize/2, "label", s.Unit)
	c.path(s.outline(l, &scale, end, x, zero), "area", s.Name)
	if s.Capacity > 0 {
		level := zero - s.Capacity*scale.perUnit
		c.line(x, level, x+l.panel, level, "capacity")
	}
	c.line(x, y, x, y+seriesSize, "axis")
}

// note is the average utilisation as text.
func (s *Series) note(end time.Duration) string {
	if end <= 0 {
		return ""
	}
	mean := s.mean(0, end)
	text := "mean " + number(math.Round(10*mean)/10) + " " + s.Unit
	if s.Capacity > 0 {
		text += fmt.Sprintf(" of %s (%.0f %%)", number(s.Capacity), 100*mean/s.Capacity)
	}
	return text
}

// mean is the average value between two times; before the first point it is 0.
func (s *Series) mean(from, to time.Duration) float64 {
	sum := 0.0
	for i, p := range s.Points {
		until := to
		if i+1 < len(s.Points) {
			until = min(to, s.Points[i+1].At)
		}
		if start := max(from, p.At); until > start {
			sum += p.Value * float64(until-start)
		}
	}
	return sum / float64(max(1, to-from))
}

// outline is the closed path of the series. If it has more points than pixels, each pixel shows
// an average.
func (s *Series) outline(l *layout, scale *axis, end time.Duration, x, bottom float64) string {
	points := s.Points
	if float64(len(points)) > 2*l.panel {
		points = s.sampled(end, int(l.panel))
	}
	var b strings.Builder
	level := bottom
	fmt.Fprintf(&b, "M%s %s", number(x), number(bottom))
	for _, p := range points {
		at := x + l.scale.at(p.At)
		fmt.Fprintf(&b, "L%s %s", number(at), number(level))
		level = bottom - p.Value*scale.perUnit
		fmt.Fprintf(&b, "L%s %s", number(at), number(level))
	}
	last := number(x + l.scale.at(end))
	fmt.Fprintf(&b, "L%s %sL%s %sZ", last, number(level), last, number(bottom))
	return b.String()
}

// sampled is the series in n equal steps, each with the mean of its time.
func (s *Series) sampled(end time.Duration, n int) []Point {
	out := make([]Point, 0, n)
	next := 0 // first point after the start of the step
	value := 0.0
	for i := range n {
		from, to := part(end, i, n), part(end, i+1, n)
		sum, since := 0.0, from
		for ; next < len(s.Points) && s.Points[next].At < to; next++ {
			p := s.Points[next]
			if p.At > since {
				sum += value * float64(p.At-since)
				since = p.At
			}
			value = p.Value
		}
		sum += value * float64(to-since)
		out = append(out, Point{At: from, Value: sum / float64(max(1, to-from))})
	}
	return out
}

// part is d·i/n without overflow, even for years.
func part(d time.Duration, i, n int) time.Duration {
	whole, rest := d/time.Duration(n), d%time.Duration(n)
	return whole*time.Duration(i) + rest*time.Duration(i)/time.Duration(n)
}
