package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"vjob/internal/pattern"
)

// printYAML prints what JSON has of a value as YAML, in the same order. A library would print control
// characters as they are.
func printYAML(out io.Writer, v any, whole bool) error {
	text, err := encode(v, false)
	if err != nil {
		return err
	}
	y := &yamlWriter{in: json.NewDecoder(strings.NewReader(text))}
	y.in.UseNumber()
	if err := y.value("", false); err != nil {
		return fmt.Errorf("print as YAML: %w", err)
	}
	document := strings.TrimLeft(y.out.String(), "\n ")
	if !whole {
		document = "---\n" + document
	}
	_, err = io.WriteString(out, document)
	return err
}

// yamlWriter writes the tokens of JSON as YAML in block style.
type yamlWriter struct {
	in  *json.Decoder
	out strings.Builder
}

// value writes the next value, which follows a key or a dash, with what follows it indented. inItem says
// that the value begins on the line of a dash.
func (y *yamlWriter) value(indent string, inItem bool) error {
	token, err := y.in.Token()
	if err != nil {
		return err
	}
	delim, nested := token.(json.Delim)
	switch {
	case !nested:
		_, err = fmt.Fprintf(&y.out, " %s\n", scalar(token))
		return err
	case !y.in.More():
		_, err = y.in.Token()
		fmt.Fprintf(&y.out, " %s\n", map[json.Delim]string{'{': "{}", '[': "[]"}[delim])
		return err
	}
	if inItem {
		y.out.WriteString(" ")
	} else {
		y.out.WriteString("\n")
	}
	for first := true; y.in.More(); first = false {
		if !first || !inItem {
			y.out.WriteString(indent)
		}
		below := indent + "  "
		if delim == '[' {
			y.out.WriteString("-")
			err = y.value(below, true)
		} else {
			var key json.Token
			if key, err = y.in.Token(); err == nil {
				y.out.WriteString(scalar(key) + ":")
				err = y.value(below, false)
			}
		}
		if err != nil {
			return err
		}
	}
	_, err = y.in.Token()
	return err
}

var (
	plainText  = pattern.New(`^[A-Za-z_/][A-Za-z0-9_./@+-]*( [A-Za-z0-9_./@+,;()=%-]+)*$`)
	otherTypes = []string{"y", "n", "yes", "no", "true", "false", "on", "off", "null", "nan", "inf"}
)

// scalar returns a text, a number, true, false or null as YAML. A text that could mean something else is
// quoted as in JSON, which YAML reads.
func scalar(token json.Token) string {
	switch v := token.(type) {
	case nil:
		return "null"
	case string:
		if plainText().MatchString(v) && !slices.Contains(otherTypes, strings.ToLower(v)) {
			return v
		}
		text, _ := jsonText(v) // a text has JSON
		return text
	default:
		return fmt.Sprint(v)
	}
}
