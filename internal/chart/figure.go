// Package chart draws charts as SVG: a Gantt chart of vjobs by state and, below it on the same
// time axis, the utilisation of the cluster. Several runs are drawn side by side on one time
// scale. It also draws bars, scatter plots and timetables. The same input gives the same bytes.
package chart

import (
	"fmt"
	"io"
	"time"
)

// Figure is one picture.
type Figure struct {
	Title    string
	Subtitle string
	Runs     []Run  // side by side
	Bars     []Bars // compare the runs, below them; may be empty
}

// Run is one column of the figure.
type Run struct {
	Title  string        // such as the name of the policy
	Note   string        // such as the total time
	End    time.Duration // of the run; the axis is as long as the longest run
	Rows   []Row
	Series []Series
}

// Row is one line of the Gantt chart.
type Row struct {
	Label string
	Spans []Span
}

// Span is a period in one state.
type Span struct {
	State    string // name of the state of a vjob, or [Switch]
	From, To time.Duration
	Text     string // tooltip
}

// Switch is the state of the spans of context switches.
const Switch = "context switch"

// Series is a quantity over time: it has the value of a point until the next one.
type Series struct {
	Name     string  // "CPU"
	Unit     string  // "processors"
	Capacity float64 // the limit, drawn as a line; 0 without one
	Points   []Point // in order of time
}

// Point is the value of a series from a time on.
type Point struct {
	At    time.Duration
	Value float64
}

// sizes in pixels.
const (
	margin      = 24.0
	labelWidth  = 78.0 // left of each panel
	panelWidth  = 560.0
	wideWidth   = 1000.0 // of the panel when there is only one run
	columnGap   = 46.0
	headHeight  = 72.0
	titleHeight = 30.0
	axisHeight  = 42.0
	seriesGap   = 34.0
	seriesSize  = 110.0
	legendSize  = 34.0
)

// layout is the positions and sizes of the panels.
type layout struct {
	panel  float64   // width of a panel
	row    float64   // height of a row
	rows   float64   // height of the Gantt panel; 0 without one
	series int       // panels below it
	low    []float64 // by panel: the least value of all runs
	top    []float64 // by panel: the largest value
	width  float64
	height float64
	scale  axis // time
}

func newLayout(f *Figure) layout {
	l := layout{panel: panelWidth}
	if len(f.Runs) == 1 {
		l.panel = wideWidth
	}
	most, end := 0, time.Duration(0)
	for _, r := range f.Runs {
		most = max(most, len(r.Rows))
		l.series = max(l.series, len(r.Series))
		end = max(end, r.End)
	}
	l.span(f)
	l.row = min(24, max(2, 620/max(1, float64(most))))
	l.rows = l.row * float64(most)
	l.scale = timeAxis(end, l.panel)
	columns := float64(max(1, len(f.Runs)))
	l.width = 2*margin + columns*(labelWidth+l.panel) + (columns-1)*columnGap
	l.height = headHeight + titleHeight + l.rows + float64(l.series)*(seriesSize+seriesGap) + legendSize + margin
	if l.rows > 0 {
		l.height += axisHeight
	}
	if l.series > 0 {
		l.height += axisHeight - seriesGap/2
	}
	l.height += barsHeight(f)
	return l
}

// span extends the axes to the values of all runs.
func (l *layout) span(f *Figure) {
	l.low, l.top = make([]float64, l.series), make([]float64, l.series)
	for i := range f.Runs {
		for k := range f.Runs[i].Series {
			low, top := f.Runs[i].Series[k].span()
			l.low[k], l.top[k] = min(l.low[k], low), max(l.top[k], top)
		}
	}
}

// left is where the panel of run i begins.
func (l *layout) left(i int) float64 {
	return margin + labelWidth + float64(i)*(labelWidth+l.panel+columnGap)
}

// Write draws the figure.
func Write(w io.Writer, f *Figure) error {
	l := newLayout(f)
	c := &canvas{}
	c.open(l.width, l.height, f.Title, f.Subtitle)
	c.head(f.Title, f.Subtitle)
	for i := range f.Runs {
		c.run(&l, &f.Runs[i], l.left(i))
	}
	if len(f.Bars) > 0 {
		c.bars(f, margin, l.height-margin-legendSize-barsHeight(f), l.width-2*margin)
	}
	c.legend(margin, l.height-margin/2-legendSize/2, f)
	c.close()
	if _, err := io.WriteString(w, c.String()); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}

// run draws one column: title, Gantt chart, series.
func (c *canvas) run(l *layout, r *Run, x float64) {
	y := headHeight
	c.text(x, y+14, "h2", "start", r.Title)
	c.text(x+l.panel, y+14, "note", "end", r.Note)
	y += titleHeight
	if l.rows > 0 {
		c.grid(l, x, y, l.rows)
		c.gantt(l, r, x, y)
		y += l.rows
		c.timeTicks(l, x, y, true)
		y += axisHeight
	}
	for i := range r.Series {
		s := &r.Series[i]
		y += seriesGap
		if i == 0 {
			y -= seriesGap / 2
		}
		c.utilisation(l, s, l.low[i], l.top[i], r.End, x, y)
		y += seriesSize
	}
	if len(r.Series) > 0 {
		c.timeTicks(l, x, y, true)
	}
}
