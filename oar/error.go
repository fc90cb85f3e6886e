package oar

import (
	"errors"
	"fmt"
	"strings"

	"vjob/cluster"
)

// Error is a fault in the input of a user. It matches [cluster.ErrInvalid].
type Error struct {
	Exit Exit
	// OAR is the line that OAR prints in this case, or "".
	OAR      string
	Position Position
	Text     string // the fault and the fix
}

// What OAR prints if there are too few resources, how its line for a bad request begins, and the
// line that it prints after either.
const (
	NotEnoughResources = "# There are not enough resources for your request"
	BadRequest         = "# Bad resource request"
	verifyLine         = "# Error: please verify your job submission syntax."
)

// Error returns OAR's lines, then the position with the text, then the excerpt.
func (e *Error) Error() string {
	text := positioned(e.Position, e.Text)
	switch {
	case e.OAR == "":
		return text
	case e.OAR == NotEnoughResources, strings.HasPrefix(e.OAR, BadRequest):
		return PrintableLine(e.OAR) + "\n" + verifyLine + "\n" + text
	}
	return PrintableLine(e.OAR) + "\n" + text
}

// Is reports that the error is invalid input.
func (e *Error) Is(target error) bool { return target == cluster.ErrInvalid }

// Warning is about input that is accepted but looks like a mistake.
type Warning struct {
	Position Position
	Text     string
}

// String formats the warning like an error, marked as a warning.
func (w Warning) String() string { return positioned(w.Position, "warning: "+w.Text) }

func positioned(p Position, text string) string {
	text = PrintableLine(text)
	if p == (Position{}) {
		return text
	}
	return fmt.Sprintf("%s:%d:%d: %s\n%s", p.Source, p.Line, p.Column, text, p.Excerpt)
}

// PrintableLine returns a line of a message with control characters replaced, cut after 400
// characters, since the line may quote input.
func PrintableLine(text string) string {
	return cluster.Shortened(strings.TrimRight(Printable(text), " "), 400)
}

// ExitOf returns the exit code of an error. ok is false if the error has no exit code.
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
	ExitOption      Exit = 1   // an unknown option, or a bad value
	ExitUsage       Exit = 5   // no command, or more than one
	ExitArray       Exit = 6   // an array without sub-jobs
	ExitReservation Exit = 7   // an unreadable date
	ExitResources   Exit = 8   // unreadable properties, or too few resources
	ExitRefused     Exit = 10  // a reservation that is refused
	ExitScript      Exit = 12  // an unreadable script or parameter file
	ExitRequest     Exit = 18  // an unreadable resource request
	ExitQueue       Exit = 248 // an unknown queue
	ExitAdmission   Exit = 254 // refused by a rule of admission
)
