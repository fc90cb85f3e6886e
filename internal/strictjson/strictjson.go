// Package strictjson decodes JSON that users and other programs write. It is strict: unknown and repeated
// fields, names in another case, wrong types, numbers out of range, invalid UTF-8, and text after the end are
// errors, which name the field, the fault and what is valid.
package strictjson

import (
	"bytes"
	"cmp"
	"encoding"
	encodingjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vjob/cluster"
	"vjob/internal/fieldpath"
	"vjob/internal/suggest"
)

// Bounds limits the lists and objects that [Decode] accepts, and refuses null in a list. Nesting is limited by
// the type that is decoded into.
type Bounds struct {
	Entries int            // of any list or object; 0 is 10,000
	Of      map[string]int // of the list or object in the field with this name, instead of Entries
}

// Decode reads one JSON value into what into points to, see [Decoder.Decode].
func Decode(data []byte, into any) error { return plain.Decode(data, into) }

var plain = New()

// Decoder decodes with some checks. It remembers which of them apply to which types, so use one for all values of a kind.
type Decoder struct{ options json.Options }

// New returns a decoder that applies checks to each value in their order, see [Bounds.Check].
func New(checks ...*json.Unmarshalers) *Decoder {
	return &Decoder{json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.JoinUnmarshalers(checks...)))}
}

// Decode reads one JSON value into what into points to, and nothing else. Every error consists of a
// *cluster.FieldError for each unknown field and each value of a wrong type, or of one for another fault; the field of the
// whole value is "body". On an error, into is unchanged.
func (d *Decoder) Decode(data []byte, into any) error {
	target := reflect.ValueOf(into).Elem()
	fresh := reflect.New(target.Type())
	if err := json.Unmarshal(data, fresh.Interface(), d.options); err != nil {
		return cluster.AllFaults(fieldError(err, data, target.Type()), allWrong(err, data, target.Type(), d.options))
	}
	target.Set(fresh.Elem())
	return nil
}

// valueError is the refusal of a value by a check of [Bounds].
type valueError struct {
	at          jsontext.Pointer // "" is the place of the value
	value, want string
}

// Error returns the value and what is wanted instead.
func (e *valueError) Error() string { return e.value + ", want " + e.want }

// Check returns the check of the place of each value, for [New].
func (b Bounds) Check() *json.Unmarshalers {
	if b.Entries == 0 {
		b.Entries = 10_000
	}
	least := b.Entries
	for _, n := range b.Of {
		least = min(least, n)
	}
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, into any) error {
		in, before := d.StackIndex(d.StackDepth())
		if in != '{' && d.PeekKind() == 'n' {
			return &valueError{value: "null", want: KindName(reflect.TypeOf(into).Elem())}
		}
		if in == '{' {
			before /= 2 // names and values count
		}
		if in == 0 || before < int64(least) {
			return json.SkipFunc
		}
		within := d.StackPointer().Parent()
		most, limited := b.Of[within.LastToken()]
		if !limited {
			most = b.Entries
		}
		switch {
		case before < int64(most):
			return json.SkipFunc
		case in == '[':
			return &valueError{within, "a longer list", fmt.Sprintf("at most %d entries", most)}
		default:
			return &valueError{within, "more entries", fmt.Sprintf("at most %d", most)}
		}
	})
}

// fieldError returns an error of the decoder as an error of a field of the type t.
func fieldError(err error, data []byte, t reflect.Type) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return cluster.Fault(fieldPath(syntax.JSONPointer, t), "a second value, want each field once")
		}
		place := fmt.Sprintf("byte %d", syntax.ByteOffset)
		if before := data[:min(int(syntax.ByteOffset), len(data))]; bytes.Contains(before, []byte("\n")) {
			place = fmt.Sprintf("line %d, %s", 1+bytes.Count(before, []byte("\n")), place)
		}
		return cluster.Fault(whole, "%s (%s), want one JSON object and nothing after it", place, syntax.Err)
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return cluster.Fault(whole, "%v", err)
	}
	if refused, ok := errors.AsType[*valueError](err); ok {
		return cluster.Fault(fieldPath(cmp.Or(refused.at, semantic.JSONPointer), t), "%s", refused)
	}
	field := fieldPath(semantic.JSONPointer, t)
	if errors.Is(err, json.ErrUnknownName) {
		return unknownField(field, semantic.JSONPointer.LastToken(), semantic.GoType)
	}
	want := KindName(semantic.GoType)
	if bad, ok := errors.AsType[*cluster.FieldError](err); ok {
		want = bad.Want // of a name that UnmarshalText refuses
	}
	return cluster.BadField(field, valueAt(data, semantic.ByteOffset), want)
}

// unknownField returns the fault of a name that the struct t does not have, with the name that was probably meant.
func unknownField(field, name string, t reflect.Type) error {
	known := slices.Sorted(maps.Keys(fieldpath.Fields(t)))
	guess := ""
	if near := meant(name, known); near != "" {
		guess = "probably " + near + ", or "
	}
	return cluster.Fault(field, "an unknown field, want %sone of %s", guess, strings.Join(known, ", "))
}

// meant returns the name that an unknown one stands for: with the unit that it lacks, or of similar spelling; "" without one.
func meant(name string, known []string) string {
	if i := slices.IndexFunc(known, func(k string) bool { return name != "" && strings.HasPrefix(k, name+"_") }); i >= 0 {
		return known[i]
	}
	if near := suggest.Nearest(name, known); near != "" && strings.EqualFold(near[:1], name[:1]) {
		return near
	}
	return ""
}

// unquoted is a text that messages show without quotes.
type unquoted string

// valueAt returns the scalar that begins at an offset, or the kind of another value.
func valueAt(data []byte, offset int64) any {
	token, err := jsontext.NewDecoder(bytes.NewReader(data[min(int(offset), len(data)):])).ReadToken()
	if err != nil {
		return unquoted("the value")
	}
	switch token.Kind() {
	case '{':
		return unquoted("an object")
	case '[':
		return unquoted("a list")
	case '"':
		return token.String()
	default:
		return unquoted(token.String())
	}
}

// whole is the field of the whole value in errors.
const whole = "body"

// fieldPath returns a place in a value of the type t as messages name it, or "body" for the whole value.
func fieldPath(at jsontext.Pointer, t reflect.Type) string {
	return cmp.Or(fieldpath.Of(at, t), whole)
}

// IsText reports whether a type of its own is a string in JSON, such as an enumeration.
func IsText(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) && !p.Implements(reflect.TypeFor[encodingjson.Unmarshaler]())
}

// KindName says what a type looks like in JSON.
func KindName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a date and a time such as 2026-12-01T08:00:00Z"
	}
	if IsText(t) {
		return "text"
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}
