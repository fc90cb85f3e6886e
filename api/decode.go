package api

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"vjob/cluster"
)

// Shape bounds what [Decode] accepts.
type Shape struct {
	Depth int            // of nested objects and arrays; 0 is 16
	Items int            // of any array or map; 0 is 10,000
	Of    map[string]int // of the array or map in the field with this name, instead of Items
}

// Decode reads one JSON value into the struct that into points to, and nothing
// else: unknown and repeated fields, names in another case, wrong types, numbers
// out of range, invalid UTF-8 and text after the end are refused, each with a
// *cluster.FieldError that names the field. On an error, into is unchanged.
func Decode(data []byte, into any, shape Shape) error {
	if shape.Depth == 0 {
		shape.Depth = 16
	}
	if shape.Items == 0 {
		shape.Items = 10_000
	}
	if !utf8.Valid(data) {
		return cluster.Fault("body", "invalid UTF-8")
	}
	if err := checkSyntax(data); err != nil {
		return err
	}
	w := walker{shape: shape, tokens: json.NewDecoder(bytes.NewReader(data))}
	w.tokens.UseNumber()
	if err := w.value(location{}, reflect.TypeOf(into).Elem(), 0); err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("decode: %w: %w", cluster.ErrInvalid, err)
	}
	return nil
}

// checkSyntax finds the first place where data is not one JSON value.
func checkSyntax(data []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if err == nil {
		return nil
	}
	what := err.Error()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := data[:min(int(syntax.Offset), len(data))]
		line := 1 + bytes.Count(before, []byte("\n"))
		what = fmt.Sprintf("line %d, byte %d (%s)", line, syntax.Offset, syntax)
	}
	return cluster.Fault("body", "%s, want one JSON object and nothing after it", what)
}

// location is a position in the input.
type location struct {
	path string // "vms[2].env.PATH", "" at the top
	name string // of the innermost field: "env"
}

func (p location) field(name string) location {
	shown := name
	if len(shown) > 64 || strings.ContainsFunc(shown, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		shown = strconv.Quote(string([]rune(shown)[:min(64, utf8.RuneCountInString(shown))]))
	}
	if p.path != "" {
		shown = p.path + "." + shown
	}
	return location{shown, name}
}

func (p location) item(i int) location {
	return location{p.path + "[" + strconv.Itoa(i) + "]", p.name}
}

func (p location) bad(value any, want string) error { return cluster.BadField(p.shown(), value, want) }

func (p location) wrong(what, want string) error {
	return cluster.Fault(p.shown(), "%s, want %s", what, want)
}

// shown is the path, or "body" at the top.
func (p location) shown() string { return cmp.Or(p.path, "body") }

// walker compares the tokens of one value with the type that it is meant for.
type walker struct {
	shape  Shape
	tokens *json.Decoder
}

func (w *walker) value(at location, t reflect.Type, depth int) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := w.tokens.Token()
	if err != nil {
		return at.wrong(err.Error(), "JSON")
	}
	switch token := token.(type) {
	case json.Delim:
		if depth >= w.shape.Depth {
			return at.wrong("deeper nesting", fmt.Sprintf("at most %d levels", w.shape.Depth))
		}
		return w.composite(at, token, t, depth+1)
	case json.Number:
		return number(at, token, t)
	case string:
		if t == timeType {
			return instantOf(at, token)
		}
		if isText(t) {
			return textOf(at, token, t)
		}
		if t.Kind() != reflect.String {
			return at.bad(token, kindName(t))
		}
	case bool:
		if t.Kind() != reflect.Bool {
			return at.bad(token, kindName(t))
		}
	case nil:
		if at.path == "" || strings.HasSuffix(at.path, "]") {
			return at.wrong("null", kindName(t))
		}
	}
	return nil
}

func (w *walker) composite(at location, open json.Delim, t reflect.Type, depth int) error {
	switch {
	case open == '{' && t.Kind() == reflect.Struct && t != timeType:
		return w.object(at, fields(t), nil, depth)
	case open == '{' && t.Kind() == reflect.Map:
		return w.object(at, nil, t.Elem(), depth)
	case open == '[' && t.Kind() == reflect.Slice:
		return w.list(at, t.Elem(), depth)
	}
	return at.wrong(map[json.Delim]string{'{': "an object", '[': "a list"}[open], kindName(t))
}

// object checks the fields of a struct, or of a map with values of type elem.
func (w *walker) object(at location, known map[string]reflect.Type, elem reflect.Type, depth int) error {
	seen := map[string]bool{}
	for w.tokens.More() {
		token, err := w.tokens.Token()
		if err != nil {
			return at.wrong(err.Error(), "JSON")
		}
		name, _ := token.(string)
		under, t := at.field(name), elem
		if t == nil {
			var ok bool
			if t, ok = known[name]; !ok {
				return under.wrong("an unknown field", "one of "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			}
		}
		if seen[name] {
			return under.wrong("a second value", "each field once")
		}
		seen[name] = true
		if len(seen) > w.bound(at) {
			return at.wrong("more entries", fmt.Sprintf("at most %d", w.bound(at)))
		}
		if err := w.value(under, t, depth); err != nil {
			return err
		}
	}
	_, err := w.tokens.Token()
	return err
}

func (w *walker) list(at location, elem reflect.Type, depth int) error {
	for i := 0; w.tokens.More(); i++ {
		if i >= w.bound(at) {
			return at.wrong("a longer list", fmt.Sprintf("at most %d entries", w.bound(at)))
		}
		if err := w.value(at.item(i), elem, depth); err != nil {
			return err
		}
	}
	_, err := w.tokens.Token()
	return err
}

func (w *walker) bound(at location) int {
	if n, ok := w.shape.Of[at.name]; ok {
		return n
	}
	return w.shape.Items
}

// fields lists the JSON names of a struct, embedded ones included.
func fields(t reflect.Type) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			known[name] = f.Type
		}
	}
	return known
}

func number(at location, n json.Number, t reflect.Type) error {
	var err error
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		_, err = strconv.ParseInt(n.String(), 10, 64)
	case reflect.Float64:
		_, err = strconv.ParseFloat(n.String(), 64)
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return at.bad(n, kindName(t))
	}
	return nil
}

var timeType = reflect.TypeFor[time.Time]()

func instantOf(at location, text string) error {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return at.bad(text, "a date and a time such as 2026-12-01T08:00:00Z")
	}
	return nil
}

// isText reports whether a type of its own is a string in JSON, such as an enumeration.
func isText(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) && !p.Implements(reflect.TypeFor[json.Unmarshaler]())
}

func textOf(at location, text string, t reflect.Type) error {
	err := reflect.New(t).Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
	if bad, ok := errors.AsType[*cluster.FieldError](err); ok {
		return at.bad(text, bad.Want)
	}
	return err
}

// kindName says what a type looks like in JSON.
func kindName(t reflect.Type) string {
	if t == timeType {
		return "a date and a time"
	}
	if isText(t) {
		return "text"
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}
