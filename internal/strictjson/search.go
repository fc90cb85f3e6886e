package strictjson

import (
	"bytes"
	"encoding"
	encodingjson "encoding/json"
	"errors"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vjob/cluster"
	"vjob/internal/fieldpath"
)

// search looks for all unknown fields and wrong types of a value. The decoder of the library ends at the first.
type search struct {
	from    *jsontext.Decoder
	root    reflect.Type
	options json.Options
	faults  cluster.Faults
}

// allWrong returns the faults that the error of the decoder is the first of. It is nil if the error is of another kind,
// which ends the search: a syntax error, or a value beyond the [Bounds].
func allWrong(first error, data []byte, t reflect.Type, options json.Options) error {
	_, semantic := errors.AsType[*json.SemanticError](first)
	if _, refused := errors.AsType[*valueError](first); !semantic || refused {
		return nil
	}
	s := &search{from: jsontext.NewDecoder(bytes.NewReader(data)), root: t, options: options}
	_ = s.value(t) // a syntax error ends the search
	return s.faults.Err()
}

// value searches the next value, which should be of the type t.
func (s *search) value(t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !decodesItself(t) {
		switch kind := s.from.PeekKind(); {
		case kind == '{' && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
			return s.object(t)
		case kind == '[' && t.Kind() == reflect.Slice:
			return s.list(t.Elem())
		}
	}
	data, err := s.from.ReadValue()
	if err != nil || data.Kind() == 'n' {
		return err
	}
	if err := json.Unmarshal(data, reflect.New(t).Interface(), s.options); err != nil {
		place := s.place()
		s.faults.Add(cluster.EachFault(fieldError(err, data, t), func(bad *cluster.FieldError) error {
			if bad.Field == whole {
				return cluster.Renamed(place, bad)
			}
			return cluster.Renamed(fieldpath.Join(place, bad.Field), bad)
		}))
	}
	return nil
}

// place is the field of the value that was read last.
func (s *search) place() string { return fieldPath(s.from.StackPointer(), s.root) }

// object searches the members of an object.
func (s *search) object(t reflect.Type) error {
	if _, err := s.from.ReadToken(); err != nil {
		return err
	}
	for s.from.PeekKind() != '}' {
		token, err := s.from.ReadToken()
		if err != nil {
			return err
		}
		name, inner := token.String(), reflect.Type(nil)
		if t.Kind() == reflect.Map {
			inner = t.Elem()
		} else {
			inner = fieldpath.Fields(t)[name].Type
		}
		if inner == nil {
			s.faults.Add(unknownField(s.place(), name, t))
			err = s.from.SkipValue()
		} else {
			err = s.value(inner)
		}
		if err != nil {
			return err
		}
	}
	_, err := s.from.ReadToken()
	return err
}

// list searches the entries of a list.
func (s *search) list(entry reflect.Type) error {
	if _, err := s.from.ReadToken(); err != nil {
		return err
	}
	for s.from.PeekKind() != ']' {
		if err := s.value(entry); err != nil {
			return err
		}
	}
	_, err := s.from.ReadToken()
	return err
}

// decodesItself reports whether a type has its own notation.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) || p.Implements(reflect.TypeFor[encodingjson.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[json.UnmarshalerFrom]())
}
