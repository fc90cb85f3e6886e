package display

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Table is aligned columns for people. All cells are cleaned.
type Table struct {
	Heads []Column
	Rows  [][]string
	Paint func(column string, cell string) string // colours a cell; may be nil
}

// Column is the head of a column.
type Column struct {
	Name  string
	Right bool // numbers
}

// Heads makes columns from words; one that starts with ">" is aligned to the
// right.
func Heads(words string) []Column {
	var list []Column
	for w := range strings.FieldsSeq(words) {
		name, right := strings.CutPrefix(w, ">")
		list = append(list, Column{strings.ReplaceAll(name, "_", " "), right})
	}
	return list
}

// Row adds a line; its cells are cleaned.
func (t *Table) Row(cells ...string) {
	for i, c := range cells {
		cells[i] = Clean(c)
	}
	t.Rows = append(t.Rows, cells)
}

// Write prints the table; width > 0 cuts the last column so that lines do not
// wrap.
func (t *Table) Write(out io.Writer, width int) error {
	widths := make([]int, len(t.Heads))
	for i, h := range t.Heads {
		widths[i] = textWidth(h.Name)
		for _, row := range t.Rows {
			widths[i] = max(widths[i], textWidth(row[i]))
		}
	}
	var b strings.Builder
	names := make([]string, len(t.Heads))
	for i, h := range t.Heads {
		names[i] = h.Name
	}
	t.line(&b, names, widths, width, nil)
	for _, row := range t.Rows {
		t.line(&b, row, widths, width, t.Paint)
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

func (t *Table) line(out *strings.Builder, cells []string, widths []int, width int, paint func(string, string) string) {
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
			shown = paint(t.Heads[i].Name, cell)
		}
		switch {
		case t.Heads[i].Right:
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
