package chart

import (
	"fmt"
	"io"
)

// Amounts is a bar chart of amounts by name, the first at the top.
type Amounts struct {
	Title    string
	Subtitle string
	Unit     string
	Amounts  []Amount
}

// Amount is one bar; its value is not negative.
type Amount struct {
	Name      string
	Value     float64
	Text      string // at its end
	Secondary bool   // of another kind than the others
}

const (
	barsWidth  = 620.0
	barsLabels = 180.0
	barsStep   = 26.0
	barHeight  = 18.0
)

// WriteAmounts draws the picture.
func WriteAmounts(w io.Writer, b *Amounts) error {
	c := &canvas{}
	left, top := margin+barsLabels, headHeight
	bottom := top + barsStep*float64(max(len(b.Amounts), 1))
	c.open(left+barsWidth+barsLabels+margin, bottom+axisHeight+margin, b.Title, b.Subtitle)
	c.head(b.Title, b.Subtitle)
	most := 0.0
	for _, bar := range b.Amounts {
		most = max(most, bar.Value)
	}
	x := valueAxis(most, barsWidth)
	c.across(&x, left, top, bottom, b.Unit)
	for i, bar := range b.Amounts {
		y, colour := top+barsStep*float64(i)+(barsStep-barHeight)/2, spectrum[0]
		if bar.Secondary {
			colour = spectrum[len(spectrum)-1]
		}
		long := bar.Value * x.perUnit
		c.text(left-8, y+barHeight-5, "label", "end", shorten(bar.Name, 24))
		c.printf(`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"><title>%s</title></rect>`+"\n",
			number(left), number(y), number(long), number(barHeight), colour, escape(bar.Name+": "+bar.Text))
		c.text(left+long+6, y+barHeight-5, "label", "start", bar.Text)
	}
	c.line(left, top, left, bottom, "axis")
	c.close()
	if _, err := io.WriteString(w, c.String()); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}
