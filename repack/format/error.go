package format

import (
	"fmt"
	"strconv"
	"strings"
)

// Place is where something stands in a file, both counted from 1; the column is
// in bytes. The zero value is no place.
type Place struct{ Line, Column int32 }

// Error is what is wrong with a file.
type Error struct {
	File  string // "" when it has no name
	Place Place
	Path  string // such as "vms[12].host"; "" for the file as a whole
	Value string // what stands there, shortened
	Want  string // what would be right
	// Text is the message where there is no value that could be another one.
	Text string
}

// Error is the place, the path, the value, and what would be right.
func (e *Error) Error() string {
	var parts []string
	switch {
	case e.Place.Line > 0 && e.File != "":
		parts = append(parts, fmt.Sprintf("%s:%d:%d", e.File, e.Place.Line, e.Place.Column))
	case e.Place.Line > 0:
		parts = append(parts, fmt.Sprintf("line %d, column %d", e.Place.Line, e.Place.Column))
	case e.File != "":
		parts = append(parts, e.File)
	}
	if e.Path != "" {
		parts = append(parts, e.Path)
	}
	if e.Text != "" {
		parts = append(parts, e.Text)
	} else {
		parts = append(parts, fmt.Sprintf("%s is not %s", e.Value, e.Want))
	}
	return strings.Join(parts, ": ")
}

// shortened cuts a value for display.
func shortened(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// quoted shows a text as what it is, whatever it holds.
func quoted(s string) string { return strconv.Quote(shortened(s)) }
