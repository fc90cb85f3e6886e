package main

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// table is aligned columns for people. All cells are cleaned.
type table struct {
	heads []column
	rows  [][]string
	paint func(column string, cell string) string // colours for a cell; nil is none
}

// column is the head of a column.
type column struct {
	name  string
	right bool // numbers
}

// heads makes columns from words; one that starts with ">" is aligned to the
// right.
func heads(words string) []column {
	var list []column
	for w := range strings.FieldsSeq(words) {
		name, right := strings.CutPrefix(w, ">")
		list = append(list, column{strings.ReplaceAll(name, "_", " "), right})
	}
	return list
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = clean(c)
	}
	t.rows = append(t.rows, cells)
}

// write prints the table; width > 0 cuts the last column so that lines do not
// wrap.
func (t *table) write(out io.Writer, width int) error {
	widths := make([]int, len(t.heads))
	for i, h := range t.heads {
		widths[i] = textWidth(h.name)
		for _, row := range t.rows {
			widths[i] = max(widths[i], textWidth(row[i]))
		}
	}
	var b strings.Builder
	names := make([]string, len(t.heads))
	for i, h := range t.heads {
		names[i] = h.name
	}
	t.line(&b, names, widths, width, nil)
	for _, row := range t.rows {
		t.line(&b, row, widths, width, t.paint)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// textWidth is how many places a text takes on a terminal.
func textWidth(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return runewidth.StringWidth(s)
		}
	}
	return len(s) // clean has left nothing that takes no place
}

func (t *table) line(out *strings.Builder, cells []string, widths []int, width int, paint func(string, string) string) {
	var b strings.Builder
	used := 0
	for i, cell := range cells {
		last := i == len(cells)-1
		if last && width > 0 {
			cell = runewidth.Truncate(cell, max(8, width-used), "…")
		}
		pad := strings.Repeat(" ", max(0, widths[i]-textWidth(cell)))
		shown := cell
		if paint != nil {
			shown = paint(t.heads[i].name, cell)
		}
		switch {
		case t.heads[i].right:
			b.WriteString(pad + shown)
		case last:
			b.WriteString(shown)
		default:
			b.WriteString(shown + pad)
		}
		if !last {
			b.WriteString("  ")
		}
		used += widths[i] + 2
	}
	out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
}
