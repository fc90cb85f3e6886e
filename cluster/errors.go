package cluster

import (
	"errors"
	"fmt"
)

// Sentinels of all packages. Package api maps them to HTTP statuses and package cmd to exit codes.
// Wrap them with what was attempted.
var (
	// ErrNotFound means that the object does not exist, or that the caller may not see it.
	ErrNotFound = errors.New("not found")
	// ErrInvalid means that the input is wrong; a *FieldError says which field and why.
	ErrInvalid = errors.New("invalid")
	// ErrConflict means that the request contradicts the current state.
	ErrConflict = errors.New("conflict")
	// ErrForbidden means that the caller is authenticated and lacks the permission.
	ErrForbidden = errors.New("forbidden")
	// ErrUnauthenticated means that the caller is not authenticated.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrTooMany means that a limit of rate or quantity was exceeded.
	ErrTooMany = errors.New("too many")
	// ErrUnavailable means that the service cannot answer now; a later attempt may succeed.
	ErrUnavailable = errors.New("unavailable")
)

// FieldError is invalid input: which field, its value and what would be valid. It matches
// [ErrInvalid].
type FieldError struct {
	Field string // path in the input, e.g. "vms[2].memory_mib"
	Value string // what was given, shortened
	Want  string // what would be valid, e.g. "at least 1"
	Text  string // the whole message, if value and want do not suffice
}

// Error is the field, the value and what would be valid.
func (e *FieldError) Error() string {
	if e.Text != "" {
		return e.Text
	}
	return fmt.Sprintf("%s: %s is wrong: want %s", e.Field, e.Value, e.Want)
}

// Is makes every FieldError an [ErrInvalid].
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

// WithPath prefixes the field of a [FieldError] with a path. Other errors are returned unchanged.
func WithPath(path string, err error) error {
	var bad *FieldError
	if !errors.As(err, &bad) {
		return err
	}
	inner := *bad
	inner.Field = path + "." + bad.Field
	return &inner
}

// BadField returns a [FieldError]; value is quoted and shortened for display.
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
