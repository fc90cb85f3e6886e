package chart

import (
	"fmt"
	"io"
	"strconv"
)

// Scatter is a scatter plot of groups, such as yield against power by algorithm.
type Scatter struct {
	Title    string
	Subtitle string
	X, Y     string // names of the axes, with units; both begin at 0
	Groups   []Group
}

// Group is the points of one group, drawn with their mean, which is larger.
type Group struct {
	Name   string
	Points [][2]float64
}

// spectrum are the colours of groups, after Okabe and Ito. The eighth group has the first colour
// in another shape; 28 groups can be distinguished.
var spectrum = []string{"#1f6fb2", "#e69f00", "#009e73", "#d1495b", "#7cc7f2", "#cc5fa0", "#5b6470"}

const (
	scatterWidth  = 760.0
	scatterHeight = 460.0
	legendWidth   = 250.0
	legendStep    = 19.0
)

// WriteScatter draws the picture.
func WriteScatter(w io.Writer, s *Scatter) error {
	c := &canvas{}
	left, top := margin+labelWidth, headHeight
	height := top + max(scatterHeight, legendStep*float64(len(s.Groups))) + axisHeight + margin
	c.open(left+scatterWidth+legendWidth+margin, height, s.Title, s.Subtitle)
	c.head(s.Title, s.Subtitle)
	mostX, mostY := 0.0, 0.0
	for _, g := range s.Groups {
		for _, p := range g.Points {
			mostX, mostY = max(mostX, p[0]), max(mostY, p[1])
		}
	}
	x, y := valueAxis(mostX, scatterWidth), valueAxis(mostY, scatterHeight)
	c.frame(s, &x, &y, left, top)
	for i, g := range s.Groups {
		c.group(i, g, func(p [2]float64) (float64, float64) {
			return left + p[0]*x.perUnit, top + scatterHeight - p[1]*y.perUnit
		})
		at := top + 10 + float64(i)*legendStep
		c.dot(i, left+scatterWidth+36, at-4, 5, 1, g.Name)
		c.text(left+scatterWidth+48, at, "legend", "start", g.Name)
	}
	c.close()
	if _, err := io.WriteString(w, c.String()); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}

// frame draws the panel with its axes.
func (c *canvas) frame(s *Scatter, x, y *axis, left, top float64) {
	bottom := top + scatterHeight
	c.rect(left, top, scatterWidth, scatterHeight, "panel")
	c.across(x, left, top, bottom, s.X)
	for v := 0.0; v <= y.limit*1.0001; v += y.step {
		at := bottom - v*y.perUnit
		c.line(left, at, left+scatterWidth, at, "grid")
		c.text(left-8, at+4, "label", "end", number(v))
	}
	c.line(left, bottom, left+scatterWidth, bottom, "axis")
	c.line(left, top, left, bottom, "axis")
	c.rotated(margin+14, top+scatterHeight/2, "label", s.Y)
}

// group draws the points and their mean.
func (c *canvas) group(i int, g Group, at func(p [2]float64) (x, y float64)) {
	var mean [2]float64
	for _, p := range g.Points {
		x, y := at(p)
		c.dot(i, x, y, 2.5, 0.45, g.Name+": "+number(p[0])+", "+number(p[1]))
		mean[0] += p[0] / float64(len(g.Points))
		mean[1] += p[1] / float64(len(g.Points))
	}
	if len(g.Points) > 0 {
		x, y := at(mean)
		c.dot(i, x, y, 7, 1, g.Name+", mean: "+number(mean[0])+", "+number(mean[1]))
	}
}

// dot draws a circle; when a colour repeats, a square, then a triangle, then a diamond.
func (c *canvas) dot(i int, x, y, radius, opacity float64, text string) {
	style := fmt.Sprintf(`fill="%s" fill-opacity="%s"`, spectrum[i%len(spectrum)], strconv.FormatFloat(opacity, 'f', -1, 64))
	title := "><title>" + escape(text) + "</title></"
	switch i / len(spectrum) % 4 {
	case 0:
		c.printf(`<circle cx="%s" cy="%s" r="%s" %s%scircle>`+"\n", number(x), number(y), number(radius), style, title)
	case 1:
		c.printf(`<rect x="%s" y="%s" width="%s" height="%s" %s%srect>`+"\n",
			number(x-radius), number(y-radius), number(2*radius), number(2*radius), style, title)
	case 2:
		c.printf(`<path d="M%s %sL%s %sL%s %sZ" %s%spath>`+"\n",
			number(x), number(y-1.2*radius), number(x+1.2*radius), number(y+radius), number(x-1.2*radius), number(y+radius), style, title)
	default:
		c.printf(`<path d="M%s %sL%s %sL%s %sL%s %sZ" %s%spath>`+"\n",
			number(x), number(y-1.4*radius), number(x+1.4*radius), number(y), number(x), number(y+1.4*radius), number(x-1.4*radius), number(y), style, title)
	}
}
