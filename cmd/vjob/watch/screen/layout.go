package screen

import (
	"strings"

	"vjob/cmd/vjob/display"
)

// The layout of lists.
const (
	gap        = 2  // between two columns
	leastOther = 20 // the width that the last column gets before others give way
)

// layout is which columns of a list are shown, and how wide they are.
type layout struct {
	columns []int // in order; none in texts
	widths  []int // of all columns
	right   []bool
	rest    int // of the last column; -1 without columns
}

// layoutOf fits the columns of a view into a width: columns give way until the last one has what it needs or its least
// width.
func layoutOf(v *view, width int) *layout {
	list := v.sheet.columns
	l := &layout{rest: -1, widths: make([]int, len(list)), right: make([]bool, len(list))}
	if len(list) == 0 {
		return l
	}
	for i, c := range list {
		l.widths[i], l.right[i] = c.width, c.Right
		if c.Name == v.sort {
			l.widths[i] = max(c.width, display.Width(c.Name)+1)
		}
		if i < len(list)-1 && c.Name == "NAME" {
			l.widths[i] = min(l.widths[i], max(12, width/6))
		}
		l.columns = append(l.columns, i)
	}
	last := len(list) - 1
	need := min(l.widths[last], max(leastOther, width/4))
	for width-l.before() < need {
		at := -1
		for n, i := range l.columns {
			if list[i].drop > 0 && i != last && (at < 0 || list[i].drop > list[l.columns[at]].drop) {
				at = n
			}
		}
		if at < 0 {
			break
		}
		l.columns = append(l.columns[:at:at], l.columns[at+1:]...)
	}
	l.rest = max(0, width-l.before())
	l.widths[last] = l.rest
	return l
}

// before is the width of all columns but the last, with their gaps.
func (l *layout) before() int {
	sum := 0
	for _, i := range l.columns[:len(l.columns)-1] {
		sum += l.widths[i] + gap
	}
	return sum
}

// heads are the heads of the columns; an arrow stands beside that of the order.
func (l *layout) heads(v *view) []cell {
	cells := []cell{{text: noMarker}}
	for n, i := range l.columns {
		c := &v.sheet.columns[i]
		name := c.Name
		if name == v.sort {
			name += map[bool]string{true: "↓", false: "↑"}[v.largest]
		}
		cells = append(cells, l.cell(n, i, cell{text: name, colour: display.Bold})...)
	}
	return cells
}

// cells are the parts of a row as wide as their columns.
func (l *layout) cells(r *row) []cell {
	if len(l.columns) == 0 {
		return r.cells
	}
	var cells []cell
	for n, i := range l.columns {
		cells = append(cells, l.cell(n, i, r.cells[i])...)
	}
	return cells
}

// cell is a cell with the blanks around it.
func (l *layout) cell(n, i int, c cell) []cell {
	text := display.Cut(c.text, l.widths[i])
	pad := cell{text: strings.Repeat(" ", max(0, l.widths[i]-display.Width(text)))}
	shown := cell{text: text, colour: c.colour}
	if n == len(l.columns)-1 {
		return []cell{shown}
	}
	between := cell{text: strings.Repeat(" ", gap)}
	if l.right[i] {
		return []cell{pad, shown, between}
	}
	return []cell{shown, pad, between}
}

// frame is the lines of a screen.
type frame struct {
	width   int
	colours bool
	lines   []string
}

func (f *frame) bold(text string) { f.line(cell{text: text, colour: display.Bold}) }

// line adds a line of parts, as far as they fit.
func (f *frame) line(parts ...cell) { f.lines = append(f.lines, f.fit(parts, "")) }

// row adds a row; that of the cursor is marked, and in reverse where there are colours.
func (f *frame) row(parts []cell, marked bool) {
	if !marked {
		f.line(append([]cell{{text: noMarker}}, parts...)...)
		return
	}
	f.lines = append(f.lines, f.fit(append([]cell{{text: marker}}, parts...), reverse))
}

// reverse is the ANSI attribute of the row of the cursor.
const reverse = "7"

// fit joins parts into a line that is not wider than the frame.
func (f *frame) fit(parts []cell, attribute string) string {
	var b strings.Builder
	left := f.width
	if attribute == "" { // blanks at the end are not seen
		for len(parts) > 0 && strings.TrimRight(parts[len(parts)-1].text, " ") == "" {
			parts = parts[:len(parts)-1]
		}
	}
	for _, p := range parts {
		text := p.text
		if display.Width(text) > left {
			text = display.Cut(text, left)
		}
		left -= display.Width(text)
		codes := strings.Trim(attribute+";"+p.colour, ";")
		if !f.colours {
			codes = ""
		}
		b.WriteString(display.Coloured(codes, text))
		if left <= 0 {
			break
		}
	}
	if attribute != "" && f.colours && left > 0 {
		b.WriteString(display.Coloured(attribute, strings.Repeat(" ", left)))
	}
	return b.String()
}
