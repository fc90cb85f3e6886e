package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"vjob/cluster"
	"vjob/internal/fieldpath"
	"vjob/internal/fileio"
	"vjob/repack/format"
)

// mostBytes is the largest file that is read, unpacked; an instance of 500 hosts and
// 1500 jobs takes a quarter of a megabyte.
const mostBytes = 1 << 29

// object is the values of an object by their names.
type object map[string]value

// file is a whole document in memory.
type file struct {
	name string
	text []byte
}

// value is one JSON value and its place.
type value struct {
	jsontext.Value
	from int
	path string
}

// read reads a file, unpacks it, and makes sure that it is one JSON value.
func read(in io.Reader, name string) (*file, value, error) {
	f := &file{name: name}
	text, err := readAll(in)
	f.text = text
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, value{}, f.fault(0, "", "the compressed file is cut off")
	case err != nil:
		return nil, value{}, f.fault(-1, "", err.Error())
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	whole, err := d.ReadValue()
	v := value{whole, int(d.InputOffset()) - len(whole), ""}
	if err == nil {
		_, err = d.ReadToken() // the end
	}
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case err == nil:
		return nil, v, f.fault(int(d.InputOffset()), "", "something follows the end of the document")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF) && len(whole) == 0:
		return nil, v, f.fault(len(text), "", "the file ends too early: it is cut off, or empty")
	case errors.Is(err, jsontext.ErrDuplicateName):
		path := fieldpath.Of(syntax.JSONPointer.Parent(), nil)
		return nil, v, f.fault(int(syntax.ByteOffset), path, fmt.Sprintf("%q is given twice", syntax.JSONPointer.LastToken()))
	case isSyntax:
		return nil, v, f.fault(int(syntax.ByteOffset), fieldpath.Of(syntax.JSONPointer, nil), "not JSON: "+syntax.Err.Error())
	}
	return f, v, nil
}

func readAll(in io.Reader) ([]byte, error) {
	unpacked, err := fileio.Open(in)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(unpacked, mostBytes+1))
	if err == nil && len(text) > mostBytes {
		return nil, fmt.Errorf("more than %d MiB", mostBytes>>20)
	}
	return text, err
}

// fault is an error at a place; -1 is the file as a whole.
func (f *file) fault(at int, path, text string) error {
	return &format.Error{File: f.name, Place: f.place(at), Path: path, Text: text}
}

// wrong is an error about a value.
func (f *file) wrong(v value, want string) error {
	return &format.Error{File: f.name, Place: f.place(v.from), Path: v.path, Value: cluster.Shortened(string(v.Value), 60), Want: want}
}

func (f *file) place(at int) format.Place {
	if at < 0 {
		return format.Place{}
	}
	before := f.text[:min(at, len(f.text))]
	line := bytes.Count(before, []byte{'\n'})
	return format.Place{Line: int32(line + 1), Column: int32(len(before) - bytes.LastIndexByte(before, '\n'))}
}

// text returns a string; "" for other values.
func (v *value) text() string {
	if v.Kind() != '"' {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, v.Value) // read accepts nothing but JSON
	return string(text)
}

// members returns the names of an object in their order, and its values.
func (v *value) members() (names []string, values object) {
	values = object{}
	d := v.open()
	for d.PeekKind() == '"' {
		name, _ := d.ReadToken()
		key := name.String()
		names = append(names, key)
		values[key] = v.next(d, strings.TrimPrefix(v.path+"."+key, "."))
	}
	return names, values
}

// items returns the values of a list.
func (v *value) items() (list []value) {
	for d := v.open(); d.PeekKind() != ']'; {
		list = append(list, v.next(d, v.path+"["+strconv.Itoa(len(list))+"]"))
	}
	return list
}

// open returns a decoder behind the beginning of an object or list.
func (v *value) open() *jsontext.Decoder {
	d := jsontext.NewDecoder(bytes.NewBuffer(v.Value), jsontext.AllowDuplicateNames(true)) // read has refused them
	_, _ = d.ReadToken()                                                                   // read accepts nothing but JSON
	return d
}

// next returns the next value in a value.
func (v *value) next(d *jsontext.Decoder, path string) value {
	raw, _ := d.ReadValue()
	return value{raw, v.from + int(d.InputOffset()) - len(raw), path}
}
