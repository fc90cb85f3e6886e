package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// printJSON prints a wire value. What JSON leaves as it is and a terminal might
// obey is escaped.
func printJSON(out io.Writer, v any, indent bool) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print as JSON: %w", err)
	}
	text := b.String()
	if strings.ContainsFunc(text, jsonUnsafe) {
		var safe strings.Builder
		for _, r := range text {
			if jsonUnsafe(r) {
				fmt.Fprintf(&safe, `\u%04x`, r)
			} else {
				safe.WriteRune(r)
			}
		}
		text = safe.String()
	}
	_, err := io.WriteString(out, text)
	return err
}

func jsonUnsafe(r rune) bool { return r != '\n' && unsafeRune(r) }

// show prints a value: as JSON, or as the table that is made of it.
func (a *app) show(v any, tabulate func() *table) error {
	if a.json() {
		return printJSON(a.out, v, true)
	}
	t := tabulate()
	if a.colours() {
		t.paint = paint
	}
	return t.write(a.out, a.width())
}
