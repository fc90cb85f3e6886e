package chart

import (
	"fmt"
	"strings"
	"unicode"
)

// canvas collects the elements of an SVG document.
type canvas struct{ strings.Builder }

func (c *canvas) printf(format string, args ...any) { fmt.Fprintf(&c.Builder, format, args...) }

func (c *canvas) open(width, height float64, title, description string) {
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" role="img">`+"\n",
		number(width), number(height))
	c.printf("<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n", escape(title), escape(description), styles())
	c.rect(0, 0, width, height, "paper")
}

// head writes the title of a chart.
func (c *canvas) head(title, subtitle string) {
	c.text(margin, 34, "h1", "start", title)
	c.text(margin, 54, "sub", "start", subtitle)
}

func (c *canvas) close() { c.WriteString("</svg>\n") }

func (c *canvas) rect(x, y, width, height float64, class string) {
	c.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`+"\n",
		class, number(x), number(y), number(width), number(height))
}

// box is a rectangle with a tooltip.
func (c *canvas) box(x, y, width, height float64, class, text string) {
	c.printf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`+"\n",
		class, number(x), number(y), number(width), number(height), escape(text))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.printf(`<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`+"\n",
		class, number(x1), number(y1), number(x2), number(y2))
}

func (c *canvas) path(d, class, text string) {
	c.printf(`<path class="%s" d="%s"><title>%s</title></path>`+"\n", class, d, escape(text))
}

func (c *canvas) text(x, y float64, class, anchor, text string) {
	if text == "" {
		return
	}
	c.printf(`<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`+"\n",
		class, number(x), number(y), anchor, escape(text))
}

// rotated writes text upwards.
func (c *canvas) rotated(x, y float64, class, text string) {
	c.printf(`<text class="%s" transform="translate(%s %s) rotate(-90)" text-anchor="middle">%s</text>`+"\n",
		class, number(x), number(y), escape(text))
}

// escape escapes text for XML; characters that XML does not allow become U+FFFD.
func escape(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
