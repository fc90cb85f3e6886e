package chart

import "slices"

// Bars compares a quantity of groups between runs: a bar for each run, below the runs.
type Bars struct {
	Title  string
	Unit   string
	Groups []BarGroup
}

// BarGroup is the bars of one group. A negative value draws no bar.
type BarGroup struct {
	Label  string
	Values []float64 // one for each run
}

// sizes in pixels.
const (
	groupBar    = 11.0
	groupGap    = 8.0 // between groups
	barHead     = 30.0
	barsGap     = 46.0 // between one set of bars and the next, side by side
	barLabels   = 96.0
	barFigures  = 64.0 // right of the bars
	barsPadding = 26.0
)

// barsHeight is the height of the bars of a figure.
func barsHeight(f *Figure) (height float64) {
	for pair := range slices.Chunk(f.Bars, 2) {
		most := 0
		for _, b := range pair {
			most = max(most, len(b.Groups))
		}
		height += barHead + float64(most)*(float64(len(f.Runs))*groupBar+groupGap)
	}
	if height > 0 {
		height += barsPadding + legendStep*float64(len(f.Runs))
	}
	return height
}

// bars draws the sets, two side by side, with a legend of the runs below.
func (c *canvas) bars(f *Figure, x, y, width float64) {
	each := (width - barsGap) / 2
	for pair := range slices.Chunk(f.Bars, 2) {
		top := y
		for i := range pair {
			y = max(y, c.barSet(f, &pair[i], x+float64(i)*(each+barsGap), top, each))
		}
	}
	for i := range f.Runs {
		at := y + barsPadding/2 + float64(i)*legendStep
		c.stroke(x+barLabels, at-9, 12, i, f.Runs[i].Title)
		c.text(x+barLabels+18, at+1, "legend", "start", f.Runs[i].Title)
	}
}

// barSet draws one set and returns its bottom.
func (c *canvas) barSet(f *Figure, b *Bars, x, y, width float64) (bottom float64) {
	most := 0.0
	for _, g := range b.Groups {
		for _, v := range g.Values {
			most = max(most, v)
		}
	}
	scale := (width - barLabels - barFigures) / max(most, 1e-9)
	c.text(x, y+14, "h2", "start", b.Title)
	c.text(x+width, y+14, "note", "end", b.Unit)
	y += barHead
	for _, g := range b.Groups {
		c.text(x+barLabels-8, y+float64(len(f.Runs))*groupBar/2+4, "label", "end", shorten(g.Label, 13))
		for i, v := range g.Values {
			if v >= 0 {
				c.stroke(x+barLabels, y, max(narrow, v*scale), i, g.Label+", "+f.Runs[i].Title+": "+number(v)+" "+b.Unit)
				c.text(x+barLabels+max(narrow, v*scale)+5, y+groupBar-2, "label", "start", number(v))
			}
			y += groupBar
		}
		y += groupGap
	}
	return y
}

func (c *canvas) stroke(x, y, width float64, run int, text string) {
	c.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"><title>%s</title></rect>`+"\n",
		number(x), number(y), number(width), number(groupBar-1.5), spectrum[run%len(spectrum)], escape(text))
}
