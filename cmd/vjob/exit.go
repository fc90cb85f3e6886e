package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/repack/format"
)

// The exit codes; `vjob help` lists them.
const (
	exitOK         = 0
	exitInternal   = 1
	exitInput      = 2
	exitNotFound   = 3
	exitConflict   = 4
	exitNotAllowed = 5
	exitTimeout    = 6
)

// outcome is an exit code of a command's own; the text goes to the standard error,
// unless it is empty.
type outcome struct {
	code int
	text string
}

// Error is the text.
func (o *outcome) Error() string { return o.text }

// errTimeout: what --wait waited for did not happen in time.
var errTimeout = errors.New("waited long enough")

// usageError is a wrong flag or argument.
type usageError struct {
	cmd *cobra.Command
	err error
}

// Error says what is wrong and where help is.
func (e *usageError) Error() string {
	return fmt.Sprintf("%v; see %s --help", e.err, e.cmd.CommandPath())
}

// Is makes it bad input.
func (e *usageError) Is(target error) bool { return target == cluster.ErrInvalid }

// Unwrap is what is wrong.
func (e *usageError) Unwrap() error { return e.err }

// exitCode is the one table from errors to exit codes.
func exitCode(err error) int {
	var own *outcome
	var file *format.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &file):
		return exitInput
	case errors.Is(err, errTimeout):
		return exitTimeout
	case errors.Is(err, cluster.ErrInvalid):
		return exitInput
	case errors.Is(err, cluster.ErrNotFound):
		return exitNotFound
	case errors.Is(err, cluster.ErrConflict):
		return exitConflict
	case errors.Is(err, cluster.ErrForbidden), errors.Is(err, cluster.ErrUnauthenticated):
		return exitNotAllowed
	case strings.HasPrefix(err.Error(), "unknown command"): // cobra has no type for it
		return exitInput
	default:
		return exitInternal
	}
}

// complain writes an error to the standard error.
func (a *app) complain(err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	var own *outcome
	if errors.As(err, &own) && own.text == "" {
		return // what was printed says it
	}
	for line := range strings.SplitSeq(strings.TrimSpace(err.Error()), "\n") {
		_, _ = fmt.Fprintf(a.err, "vjob: %s\n", clean(line))
	}
}

// arguments checks that there is one argument at least; most -1 is any number.
func arguments(most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || most >= 0 && len(args) > most {
			return &usageError{cmd: cmd, err: fmt.Errorf("%d arguments given: want %s", len(args), what)}
		}
		return nil
	}
}

// noArguments refuses arguments; on a command with subcommands, an argument is
// one that does not exist.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return &usageError{cmd: cmd, err: fmt.Errorf("argument %q: want none", args[0])}
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += ": want probably " + near[0]
	}
	return &usageError{cmd: cmd, err: errors.New(text)}
}
