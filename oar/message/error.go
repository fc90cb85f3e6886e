package message

import (
	"errors"
	"fmt"
	"strings"

	"vjob/cluster"
)

// Error is why something that was typed is not taken. It matches
// [cluster.ErrInvalid].
type Error struct {
	Exit Exit
	// OAR is the line that OAR prints in this case; "" when it has none.
	OAR   string
	Place Place
	Text  string // what is wrong, and what would be right
}

// What OAR says when the resources cannot be had; the beginning of what it says when they
// cannot be read; and what it says after either.
const (
	NotEnough = "# There are not enough resources for your request"
	Bad       = "# Bad resource request"
	verify    = "# Error: please verify your job submission syntax."
)

// Error is OAR's line or lines, then the place and what is wrong, then the excerpt.
func (e *Error) Error() string {
	told := told(e.Place, e.Text)
	switch {
	case e.OAR == "":
		return told
	case e.OAR == NotEnough, strings.HasPrefix(e.OAR, Bad):
		return Line(e.OAR) + "\n" + verify + "\n" + told
	}
	return Line(e.OAR) + "\n" + told
}

// Is makes it bad input.
func (e *Error) Is(target error) bool { return target == cluster.ErrInvalid }

// Warning is what looks like a slip and is taken all the same.
type Warning struct {
	Place Place
	Text  string
}

// String is the warning like an error, and says that it is none.
func (w Warning) String() string { return told(w.Place, "warning: "+w.Text) }

func told(p Place, text string) string {
	text = Line(text)
	if p == (Place{}) {
		return text
	}
	return fmt.Sprintf("%s:%d:%d: %s\n%s", p.Source, p.Line, p.Column, text, p.Excerpt)
}

// Line is a line of a message, made harmless and cut when it is long: what was typed
// stands in it.
func Line(text string) string {
	const most = 400
	text = strings.TrimRight(Harmless(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// ExitOf is the exit code of an error; ok is false for one that has none.
func ExitOf(err error) (code Exit, ok bool) {
	if e, found := errors.AsType[*Error](err); found {
		return e.Exit, true
	}
	return 0, false
}
