package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// printed is what a command prints that has this value, with these flags.
func printed(tb testing.TB, v any, args ...string) (string, error) {
	tb.Helper()
	var out bytes.Buffer
	a := &cli.App{Streams: cli.Streams{Out: &out, Err: &out, Width: func() int { return 0 }, Getenv: func(string) string { return "" }}}
	cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error {
		return a.Show(v, func() *display.Table { return &display.Table{Heads: display.Heads("TABLE")} })
	}}
	root := a.Root(cmd)
	root.SetArgs(append([]string{"x"}, args...))
	err := root.ExecuteContext(tb.Context())
	return out.String(), err
}

// hostile is text that means something to YAML, CSV, a spreadsheet or a terminal.
var hostile = []string{
	"", " ", "plain", "two words", "yes", "No", "null", "~", "0123", "1e3", "0x1F", "-1", ".5", "2026-11-24", "12:30", "a: b", "a #b", "#a", "- a", "-", "?", ": ", "a:", "*a", "&a", "!a",
	"%a", "@a", "`a", "[a", "{a}", "'a", `"a"`, `\`, "a\nb", "a\n", "\ta", "a ", " a", "a,b", "\x1b[2J", "\u202e", "\u0085", "\ufeff", "ä字", "\x00", "Infinity", ".nan", "=1+2", "<<", "---", "...", "|", ">", "@", "on",
}

// What YAML says is what JSON says, and it holds nothing that a terminal obeys.
func TestYAMLIsJSON(t *testing.T) {
	check := func(tb testing.TB, v any) {
		tb.Helper()
		text, err := printed(tb, v, "-o", "yaml")
		if err != nil {
			tb.Fatal(err)
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && display.UnsafeRune(r) }); i >= 0 {
			t.Errorf("it is raw at %d: %q", i, text)
		}
		var want, got any
		raw, _ := json.Marshal(v)
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		var read any
		err = yaml.Unmarshal([]byte(text), &read)
		if err == nil { // numbers become those of JSON
			raw, _ = json.Marshal(read)
			err = json.Unmarshal(raw, &got)
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s\n%v (-want +got):\n%s", text, err, diff)
		}
	}
	for _, s := range hostile {
		check(t, map[string]any{"text": s, "list": []any{s, []any{s}, map[string]any{"k": s}}})
	}
	check(t, map[string]any{"empty": map[string]any{}, "none": []any{}, "n": nil, "t": true, "f": 1.5, "big": 123456789012345678, "deep": []any{[]any{}, map[string]any{"a": []any{map[string]any{"b": 1, "c": []any{2}}}}}})
	check(t, []any{})
	check(t, "text")
	rapid.Check(t, func(r *rapid.T) {
		check(t, map[string]string{"text": rapid.String().Draw(r, "text")})
	})
}

// A list is a line for each entry, with the same columns whatever it holds; other values are one line.
func TestCSV(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	list := wire.VJobList{Total: 2, VJobs: []wire.VJob{
		{ID: 7, Name: "a,b\n\x1b[2J", State: "running", Labels: map[string]string{"campaign": "7"}, Cause: &wire.Cause{Kind: "room"}, Started: &at},
		{ID: 12},
	}}
	text, err := printed(t, list, "-o", "csv")
	if err != nil || strings.Contains(text, "\x1b") {
		t.Fatalf("%q, %v", text, err)
	}
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) != 3 {
		t.Fatalf("%v: %d lines", err, len(lines))
	}
	cell := func(line int, column string) string {
		for i, name := range lines[0] {
			if name == column {
				return lines[line][i]
			}
		}
		t.Errorf("there is no column %s", column)
		return ""
	}
	for column, want := range map[string]string{
		"id": "7", "name": "a,b\n\\x1b[2J", "labels": `{"campaign":"7"}`, "cause.kind": "room", "started": "2026-11-21T12:00:00Z", "ended": "", "held": "false",
	} {
		if got := cell(1, column); got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
	empty, err := printed(t, wire.VJobList{}, "-o", "csv")
	if err != nil || strings.TrimSpace(empty) != strings.Join(lines[0], ",") {
		t.Errorf("an empty list is %q, %v", empty, err)
	}
	one, err := printed(t, wire.VJobDetail{VJob: wire.VJob{ID: 7}, VMs: []wire.VM{{ID: "7.0"}, {ID: "7.1"}}}, "-o", "csv")
	if got := strings.Count(one, "\n"); err != nil || got != 2 || !strings.Contains(one, `""id"":""7.1""`) {
		t.Errorf("one vjob is %d lines, %v:\n%s", got, err, one)
	}
	said, err := printed(t, map[string]any{"version": "1", "go": "go1"}, "-o", "csv")
	if said != "go,version\ngo1,1\n" || err != nil {
		t.Errorf("a map is %q, %v", said, err)
	}
}

// Templates see the fields of JSON, with numbers that can be compared, and their output cannot take over a terminal.
func TestTemplates(t *testing.T) {
	list := wire.VJobList{Total: 2, VJobs: []wire.VJob{{ID: 1046000000, Name: "a\x1b[2J", RanSeconds: 1.5}, {ID: 12, Reason: "runs"}}}
	for _, c := range []struct{ source, want string }{
		{`{{range .vjobs}}{{.id}} {{.name}}{{"\n"}}{{end}}`, "1046000000 a\\x1b[2J\n12 \n"},
		{`{{range .vjobs}}{{if gt .ran_seconds 1.0}}{{.id}}{{end}}{{end}}`, "1046000000\n"},
		{`{{if eq .total 2}}two{{end}}{{if ne .total 2.0}}no{{end}}`, "two\n"},
		{`{{range .vjobs}}{{if le .ran_seconds 1}}{{.id}}{{end}}{{end}}`, "12\n"},
		{`{{if and (lt "a" "b") (ge 2 2.0) (eq "a" "b" "a") (ne true false) (eq nil nil)}}all{{end}}`, "all\n"},
		{`{{json (index .vjobs 1).reason}}`, "\"runs\"\n"},
		{"{{len .vjobs}}\t\u202e", "2\t\\u202e\n"},
		{``, ""},
		{`{{if eq .total 3}}x{{end}}`, ""},
	} {
		got, err := printed(t, list, "-o", "template="+c.source)
		if c.source == "" {
			if err == nil || !strings.Contains(err.Error(), "--format: the template is missing") {
				t.Errorf("no template: %v", err)
			}
			continue
		}
		if got != c.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", c.source, got, err, c.want)
		}
	}
	for _, source := range []string{"{{", "{{nosuch}}", "{{.total.x}}", "{{index .vjobs 9}}", "{{template \"x\"}}", `{{lt "a" 1}}`, `{{gt true false}}`} {
		if _, err := printed(t, list, "-o", "template="+source); err == nil || !strings.HasPrefix(err.Error(), "--format: ") || cli.ExitCode(err) != cli.ExitInput {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{"table": "TABLE\n", "wide": "TABLE\n", "json": "{\n  \"a\": 1\n}\n", "yaml": "a: 1\n", "csv": "a\n1\n"} {
		if got, err := printed(t, map[string]int{"a": 1}, "-o", format); got != want || err != nil {
			t.Errorf("%s: %q, %v", format, got, err)
		}
	}
	for _, format := range []string{"", "xml", "JSON", "json=x", "template", "csv=", "tablewide"} {
		if _, err := printed(t, 1, "-o", format); err == nil || !strings.HasPrefix(err.Error(), "--format: ") {
			t.Errorf("%q: %v", format, err)
		}
	}
}

// A stream of values is lines of JSON, documents of YAML, and CSV with heads once.
func TestStreams(t *testing.T) {
	for format, want := range map[string]string{
		"json": "{\"a\":1}\n{\"a\":2}\n", "yaml": "---\na: 1\n---\na: 2\n", "csv": "a\n1\n2\n", "template={{.a}}": "1\n2\n",
	} {
		var out bytes.Buffer
		a := &cli.App{Streams: cli.Streams{Out: &out, Getenv: func(string) string { return "" }}}
		root := a.Root(&cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error {
			for n := range 2 {
				if err := a.PrintLine(map[string]int{"a": n + 1}); err != nil {
					return err
				}
			}
			return nil
		}})
		root.SetArgs([]string{"x", "-o", format})
		if err := root.ExecuteContext(t.Context()); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v", format, out.String(), err)
		}
	}
}

// thing is what the listing of the tests lists.
type thing struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

var things = []display.Field[thing]{
	{Head: "NAME", Cell: func(x *thing) any { return x.Name }},
	{Head: ">SIZE_NOW", Cell: func(x *thing) any { return x.Size }},
	{Head: "MORE", Level: display.Wide, Cell: func(*thing) any { return "m" }},
	{Head: "RARE", Level: display.OnOrder, Cell: func(*thing) any { return nil }},
	{Head: "BIG", If: func(x *thing) bool { return x.Size > 100 }, Cell: func(x *thing) any { return x.Size > 100 }},
}

// listed is what a list of things prints.
func listed(t *testing.T, rows []thing, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	a := &cli.App{Streams: cli.Streams{Out: &out, Err: &out, Now: time.Now, Width: func() int { return 0 }, Getenv: func(string) string { return "" }}}
	cmd := &cobra.Command{Use: "x"}
	var l *cli.Listing[thing]
	cmd.RunE = func(*cobra.Command, []string) error { return l.Show(rows, rows) }
	l = cli.List(a, cmd, things)
	root := a.Root(cmd)
	root.SetArgs(append([]string{"x"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// Columns, order and format go together.
func TestListing(t *testing.T) {
	for args, want := range map[string]string{
		"":                                      "NAME  SIZE NOW\nb            9\na           10\n",
		"-o wide":                               "NAME  SIZE NOW  MORE\nb            9  m\na           10  m\n",
		"--columns size-now,name":               "SIZE NOW  NAME\n       9  b\n      10  a\n",
		"--columns NAME,rare":                   "NAME  RARE\nb     -\na     -\n",
		"--sort name":                           "NAME  SIZE NOW\na           10\nb            9\n",
		"--sort -size-now --columns name":       "NAME\na\nb\n",
		"--columns name,size-now -o csv":        "name,size-now\nb,9\na,10\n",
		"--sort size-now,name -o csv":           "name,size\nb,9\na,10\n",
		"--sort=-size-now -o yaml":              "- name: a\n  size: 10\n- name: b\n  size: 9\n",
		"--columns help":                        "COLUMN    SHOWN\nname      always\nsize-now  always\nmore      with -o wide\nrare      when asked for\nbig       if a row has it\n",
		"--columns nope":                        `error: --columns: "nope" is not a column; --columns help lists them`,
		"--sort -nope":                          `error: --sort: "nope" is not a column; --columns help lists them`,
		"--columns name -o json":                "error: --columns: json has all fields, want a table or csv",
		"--watch=10ms":                          "error: --watch: 10ms is not between 100ms and 1h",
		"--watch=0s":                            "error: --watch: 0s is not between 100ms and 1h",
		"--sort name,name,-name --columns name": "NAME\na\nb\n",
		"--columns name,name":                   "NAME  NAME\nb     b\na     a\n",
	} {
		got, err := listed(t, []thing{{"b", 9}, {"a", 10}}, strings.Fields(args)...)
		if err != nil {
			got = fmt.Sprintf("error: %v", err)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if got, err := listed(t, []thing{{"b", 900}}); err != nil || got != "NAME  SIZE NOW  BIG\nb          900  yes\n" {
		t.Errorf("with a big one: %q, %v", got, err)
	}
}
