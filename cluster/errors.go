package cluster

import (
	"errors"
	"fmt"
)

// Sentinels shared by every layer; package api maps them to HTTP statuses and
// package cmd to exit codes. Wrap them with what was attempted.
var (
	// ErrNotFound: there is no such thing, or the caller may not see it.
	ErrNotFound = errors.New("not found")
	// ErrInvalid: the input is wrong; a *FieldError says which field and why.
	ErrInvalid = errors.New("invalid")
	// ErrConflict: the request contradicts the present state.
	ErrConflict = errors.New("conflict")
	// ErrForbidden: the caller is known and may not do this.
	ErrForbidden = errors.New("forbidden")
	// ErrUnauthenticated: the caller is not known.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrTooMany: a limit on rate or on quantity was exceeded.
	ErrTooMany = errors.New("too many")
	// ErrUnavailable: the service cannot answer now; trying later may help.
	ErrUnavailable = errors.New("unavailable")
)

// FieldError is bad input, told so that a person can mend it: which field, what
// it held and what would be right. It matches [ErrInvalid].
type FieldError struct {
	Field string // path in the input, e.g. "vms[2].memory_mib"
	Value string // what was given, shortened
	Want  string // what would be right, e.g. "at least 1"
	Text  string // the whole message, where it takes more to tell than value and want
}

// Error names the field, the value and what would be right.
func (e *FieldError) Error() string {
	if e.Text != "" {
		return e.Text
	}
	return fmt.Sprintf("%s: %s is wrong: want %s", e.Field, e.Value, e.Want)
}

// Is makes every FieldError an [ErrInvalid].
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

// Within puts the path of what the error is in before its field.
func Within(path string, err error) error {
	var bad *FieldError
	if !errors.As(err, &bad) {
		return err
	}
	inner := *bad
	inner.Field = path + "." + bad.Field
	return &inner
}

// BadField builds a [FieldError]; value is quoted and shortened for display.
func BadField(field string, value any, want string) error {
	text := fmt.Sprintf("%v", value)
	if s, ok := value.(string); ok {
		text = fmt.Sprintf("%q", s)
	}
	const limit = 80
	if r := []rune(text); len(r) > limit {
		text = string(r[:limit]) + "…"
	}
	return &FieldError{Field: field, Value: text, Want: want}
}
