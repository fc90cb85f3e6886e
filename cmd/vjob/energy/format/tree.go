package format

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"vjob/repack/format"
)

// mostBytes is the largest file that is read, unpacked; an instance of 500 hosts and
// 1500 jobs takes a quarter of a megabyte.
const mostBytes = 1 << 29

// deepest is how deep values may be nested outside of what is not looked at.
const deepest = 64

// file is a whole document in memory.
type file struct {
	name string
	text []byte
}

// value is one JSON value and where it stands.
type value struct {
	from, to int
	path     string
	what     any      // string, json.Number, bool, nil, []value, or object
	keys     []string // of an object, in order
}

type object map[string]value

// slurp takes a file in, unpacks it, and makes sure that it is one JSON value.
func slurp(in io.Reader, name string) (*file, error) {
	f := &file{name: name}
	text, err := readAll(in)
	if err == nil && len(text) >= 2 && text[0] == 0x1f && text[1] == 0x8b {
		var unpacked *gzip.Reader
		if unpacked, err = gzip.NewReader(bytes.NewReader(text)); err == nil {
			text, err = readAll(unpacked)
		}
	}
	f.text = text
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, f.fault(0, "", "the compressed file is cut off")
	case err != nil:
		return nil, f.fault(-1, "", err.Error())
	case !utf8.Valid(text):
		return nil, f.fault(0, "", "not UTF-8, so it is no JSON")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		at := len(text)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = int(syntax.Offset) - 1
		}
		if strings.HasPrefix(err.Error(), "unexpected end") {
			return nil, f.fault(len(text), "", "the file ends too early: it is cut off, or empty")
		}
		return nil, f.fault(at, "", "not JSON: "+err.Error())
	}
	return f, nil
}

func readAll(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, mostBytes+1))
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
	shown := string(f.text[v.from:v.to])
	if r := []rune(shown); len(r) > 60 {
		shown = string(r[:60]) + "…"
	}
	return &format.Error{File: f.name, Place: f.place(v.from), Path: v.path, Value: shown, Want: want}
}

func (f *file) place(at int) format.Place {
	if at < 0 {
		return format.Place{}
	}
	before := f.text[:min(at, len(f.text))]
	line := bytes.Count(before, []byte{'\n'})
	return format.Place{Line: int32(line + 1), Column: int32(len(before) - bytes.LastIndexByte(before, '\n'))}
}

// parser turns the text into values.
type parser struct {
	*file
	tokens *json.Decoder
}

// tree reads the whole document.
func (f *file) tree() (value, error) {
	p := &parser{f, json.NewDecoder(bytes.NewReader(f.text))}
	p.tokens.UseNumber()
	return p.value("", 0)
}

// value reads the next value.
func (p *parser) value(path string, depth int) (v value, err error) {
	v.path, v.from = path, int(p.tokens.InputOffset())
	for v.from < len(p.text) && bytes.IndexByte([]byte(" \t\r\n,:"), p.text[v.from]) >= 0 {
		v.from++
	}
	if depth > deepest {
		return v, p.fault(v.from, path, fmt.Sprintf("nested more than %d levels deep", deepest))
	}
	token, err := p.tokens.Token()
	if err != nil {
		return v, p.fault(v.from, path, "not JSON: "+err.Error())
	}
	switch token {
	case json.Delim('{'):
		err = p.object(&v, depth)
	case json.Delim('['):
		err = p.list(&v, depth)
	default:
		v.what = token
	}
	v.to = int(p.tokens.InputOffset())
	return v, err
}

func (p *parser) list(v *value, depth int) error {
	list := []value{}
	for p.tokens.More() {
		item, err := p.value(v.path+"["+strconv.Itoa(len(list))+"]", depth+1)
		if err != nil {
			return err
		}
		list = append(list, item)
	}
	v.what = list
	_, err := p.tokens.Token()
	return err
}

func (p *parser) object(v *value, depth int) error {
	fields := object{}
	for p.tokens.More() {
		at := int(p.tokens.InputOffset())
		token, err := p.tokens.Token()
		if err != nil {
			return p.fault(at, v.path, "not JSON: "+err.Error())
		}
		key, _ := token.(string) // the decoder lets nothing else pass
		if _, double := fields[key]; double {
			return p.fault(at, v.path, fmt.Sprintf("%q is given twice", key))
		}
		field, err := p.value(strings.TrimPrefix(v.path+"."+key, "."), depth+1)
		if err != nil {
			return err
		}
		fields[key] = field
		v.keys = append(v.keys, key)
	}
	v.what = fields
	_, err := p.tokens.Token()
	return err
}
