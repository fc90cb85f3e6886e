package oar

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
	OAR      string
	Position Position
	Text     string // what is wrong, and what would be right
}

// What OAR says when the resources cannot be had; the beginning of what it says when they
// cannot be read; and what it says after either.
const (
	NotEnoughResources = "# There are not enough resources for your request"
	BadRequest         = "# Bad resource request"
	verifyLine         = "# Error: please verify your job submission syntax."
)

// Error is OAR's line or lines, then the place and what is wrong, then the excerpt.
func (e *Error) Error() string {
	told := positioned(e.Position, e.Text)
	switch {
	case e.OAR == "":
		return told
	case e.OAR == NotEnoughResources, strings.HasPrefix(e.OAR, BadRequest):
		return PrintableLine(e.OAR) + "\n" + verifyLine + "\n" + told
	}
	return PrintableLine(e.OAR) + "\n" + told
}

// Is makes it bad input.
func (e *Error) Is(target error) bool { return target == cluster.ErrInvalid }

// Warning is what looks like a slip and is taken all the same.
type Warning struct {
	Position Position
	Text     string
}

// String is the warning like an error, and says that it is none.
func (w Warning) String() string { return positioned(w.Position, "warning: "+w.Text) }

func positioned(p Position, text string) string {
	text = PrintableLine(text)
	if p == (Position{}) {
		return text
	}
	return fmt.Sprintf("%s:%d:%d: %s\n%s", p.Source, p.Line, p.Column, text, p.Excerpt)
}

// PrintableLine is a line of a message, made harmless and cut when it is long: what was typed
// stands in it.
func PrintableLine(text string) string {
	const most = 400
	text = strings.TrimRight(Printable(text), " ")
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

// Exit is an exit code of OAR's commands.
type Exit int

// The exit codes of oarsub.
const (
	ExitOption      Exit = 1   // an option, or a value of one, that there is not
	ExitUsage       Exit = 5   // no command, or more than one
	ExitArray       Exit = 6   // an array without sub-jobs
	ExitReservation Exit = 7   // a date that cannot be read
	ExitResources   Exit = 8   // properties that cannot be read, or more than there is
	ExitRefused     Exit = 10  // a reservation that cannot be had
	ExitScript      Exit = 12  // a script or parameter file that cannot be read
	ExitRequest     Exit = 18  // a resource description that cannot be read
	ExitQueue       Exit = 248 // no such queue
	ExitAdmission   Exit = 254 // an admission rule says no
)
