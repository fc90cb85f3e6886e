package api

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// What follows writes some fields of a struct in JSON, or all. The package encoding/json cannot leave fields out, and takes
// more than twice as long, which is much of what a list of many vjobs costs.

// valueWriter appends the JSON of an addressable value.
type valueWriter func(text []byte, value reflect.Value) ([]byte, error)

// objectWriter writes fields of a struct, in their order.
type objectWriter []fieldWriter

// fieldWriter writes a field.
type fieldWriter struct {
	name      string
	index     int  // in the struct
	omitEmpty bool // it is absent if it has its zero value
	write     valueWriter
}

// objectOf returns the writer of all fields of a struct.
func objectOf(t reflect.Type) (o objectWriter) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		o = append(o, fieldWriter{name, f.Index[0], options == "omitempty", writerOf(f.Type)})
	}
	return o
}

func (o objectWriter) write(text []byte, value reflect.Value) (_ []byte, err error) {
	text = append(text, '{')
	first := len(text)
	for i := range o {
		f := &o[i]
		field := value.Field(f.index)
		if f.omitEmpty && isEmpty(field) {
			continue
		}
		if len(text) > first {
			text = append(text, ',')
		}
		text = append(append(append(text, '"'), f.name...), '"', ':')
		if text, err = f.write(text, field); err != nil {
			return text, err
		}
	}
	return append(text, '}'), nil
}

// isEmpty reports whether omitempty leaves a value out.
func isEmpty(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Map, reflect.Slice:
		return value.Len() == 0
	case reflect.Struct:
		return false
	default:
		return value.IsZero()
	}
}

// writerOf returns the writer of a type. What it does not know is left to encoding/json.
func writerOf(t reflect.Type) valueWriter {
	switch t.Kind() {
	case reflect.String:
		return func(text []byte, v reflect.Value) ([]byte, error) { return appendText(text, v.String()), nil }
	case reflect.Bool:
		return func(text []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(text, v.Bool()), nil }
	case reflect.Int, reflect.Int64:
		return func(text []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(text, v.Int(), 10), nil }
	case reflect.Float64:
		return writeFloat
	case reflect.Pointer:
		return writePointer(writerOf(t.Elem()))
	case reflect.Slice:
		return writeSlice(writerOf(t.Elem()))
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return writeInstant
		}
		return objectOf(t).write
	default:
		return writeOther
	}
}

func writePointer(elem valueWriter) valueWriter {
	return func(text []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(text, "null"...), nil
		}
		return elem(text, v.Elem())
	}
}

func writeSlice(elem valueWriter) valueWriter {
	return func(text []byte, v reflect.Value) (_ []byte, err error) {
		if v.IsNil() {
			return append(text, "null"...), nil
		}
		text = append(text, '[')
		for i := range v.Len() {
			if i > 0 {
				text = append(text, ',')
			}
			if text, err = elem(text, v.Index(i)); err != nil {
				return text, err
			}
		}
		return append(text, ']'), nil
	}
}

func writeFloat(text []byte, v reflect.Value) ([]byte, error) {
	if f := v.Float(); !math.IsInf(f, 0) && !math.IsNaN(f) {
		return strconv.AppendFloat(text, f, 'f', -1, 64), nil
	}
	return writeOther(text, v) // says that there is no such number
}

func writeInstant(text []byte, v reflect.Value) ([]byte, error) {
	at := v.Addr().Interface().(*time.Time)
	return append(at.AppendFormat(append(text, '"'), time.RFC3339Nano), '"'), nil
}

func writeOther(text []byte, v reflect.Value) ([]byte, error) {
	value, err := json.Marshal(v.Interface())
	return append(text, value...), err
}

// appendText appends a text. What is not UTF-8 in it is replaced.
func appendText(text []byte, s string) []byte {
	text, _ = jsontext.AppendQuote(text, s)
	return text
}
