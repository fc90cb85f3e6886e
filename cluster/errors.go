package cluster

import (
	"errors"
	"fmt"
	"strings"
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
	// ErrChanged means that a thing is no longer as the caller requires it.
	ErrChanged = errors.New("changed")
	// ErrForbidden means that the caller is authenticated and lacks the permission.
	ErrForbidden = errors.New("forbidden")
	// ErrUnauthenticated means that the caller is not authenticated.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrTooMany means that a limit of rate or quantity was exceeded.
	ErrTooMany = errors.New("too many")
	// ErrUnavailable means that the service cannot answer now; a later attempt may succeed.
	ErrUnavailable = errors.New("unavailable")
)

// FieldError is invalid input: the field, the fault and the fix. It matches [ErrInvalid].
type FieldError struct {
	Field string // path in the input, e.g. "vms[2].memory_mib"
	Value string // what was given, shortened
	Want  string // what would be valid, so that it reads well behind "is not": "a name", "at least 1"
	Text  string // the whole message, if value and want do not suffice
}

// Error is "FIELD: VALUE is not WANT", or the text.
func (e *FieldError) Error() string {
	if e.Text != "" {
		return e.Text
	}
	return fmt.Sprintf("%s: %s is not %s", e.Field, e.Value, e.Want)
}

// Is makes every FieldError an [ErrInvalid].
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

// WithPath prefixes the field of each [FieldError] with a path. Other errors are returned unchanged.
func WithPath(path string, err error) error {
	return EachFault(err, func(bad *FieldError) error { return Renamed(path+"."+bad.Field, bad) })
}

// Renamed returns a [FieldError] with another field. Other errors are returned unchanged.
func Renamed(field string, err error) error {
	bad, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err
	}
	renamed := *bad
	renamed.Field = field
	if text, ok := strings.CutPrefix(bad.Text, bad.Field+": "); ok {
		renamed.Text = field + ": " + text
	}
	return &renamed
}

// Fault returns a [FieldError] with a message of its own behind the field: the fault and the fix.
func Fault(field, format string, args ...any) error {
	return &FieldError{Field: field, Text: field + ": " + fmt.Sprintf(format, args...)}
}

// BadField returns the [FieldError] "FIELD: VALUE is not WANT"; value is quoted and shortened for display.
func BadField(field string, value any, want string) error {
	text := fmt.Sprintf("%v", value)
	if s, ok := value.(string); ok {
		text = fmt.Sprintf("%q", s)
	}
	return &FieldError{Field: field, Value: Shortened(text, 80), Want: want}
}

// Shortened returns at most so many characters of a text, and "…" in place of the rest.
func Shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
