package chart

import (
	"cmp"
	"slices"
	"time"
)

// narrow is the minimal width of a span, so that an action of some seconds is visible on an axis
// of hours.
const narrow = 1.2

// gantt draws the rows with their labels. Transitional states are drawn over stable ones.
func (c *canvas) gantt(l *layout, r *Run, x, y float64) {
	gap := min(4, l.row/4)
	every := 1 // label of every nth row, where rows are lower than letters
	for float64(every)*l.row < 11 {
		every++
	}
	for i, row := range r.Rows {
		top := y + float64(i)*l.row
		if i%every == 0 {
			c.text(x-8, top+l.row/2+4, "label", "end", shorten(row.Label, 11))
		}
		spans := slices.Clone(row.Spans)
		slices.SortStableFunc(spans, func(a, b Span) int {
			return cmp.Or(cmp.Compare(layer(a.State), layer(b.State)), cmp.Compare(a.From, b.From))
		})
		for _, s := range spans {
			c.span(l, row.Label, s, x, top+gap/2, l.row-gap)
		}
	}
	c.line(x, y, x, y+l.rows, "axis")
}

// layer is 0 for stable states and 1 for transitional ones, which are drawn over them.
func layer(state string) int {
	if slices.Contains(lasting, state) {
		return 0
	}
	return 1
}

func (c *canvas) span(l *layout, label string, s Span, x, y, height float64) {
	from, to := l.scale.at(s.From), l.scale.at(s.To)
	width := max(narrow, to-from)
	text := s.Text
	if text == "" {
		text = label + " " + s.State + ": " + clock(s.From) + " to " + clock(s.To) + " (" + clock(s.To-s.From) + ")"
	}
	if s.State == "waiting" { // thinner: nothing is used
		y, height = y+height*0.38, height*0.24
	}
	c.box(x+from, y, width, height, class(s.State), text)
}

// clock prints a duration as h:mm:ss.
func clock(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	return pad(s/3600, 1) + ":" + pad(s/60%60, 2) + ":" + pad(s%60, 2)
}

// shorten cuts a label to n letters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
