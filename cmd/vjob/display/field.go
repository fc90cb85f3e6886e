package display

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy"
)

// Field is a column of a list of things: what it shows of each.
type Field[T any] struct {
	// Head is the head as [Heads] reads it. In lower case, with "-" between its words, it is the name of the
	// column in flags.
	Head string
	// Key is that name where the head alone would be ambiguous.
	Key string
	// Of names the fields in JSON that Cell and If read, with commas between them, where fields are asked for one by one.
	Of string
	// Cell returns the value, of a type that [Text] knows.
	Cell func(row *T) any
	// Level says in which tables it is.
	Level Level
	// If limits it to tables of rows of which one is such; may be nil.
	If func(row *T) bool
}

// Level says when a column is shown that was not asked for.
type Level uint8

// The levels of columns.
const (
	Usual   Level = iota // always
	Roomy                // unless the terminal is too narrow
	Wide                 // with -o wide
	OnOrder              // never
)

// Name returns the name of the column in flags: "cpu-used" of ">CPU_USED".
func (f *Field[T]) Name() string {
	if f.Key != "" {
		return f.Key
	}
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(f.Head, ">"), "_", "-"))
}

// Column returns the head.
func (f *Field[T]) Column() Column {
	c := head(f.Head)
	c.Dropped = f.Level == Roomy
	return c
}

// Share is a part of 1, which is shown in percent.
type Share float64

// Shown is a value with a text of its own for people.
type Shown struct {
	Text  string
	Value any
}

// Some returns a number, or nil for 0, which means that the value is absent.
func Some[N int | int64 | float64 | Clock | cluster.MilliCPU | cluster.MiB](n N) any {
	if n == 0 {
		return nil
	}
	return n
}

// Clock is a number of seconds that is shown as hours, minutes and seconds; 0 is shown as "-".
type Clock int64

// Text returns a value for people: an amount with its unit, a time in the local zone, "-" for none.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return Dash(v)
	case bool:
		if v {
			return "yes"
		}
		return "-"
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return Trimmed(v)
	case cluster.MilliCPU:
		return v.String()
	case cluster.MiB:
		return v.String()
	case energy.Watts:
		return v.String()
	case Clock:
		return Walltime(int64(v))
	case Share:
		return Percent(float64(v))
	case Shown:
		return Dash(v.Text)
	case time.Duration:
		return Span(v)
	case time.Time:
		return Moment(&v)
	case *time.Time:
		return Moment(v)
	}
	return "-"
}

// Raw returns a value for programs: thousandths of processors, MiB, seconds and times in UTC, "" for none.
func Raw(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case cluster.MilliCPU:
		return strconv.FormatInt(int64(v), 10)
	case cluster.MiB:
		return strconv.FormatInt(int64(v), 10)
	case Clock:
		return strconv.FormatInt(int64(v), 10)
	case Shown:
		return Raw(v.Value)
	case time.Time:
		if v.IsZero() {
			return ""
		}
		return v.UTC().Format(time.RFC3339Nano)
	case *time.Time:
		if v == nil {
			return ""
		}
		return Raw(*v)
	}
	if n, ok := number(v); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}

// Compare orders two values of a column: numbers and times by size, texts by their letters, with the numbers
// in them by size. None comes last.
func Compare(a, b any) int {
	if x, y := Raw(a) == "", Raw(b) == ""; x || y {
		return cmp.Compare(rank(x), rank(y))
	}
	x, isNumber := number(a)
	y, both := number(b)
	if isNumber && both {
		return cmp.Compare(x, y)
	}
	return natural(Raw(a), Raw(b))
}

// rank puts what is absent last.
func rank(absent bool) int {
	if absent {
		return 1
	}
	return 0
}

// number returns the size of a value.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case cluster.MilliCPU:
		return float64(v), true
	case cluster.MiB:
		return float64(v), true
	case energy.Watts:
		return float64(v), true
	case Clock:
		return float64(v), true
	case Share:
		return float64(v), true
	case Shown:
		return number(v.Value)
	case time.Duration:
		return v.Seconds(), true
	case time.Time:
		return float64(v.UnixNano()), true
	case *time.Time:
		return float64(v.UnixNano()), true
	}
	return 0, false
}

// natural compares texts so that n9 comes before n10.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, restA := digits(a)
		y, restB := digits(b)
		if x != "" && y != "" {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits splits the digits off with which a text begins.
func digits(s string) (number, rest string) {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

// TableOf makes a table of rows with the usual columns.
func TableOf[T any](fields []Field[T], rows []T) *Table {
	t := &Table{}
	for i := range fields {
		if fields[i].Level <= Roomy {
			t.Heads = append(t.Heads, fields[i].Column())
		}
	}
	for r := range rows {
		var cells []string
		for i := range fields {
			if fields[i].Level <= Roomy {
				cells = append(cells, Text(fields[i].Cell(&rows[r])))
			}
		}
		t.Row(cells...)
	}
	return t
}
