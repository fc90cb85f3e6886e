package cli

import (
	"encoding"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"vjob/cmd/vjob/display"
)

// printCSV prints a value as CSV: of a list a line for each entry, otherwise one line. The columns are the
// fields of -o json; those of nested objects have both names, such as cause.kind. Lists are JSON.
func printCSV(out io.Writer, v any, heads bool) error {
	rows := csvRows(reflect.ValueOf(v))
	columns := csvColumns(rows.Type().Elem(), "")
	values := make([]any, rows.Len())
	for i := range values {
		var err error
		if values[i], err = generic(rows.Index(i).Interface()); err != nil {
			return fmt.Errorf("print as CSV: %w", err)
		}
	}
	if len(columns) == 0 { // a map: its type says nothing of its fields
		columns = csvKeys(values)
	}
	lines := [][]string{}
	if heads {
		lines = append(lines, columns)
	}
	for _, value := range values {
		line := make([]string, len(columns))
		for i, path := range columns {
			line[i] = csvCell(value, path)
		}
		lines = append(lines, line)
	}
	return writeCSV(out, lines)
}

// writeCSV writes lines without anything that a terminal obeys.
func writeCSV(out io.Writer, lines [][]string) error {
	w := csv.NewWriter(&display.CleanWriter{To: out})
	return w.WriteAll(lines)
}

// csvRows returns the entries of a list, or of the one list of a value, or the value alone.
func csvRows(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice {
		return v
	}
	var list reflect.Value
	lists := 0
	if v.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(v.Type()) {
			if element := f.Type; f.IsExported() && element.Kind() == reflect.Slice && element.Elem().Kind() == reflect.Struct {
				list, lists = v.FieldByIndex(f.Index), lists+1
			}
		}
	}
	if lists == 1 {
		return list
	}
	return reflect.Append(reflect.MakeSlice(reflect.SliceOf(v.Type()), 0, 1), v)
}

// csvColumns returns the paths of the fields of a type, in the order of JSON.
func csvColumns(t reflect.Type, path string) (columns []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			columns = append(columns, csvColumns(f.Type, path)...)
		case isObject(f.Type):
			columns = append(columns, csvColumns(f.Type, path+csvName(f, name)+".")...)
		default:
			columns = append(columns, path+csvName(f, name))
		}
	}
	return columns
}

func csvName(f reflect.StructField, tag string) string {
	if tag == "" {
		return f.Name
	}
	return tag
}

// isObject reports whether JSON has a type as an object with known fields.
func isObject(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text, raw := reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[json.Marshaler]()
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !t.Implements(text) && !t.Implements(raw)
}

// csvKeys returns the keys of all objects in order.
func csvKeys(values []any) []string {
	keys := map[string]bool{}
	for _, v := range values {
		object, _ := v.(map[string]any)
		for key := range object {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// csvCell returns the value at a path of an object; "" without one.
func csvCell(v any, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = object[name]
	}
	switch v := v.(type) {
	case nil:
		return ""
	case []any, map[string]any:
		text, _ := jsonText(v) // it comes from JSON
		return text
	default:
		return fmt.Sprint(v)
	}
}
