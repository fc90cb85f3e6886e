package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"vjob/cluster"
	"vjob/cmd/vjob/display"
)

// The output formats.
const (
	FormatTable    = "table"
	FormatWide     = "wide"
	FormatJSON     = "json"
	FormatYAML     = "yaml"
	FormatCSV      = "csv"
	FormatTemplate = "template" // followed by = and a Go template
)

// outputFormat is what -o selects.
type outputFormat struct {
	name     string
	template *template.Template // of FormatTemplate
}

// parseFormat reads the flag -o.
func parseFormat(text string) (outputFormat, error) {
	name, source, given := strings.Cut(text, "=")
	switch name {
	case FormatTable, FormatWide, FormatJSON, FormatYAML, FormatCSV:
		if !given {
			return outputFormat{name: name}, nil
		}
	case FormatTemplate:
		if source == "" {
			return outputFormat{}, cluster.Fault("--format", "the template is missing, want -o template='{{range .vjobs}}{{.id}}{{\"\\n\"}}{{end}}' or the like")
		}
		t, err := template.New("output").Funcs(templateFuncs).Parse(source)
		if err != nil {
			return outputFormat{}, cluster.Fault("--format", "%v", err)
		}
		return outputFormat{name, t}, nil
	}
	return outputFormat{}, cluster.BadField("--format", text, "table, wide, json, yaml, csv or template='{{…}}'")
}

// Structured reports whether output is for programs, and not a table.
func (a *App) Structured() bool { return a.format.name != FormatTable && a.format.name != FormatWide }

// CSV reports whether output is a table for spreadsheets.
func (a *App) CSV() bool { return a.format.name == FormatCSV }

// Wide reports whether tables have all their usual columns.
func (a *App) Wide() bool { return a.format.name == FormatWide }

// Print prints a wire value in the format for programs that -o selects. What JSON leaves as it is and a
// terminal might obey is escaped in all of them.
func (a *App) Print(v any) error { return a.printAs(a.Out, v, true) }

// PrintLine is [App.Print] of one value of a stream: JSON is one line, YAML is a document, and CSV has its
// heads before the first value only.
func (a *App) PrintLine(v any) error { return a.printAs(a.Out, v, false) }

func (a *App) printAs(out io.Writer, v any, whole bool) error {
	switch a.format.name {
	case FormatYAML:
		return printYAML(out, v, whole)
	case FormatCSV:
		heads := whole || !a.streamed
		a.streamed = true
		return printCSV(out, v, heads)
	case FormatTemplate:
		return printTemplate(out, a.format.template, v)
	default:
		return printJSON(out, v, whole)
	}
}

// encode returns the JSON of a value, with all escaped that a terminal might obey.
func encode(v any, indent bool) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("print as JSON: %w", err)
	}
	text := b.String()
	if !strings.ContainsFunc(text, jsonUnsafe) {
		return text, nil
	}
	var safe strings.Builder
	for _, r := range text {
		if jsonUnsafe(r) {
			fmt.Fprintf(&safe, `\u%04x`, r)
		} else {
			safe.WriteRune(r)
		}
	}
	return safe.String(), nil
}

func jsonUnsafe(r rune) bool { return r != '\n' && display.UnsafeRune(r) }

func printJSON(out io.Writer, v any, indent bool) error {
	text, err := encode(v, indent)
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	return err
}

// Show prints a value in the format for programs, or as the table that is made of it.
func (a *App) Show(v any, tabulate func() *display.Table) error {
	if a.Structured() {
		return a.Print(v)
	}
	return a.WriteTable(a.Out, tabulate())
}

// WriteTable writes a table for the terminal: in its width, with colours if it has them.
func (a *App) WriteTable(out io.Writer, t *display.Table) error {
	if a.Colours() {
		t.Paint = display.Paint
	}
	return t.Write(out, a.Width())
}

// NonNil is the list, which JSON shows as a list though it be empty.
func NonNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
