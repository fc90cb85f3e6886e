package screen

import (
	"slices"
	"strings"
	"time"

	"vjob/cmd/vjob/display"
)

// view is one list or text: its rows, which of them are shown, and where the cursor is.
type view struct {
	query Query
	value any    // of the last answer; nil: nothing was read yet
	fault string // what the daemon said of the last request, if it refused it
	text  func(width int) []row

	filter  string // text that rows must have; lists of vjobs are filtered by the daemon
	sort    string // head of the column of the order; "": as the daemon has it
	largest bool   // the order begins with the largest
	follow  bool   // the cursor stays at the newest row

	sheet  sheet
	width  int   // for which the sheet was made; 0: it has to be made again
	shown  []int // rows of the sheet, in order
	cursor int   // in shown
	top    int   // the first row in sight, in shown
}

func newView(q Query) *view {
	return &view{query: q, follow: q.Kind == Events || q.Kind == Output}
}

// newest is where new rows come in.
type newest uint8

const (
	nowhere newest = iota
	atTop
	atBottom
)

func (v *view) newest() newest {
	switch v.query.Kind {
	case VJobs, Events, Output:
		return atBottom
	case Plans, Alarms:
		return atTop
	default:
		return nowhere
	}
}

// build makes the rows anew. The cursor stays on its row, and that row where it is on the screen.
func (v *view) build(width int, now time.Time) {
	key := v.key()
	v.sheet, v.width = makeSheet(v, width, now), width
	v.arrange(key)
}

// key identifies the row of the cursor.
func (v *view) key() string {
	if v.cursor < len(v.shown) {
		return v.sheet.rows[v.shown[v.cursor]].key
	}
	return ""
}

// row is the row of the cursor; nil without rows.
func (v *view) row() *row {
	if v.cursor < len(v.shown) {
		return &v.sheet.rows[v.shown[v.cursor]]
	}
	return nil
}

// arrange filters and sorts the rows, and puts the cursor on the row of a key.
func (v *view) arrange(key string) {
	offset := v.cursor - v.top
	v.shown = v.shown[:0]
	wanted := strings.ToLower(v.filter)
	for i := range v.sheet.rows {
		if wanted == "" || v.sheet.rows[i].has(wanted) {
			v.shown = append(v.shown, i)
		}
	}
	if column := v.sortColumn(); column >= 0 {
		slices.SortStableFunc(v.shown, func(a, b int) int {
			order := display.Compare(v.sheet.rows[a].cells[column].value, v.sheet.rows[b].cells[column].value)
			if v.largest {
				return -order
			}
			return order
		})
	}
	switch {
	case v.follow && v.newest() == atTop:
		v.cursor = 0
	case v.follow:
		v.cursor = len(v.shown) - 1
	default:
		if at := slices.IndexFunc(v.shown, func(i int) bool { return key != "" && v.sheet.rows[i].key == key }); at >= 0 {
			v.cursor = at
		}
	}
	v.cursor = max(0, min(v.cursor, len(v.shown)-1))
	v.top = v.cursor - offset
}

// sortColumn returns the index of the column of the order, or -1.
func (v *view) sortColumn() int {
	if v.sort == "" {
		return -1
	}
	return slices.IndexFunc(v.sheet.columns, func(c column) bool { return c.Name == v.sort })
}

// scroll has the cursor in sight in a body of a height, with as few empty lines as possible; 0 is unlimited.
func (v *view) scroll(height int) {
	if height <= 0 {
		v.top = 0
		return
	}
	v.top = min(v.top, v.cursor, len(v.shown)-height)
	v.top = max(v.top, v.cursor-height+1, 0)
}

// move moves the cursor.
func (v *view) move(by int) { v.moveTo(v.cursor + by) }

func (v *view) moveTo(at int) {
	v.follow = false
	v.cursor = max(0, min(at, len(v.shown)-1))
}
