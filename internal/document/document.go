// Package document decodes YAML and JSON files that users write by hand. It is strict: an
// unknown key, a repeated key and a value of the wrong type are errors, which name the file,
// line, column, key and value, and what is valid.
//
// Package goccy/go-yaml parses, refuses repeated keys, and gives each value its key and place. Its strict decoder is not
// used: in version 1.19.2 it accepts 2.5 as the whole number 2, turns the text 010 into 8 and 1.50 into 1.5, skips a whole
// mapping silently if one key is a number, and its errors about a type with its own notation, such as "2GiB", have no place.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"vjob/cluster"
)

// Limit is the maximum size of a document in bytes.
const Limit = 16 << 20

// Error is invalid input at one place of a document. It matches cluster.ErrInvalid
// and unwraps to the *cluster.FieldError.
type Error struct {
	Document     string // name of the file
	Line, Column int    // from 1; 0 if unknown
	Field        *cluster.FieldError
}

// Error returns "file:line:column: key: value: want …".
func (e *Error) Error() string {
	at := fmt.Sprintf("%s:%d:%d: %s", e.Document, e.Line, e.Column, e.Field.Field)
	if text, ok := strings.CutPrefix(e.Field.Text, e.Field.Field+": "); ok {
		return at + ": " + text
	}
	if e.Field.Text != "" {
		return at + ":\n" + e.Field.Text
	}
	return fmt.Sprintf("%s: %s: want %s", at, e.Field.Value, e.Field.Want)
}

// Unwrap returns the error of the field, without its place.
func (e *Error) Unwrap() error { return e.Field }

// Document holds the place of each key of a document.
type Document struct {
	Name   string
	places map[string]*token.Position
}

// Read reads a file of at most [Limit] bytes; "-" is the standard input.
func Read(path string) ([]byte, error) {
	if path == "-" {
		return ReadFrom("standard input", os.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unopened(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return ReadFrom(path, f)
}

// openError is a file that cannot be opened: the mistake is in its name.
type openError struct{ *fs.PathError }

// Error names the file, and why.
func (e openError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the error of the open.
func (e openError) Unwrap() error { return e.PathError }

// Is reports that it is a [cluster.ErrInvalid].
func (e openError) Is(target error) bool { return target == cluster.ErrInvalid }

func unopened(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return openError{e}
	}
	return err
}

// ReadFrom reads at most [Limit] bytes; the name is for messages.
func ReadFrom(name string, in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, Limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > Limit {
		return nil, cluster.Fault(name, "more than %d MiB", Limit>>20)
	}
	return data, nil
}

// Decode decodes one document into what target points to. Keys are the json names
// of the fields. Fields without a key in the document keep their value.
func Decode(name string, data []byte, target any) (*Document, error) {
	d := &Document{Name: name, places: map[string]*token.Position{}}
	if line, ok := notText(data); ok {
		return nil, &Error{Document: name, Line: line, Column: 1, Field: &cluster.FieldError{
			Field: "syntax", Value: "bytes that are no text", Want: "YAML or JSON in UTF-8",
		}}
	}
	if line, ok := tooDeep(data); ok {
		return nil, &Error{Document: name, Line: line, Column: 1, Field: &cluster.FieldError{
			Field: "syntax", Value: "nesting too deep", Want: fmt.Sprintf("at most %d levels", maxDepth),
		}}
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, d.syntax(err)
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) == 0 {
		return d, nil
	}
	to := decoder{doc: d, anchors: map[string]ast.Node{}}
	if len(bodies) > 1 {
		return nil, to.invalid(bodies[1], "a second document", "one document in the file")
	}
	if err := to.value(bodies[0], reflect.ValueOf(target).Elem()); err != nil {
		return nil, err
	}
	return d, nil
}

// maxDepth is the maximum nesting of lists and mappings. The time of the parser grows with
// the square of the depth.
const maxDepth = 500

// notText returns the first line with something that no document has: bytes that are not UTF-8, or control characters.
func notText(data []byte) (number int, found bool) {
	control := func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }
	for line := range bytes.Lines(data) {
		number++
		if !utf8.Valid(line) || bytes.ContainsFunc(line, control) {
			return number, true
		}
	}
	return 0, false
}

// tooDeep returns the first line at which more than maxDepth brackets are open, or more than
// maxDepth list items begin. Brackets in texts count too, which is harmless at this depth.
func tooDeep(data []byte) (line int, deep bool) {
	open, dashes := 0, 0
	line = 1
	for i, c := range data {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '-', '?', ':':
			if i+1 < len(data) && data[i+1] == ' ' {
				dashes++
			}
		case '\n':
			line++
			dashes = 0
		}
		if open > maxDepth || dashes > 4*maxDepth {
			return line, true
		}
	}
	return 0, false
}

// Locate adds the place in the document to an error about one of its fields; for a field that the document does
// not have, the place of what it would be in. It returns other errors unchanged.
func (d *Document) Locate(err error) error {
	var field *cluster.FieldError
	if !errors.As(err, &field) {
		return err
	}
	p, ok := d.places[field.Field]
	for path := field.Field; !ok; p, ok = d.places[path] {
		at := strings.LastIndexAny(path, ".[")
		if at < 0 {
			return err
		}
		path = path[:at]
	}
	return &Error{Document: d.Name, Line: p.Line, Column: p.Column, Field: field}
}

// Line returns the line of a field, from 1, or 0 if the document does not have the field.
func (d *Document) Line(field string) int {
	if p, ok := d.places[field]; ok {
		return p.Line
	}
	return 0
}

func (d *Document) syntax(err error) error {
	e := &Error{Document: d.Name, Field: &cluster.FieldError{Field: "syntax", Value: "this", Want: err.Error()}}
	if y, ok := errors.AsType[yaml.Error](err); ok {
		e.Field.Want = "YAML or JSON: " + y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
			e.Field.Value = shortened(t.Value)
		}
	}
	return e
}
