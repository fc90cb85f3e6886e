package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// templateFuncs are the functions of templates beside those of Go. The comparisons take numbers of any kind: JSON does not
// tell 2 from 2.0.
var templateFuncs = template.FuncMap{
	"json": jsonText,
	"lt":   func(a, b any) (bool, error) { c, err := compare(a, b); return c < 0, err },
	"le":   func(a, b any) (bool, error) { c, err := compare(a, b); return c <= 0, err },
	"gt":   func(a, b any) (bool, error) { c, err := compare(a, b); return c > 0, err },
	"ge":   func(a, b any) (bool, error) { c, err := compare(a, b); return c >= 0, err },
	"eq": func(a any, list ...any) bool {
		return slices.ContainsFunc(list, func(b any) bool { return equal(a, b) })
	},
	"ne": func(a, b any) bool { return !equal(a, b) },
}

// compare orders two numbers or two texts.
func compare(a, b any) (int, error) {
	x, isNumber := float(a)
	y, both := float(b)
	if isNumber && both {
		return cmp.Compare(x, y), nil
	}
	s, isText := a.(string)
	t, also := b.(string)
	if isText && also {
		return cmp.Compare(s, t), nil
	}
	return 0, fmt.Errorf("%v and %v cannot be compared", a, b)
}

// equal reports whether two values of JSON are the same.
func equal(a, b any) bool {
	if c, err := compare(a, b); err == nil {
		return c == 0
	}
	return reflect.DeepEqual(a, b)
}

func float(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// jsonText is the function json of templates.
func jsonText(v any) (string, error) {
	text, err := encode(v, false)
	return strings.TrimSuffix(text, "\n"), err
}

// generic returns a value as JSON has it: maps, lists, texts and numbers.
func generic(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return value, nil
}

// printTemplate executes a template on what -o json prints, and ends its last line.
func printTemplate(out io.Writer, t *template.Template, v any) error {
	data, err := generic(v)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.Execute(&b, numbers(data)); err != nil {
		return cluster.Fault("--format", "%v", err)
	}
	text := b.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = io.WriteString(&display.CleanWriter{To: out}, text)
	return err
}

// numbers replaces the numbers of JSON by those that templates can compare.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // JSON has no other numbers
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	}
	return v
}
