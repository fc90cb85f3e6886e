package chart

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Lines is a chart of quantities over time, as lines in one panel.
type Lines struct {
	Title    string
	Subtitle string
	Y        string // name of the axis, which begins at 0, with its unit
	End      time.Duration
	Limit    float64 // drawn as a dashed line; 0 without one
	Lines    []Line
}

// Line is one quantity. Lines without a name have one colour and are not in the legend.
type Line struct {
	Name   string
	Points []Point // in order of time
}

// WriteLines draws the picture.
func WriteLines(w io.Writer, l *Lines) error {
	c := &canvas{}
	left, top := margin+labelWidth, headHeight
	bottom := top + scatterHeight
	c.open(left+scatterWidth+legendWidth+margin, bottom+axisHeight+margin, l.Title, l.Subtitle)
	c.head(l.Title, l.Subtitle)
	most := l.Limit
	for i := range l.Lines {
		for _, p := range l.Lines[i].Points {
			most = max(most, p.Value)
		}
	}
	x, y := timeAxis(l.End, scatterWidth), valueAxis(most, scatterHeight)
	c.frame(&Scatter{X: "time (" + x.unit + ")", Y: l.Y}, &x, &y, left, top)
	if l.Limit > 0 {
		at := bottom - l.Limit*y.perUnit
		c.line(left, at, left+scatterWidth, at, "capacity")
	}
	named := 0
	for i := range l.Lines {
		s := &l.Lines[i]
		colour := spectrum[named%len(spectrum)]
		var d strings.Builder
		for k, p := range s.Points {
			command := "L"
			if k == 0 {
				command = "M"
			}
			fmt.Fprintf(&d, "%s%s %s", command, number(left+x.at(p.At)), number(bottom-p.Value*y.perUnit))
		}
		c.printf(`<path fill="none" stroke="%s" stroke-width="1.4" d="%s"><title>%s</title></path>`+"\n", colour, d.String(), escape(s.Name))
		if s.Name != "" {
			at := top + 10 + float64(named)*legendStep
			c.dot(named, left+scatterWidth+36, at-4, 5, 1, s.Name)
			c.text(left+scatterWidth+48, at, "legend", "start", s.Name)
			named++
		}
	}
	c.close()
	if _, err := io.WriteString(w, c.String()); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}
