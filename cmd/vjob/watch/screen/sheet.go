package screen

import (
	"fmt"
	"strings"
	"time"

	"vjob/api/wire"
	"vjob/cmd/vjob/display"
)

// sheet is the rows of a view, for a terminal of a width.
type sheet struct {
	title   string
	summary string
	columns []column // none: a text
	rows    []row
}

// column is a column of a list.
type column struct {
	display.Column
	width int // of the widest cell
	drop  int // columns with larger numbers give way first on narrow terminals; 0: never
}

// row is a line.
type row struct {
	key   string // identifies it as the list changes
	cells []cell
	open  *Query // what Enter opens; may be nil
	title string
	text  func(width int) []row // a text that Enter opens; may be nil
}

// cell is a part of a line.
type cell struct {
	value  any // by which it is sorted
	text   string
	colour string
}

// has reports whether a row contains a text, which is in lower case.
func (r *row) has(text string) bool {
	for i := range r.cells {
		if strings.Contains(strings.ToLower(r.cells[i].text), text) {
			return true
		}
	}
	return false
}

// plain is a line of text.
func plain(key, text string) row { return row{key: key, cells: []cell{{text: display.Clean(text)}}} }

// field is a column of things of one kind.
type field[T any] struct {
	display.Field[T]
	drop   int
	colour func(*T) string // may be nil
}

// list makes the columns and the cells of things.
func list[T any](fields []field[T], things []T, finish func(thing *T, r *row)) (columns []column, rows []row) {
	var used []field[T]
	for _, f := range fields {
		if f.If != nil && !anyOf(things, f.If) {
			continue
		}
		used = append(used, f)
		c := f.Column()
		columns = append(columns, column{Column: c, width: display.Width(c.Name), drop: f.drop})
	}
	rows = make([]row, len(things))
	cells := make([]cell, len(things)*len(used))
	for t := range things {
		rows[t].cells = cells[t*len(used) : (t+1)*len(used) : (t+1)*len(used)]
		for i := range used {
			c := makeCell(&used[i], &things[t])
			rows[t].cells[i] = c
			columns[i].width = max(columns[i].width, display.Width(c.text))
		}
		finish(&things[t], &rows[t])
	}
	return columns, rows
}

func makeCell[T any](f *field[T], thing *T) cell {
	value := f.Cell(thing)
	c := cell{value: sortable(value), text: display.Clean(display.Text(value))}
	switch {
	case f.colour != nil:
		c.colour = f.colour(thing)
	case f.Head == "STATE" || f.Head == "KIND":
		c.colour = display.ColourOf[c.text]
	}
	return c
}

// sortable is a value that is quickly compared.
func sortable(value any) any {
	switch t := value.(type) {
	case time.Time:
		return display.Some(t.UnixNano())
	case *time.Time:
		if t == nil {
			return nil
		}
		return t.UnixNano()
	}
	return value
}

func anyOf[T any](things []T, is func(*T) bool) bool {
	for i := range things {
		if is(&things[i]) {
			return true
		}
	}
	return false
}

// makeSheet makes the rows of a view.
func makeSheet(v *view, width int, now time.Time) sheet {
	inside := max(1, width-len(marker))
	switch value := v.value.(type) {
	case wire.NodeList:
		return nodeSheet(&value, width)
	case wire.VJobList:
		return vjobSheet(v.query, &value)
	case wire.PlanList:
		return planSheet(&value)
	case []wire.Event:
		return eventSheet(value)
	case wire.AlarmList:
		return alarmSheet(&value)
	case VJobShown:
		return oneVJobSheet(&value, inside)
	case OutputShown:
		return outputSheet(v.query, &value)
	case NodeShown:
		return oneNodeSheet(&value, inside)
	case wire.Plan:
		return onePlanSheet(&value, inside, now)
	}
	if v.text != nil {
		return sheet{title: v.query.Filter, rows: v.text(inside)}
	}
	return sheet{title: emptyTitle(v.query)}
}

// emptyTitle is the title of a view before anything was read.
func emptyTitle(q Query) string {
	switch q.Kind {
	case OneVJob:
		return fmt.Sprintf("vjob %d", q.ID)
	case Output:
		return fmt.Sprintf("output of VM %d.%d", q.ID, q.Rank)
	case OneNode:
		return "node " + display.Clean(q.Node)
	case OnePlan:
		return fmt.Sprintf("plan %d", q.ID)
	default:
		return PageNames[min(int(q.Kind), len(PageNames)-1)]
	}
}

// paragraphs are lines of text that are wrapped to a width. What is wrapped is indented as the value behind a name is.
func paragraphs(lines []string, width int) (rows []row) {
	for i, line := range lines {
		line = display.Clean(strings.TrimRight(line, "\r\n"))
		parts := []string{line}
		if display.Width(line) > width {
			indent := hanging(line)
			if indent > width/2 {
				indent = 0
			}
			head := line[:indent]
			parts = display.Wrap(line[indent:], width-indent)
			for p := range parts {
				parts[p] = head + parts[p]
				head = strings.Repeat(" ", indent)
			}
		}
		for p, part := range parts {
			rows = append(rows, row{key: fmt.Sprintf("%d/%d", i, p), cells: []cell{{text: part}}})
		}
	}
	return rows
}

// hanging is where the value begins in a line with a name, two blanks or more, and a value; 0 in others.
func hanging(line string) int {
	at := strings.Index(line, "  ")
	if at < 0 {
		return 0
	}
	rest := strings.TrimLeft(line[at:], " ")
	if indent := len(line) - len(rest); display.Width(line[:indent]) == indent {
		return indent
	}
	return 0
}

// facts are names and values as wrapped lines.
func facts(list [][2]string, width int) []row {
	var b strings.Builder
	display.Facts(&b, list)
	return paragraphs(strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), width)
}
