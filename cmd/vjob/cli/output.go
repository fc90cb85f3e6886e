package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"vjob/cmd/vjob/display"
)

// PrintJSON prints a wire value. What JSON leaves as it is and a terminal might
// obey is escaped.
func PrintJSON(out io.Writer, v any, indent bool) error {
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

func jsonUnsafe(r rune) bool { return r != '\n' && display.UnsafeRune(r) }

// Show prints a value: as JSON, or as the table that is made of it.
func (a *App) Show(v any, tabulate func() *display.Table) error {
	if a.JSON() {
		return PrintJSON(a.Out, v, true)
	}
	t := tabulate()
	if a.Colours() {
		t.Paint = display.Paint
	}
	return t.Write(a.Out, a.Width())
}

// NonNil is the list, which JSON shows as a list though it be empty.
func NonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
