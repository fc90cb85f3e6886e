package display

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Table is aligned columns for people. All cells are cleaned. What does not fit a terminal is wrapped, not cut:
// the last column below itself, or on lines of its own below the row.
type Table struct {
	Heads []Column
	Rows  [][]string
	Paint func(column string, cell string) string // colours a cell; may be nil
}

// Column is the head of a column.
type Column struct {
	Name    string
	Right   bool // numbers
	Dropped bool // on terminals that are too narrow for it
	Hidden  bool // no row has anything there
}

// Heads makes columns from words; one that starts with ">" is aligned to the
// right.
func Heads(words string) []Column {
	var list []Column
	for w := range strings.FieldsSeq(words) {
		list = append(list, head(w))
	}
	return list
}

// head makes a column from a word.
func head(word string) Column {
	name, right := strings.CutPrefix(word, ">")
	return Column{Name: strings.ReplaceAll(name, "_", " "), Right: right}
}

// Row adds a line; its cells are cleaned.
func (t *Table) Row(cells ...string) {
	for i, c := range cells {
		cells[i] = Clean(c)
	}
	t.Rows = append(t.Rows, cells)
}

// The layout of what is wrapped.
const (
	gap      = 2  // between two columns
	leastTo  = 28 // the least width of a last column that is wrapped below itself
	indented = 4  // what stands on lines of its own
)

// Write prints the table for a terminal of a width; 0 is unlimited.
func (t *Table) Write(out io.Writer, width int) error {
	l := t.layout(width)
	to := trimmer{out: bufio.NewWriterSize(out, 32<<10)}
	names := make([]string, len(t.Heads))
	for i, h := range t.Heads {
		names[i] = h.Name
	}
	l.line(&to, names, nil)
	for _, row := range t.Rows {
		l.line(&to, row, t.Paint)
	}
	return to.out.Flush()
}

// trimmer writes lines that end with no blanks.
type trimmer struct {
	out  *bufio.Writer // which keeps its first error
	held int           // blanks, which come before the next text of the line
}

func (w *trimmer) text(s string) {
	seen := strings.TrimRight(s, " ")
	if seen != "" {
		for ; w.held > 0; w.held-- {
			_ = w.out.WriteByte(' ')
		}
		_, _ = w.out.WriteString(seen)
	}
	w.held += len(s) - len(seen)
}

func (w *trimmer) blanks(n int) { w.held += max(0, n) }

func (w *trimmer) end() {
	w.held = 0
	_ = w.out.WriteByte('\n')
}

// layout is how a table is written.
type layout struct {
	heads   []Column
	columns []int // that are shown, in order
	widths  []int // of all
	width   int   // of the terminal; 0: unlimited
	rest    int   // that the last column has; 0: unlimited
}

// layout drops columns until the last one has its least width, in their order.
func (t *Table) layout(width int) *layout {
	l := &layout{heads: t.Heads, widths: make([]int, len(t.Heads)), width: width}
	used := -gap
	for i, h := range t.Heads {
		if h.Hidden {
			continue
		}
		l.widths[i] = Width(h.Name)
		for _, row := range t.Rows {
			l.widths[i] = max(l.widths[i], Width(row[i]))
		}
		used += l.widths[i] + gap
	}
	last := len(t.Heads) - 1
	if last < 0 {
		return l
	}
	before := used - l.widths[last]
	for i, h := range t.Heads {
		if h.Hidden {
			continue
		}
		if h.Dropped && width > 0 && before+min(l.widths[last], leastTo) > width {
			before -= l.widths[i] + gap
			continue
		}
		l.columns = append(l.columns, i)
	}
	if width > 0 && !t.Heads[last].Right && before+l.widths[last] > width {
		l.rest = max(1, width-before)
	}
	return l
}

// line writes a row, and below it what does not fit.
func (l *layout) line(to *trimmer, cells []string, paint func(string, string) string) {
	at, start := 0, 0 // of the column, and of the lines below
	var below []string
	for n, i := range l.columns {
		cell, last := cells[i], n == len(l.columns)-1
		if last && l.rest > 0 && Width(cell) > l.rest {
			if l.rest >= leastTo {
				lines := Wrap(cell, l.rest)
				cell, below, start = lines[0], lines[1:], at
			} else {
				cell, below, start = "", Wrap(cell, max(1, l.width-indented)), indented
			}
		}
		pad := l.widths[i] - Width(cell)
		if l.heads[i].Right {
			to.blanks(pad)
			pad = 0
		}
		if paint != nil && cell != "" {
			cell = paint(l.heads[i].Name, cell)
		}
		to.text(cell)
		to.blanks(pad + gap)
		at += l.widths[i] + gap
	}
	to.end()
	for _, line := range below {
		to.blanks(start)
		to.text(line)
		to.end()
	}
}

// Width is how many places a text takes on a terminal.
func Width(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return runewidth.StringWidth(s)
		}
	}
	return len(s) // clean has left nothing that takes no place
}

// Cut shortens a text to a width; "…" stands for what is missing.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	return runewidth.Truncate(s, max(0, width), "…")
}

// Wrap breaks a text at blanks into lines of at most a width; longer words are broken.
func Wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && Width(line)+1+Width(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for Width(word) > width {
			part := runewidth.Truncate(word, width, "")
			if part == "" { // a letter that is wider than the line
				break
			}
			lines, word = append(lines, part), word[len(part):]
		}
		line = word
	}
	return append(lines, line)
}
