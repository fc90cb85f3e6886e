// Package document reads what people write by hand: YAML, and JSON as a part of
// it. It is strict: an unknown key, a repeated one and a value of the wrong type
// are errors that name the file, line, column and key, the value, and what would
// be right.
//
// It refuses to know what the documents mean.
package document

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"vjob/cluster"
)

// Limit is the most bytes that a document may have.
const Limit = 16 << 20

// Error is bad input at one place of a document. It matches cluster.ErrInvalid
// and unwraps to the *cluster.FieldError.
type Error struct {
	Document     string // name of the file
	Line, Column int    // from 1; 0 when not known
	Field        *cluster.FieldError
}

// Error is "file:line:column: key: value: want …".
func (e *Error) Error() string {
	at := fmt.Sprintf("%s:%d:%d: %s", e.Document, e.Line, e.Column, e.Field.Field)
	if e.Field.Text != "" {
		return at + ":\n" + e.Field.Text
	}
	return fmt.Sprintf("%s: %s: want %s", at, e.Field.Value, e.Field.Want)
}

// Unwrap returns what is wrong, without the place.
func (e *Error) Unwrap() error { return e.Field }

// Document remembers where each key of a document stood.
type Document struct {
	Name   string
	places map[string]place
}

type place struct{ line, column int }

// Read reads a file of at most [Limit] bytes; "-" is the standard input.
func Read(path string) ([]byte, error) {
	if path == "-" {
		return ReadFrom("standard input", os.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", cluster.ErrInvalid, err)
	}
	defer func() { _ = f.Close() }() // it was only read
	return ReadFrom(path, f)
}

// ReadFrom reads at most [Limit] bytes; the name is for messages.
func ReadFrom(name string, in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, Limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > Limit {
		return nil, fmt.Errorf("%s: more than %d MiB: %w", name, Limit>>20, cluster.ErrInvalid)
	}
	return data, nil
}

// Decode reads one document into what target points to. Keys are the json names
// of the fields. Keys that the document does not have keep their present value;
// an empty document changes nothing.
func Decode(name string, data []byte, target any) (*Document, error) {
	d := &Document{Name: name, places: map[string]place{}}
	if line, ok := tooDeep(data); ok {
		return nil, &Error{Document: name, Line: line, Column: 1, Field: &cluster.FieldError{
			Field: "syntax", Value: "what is nested so deep", Want: fmt.Sprintf("at most %d levels", maxDepth),
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
	b := binder{doc: d, anchors: map[string]ast.Node{}}
	if len(bodies) > 1 {
		return nil, b.bad(bodies[1], "document", "a second one", "one document in the file")
	}
	if err := b.value("", bodies[0], reflect.ValueOf(target).Elem()); err != nil {
		return nil, err
	}
	return d, nil
}

// maxDepth is how deep lists and mappings may stand in each other. The parser takes
// time that grows with the square of the depth.
const maxDepth = 500

// tooDeep finds the line at which more brackets are open, or more list items begin,
// than a document can mean. Brackets in texts count too, which does no harm at this
// depth.
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

// Locate adds the place in the document to an error about a field of it. Other
// errors, and fields that the document does not have, stay as they are.
func (d *Document) Locate(err error) error {
	var field *cluster.FieldError
	if !errors.As(err, &field) {
		return err
	}
	p, ok := d.places[field.Field]
	if !ok {
		return err
	}
	return &Error{Document: d.Name, Line: p.line, Column: p.column, Field: field}
}

// Line is where a field stands, from 1; 0 is that the document does not have it.
func (d *Document) Line(field string) int { return d.places[field].line }

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
