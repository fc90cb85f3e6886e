package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/repack/format"
)

// The exit codes; `vjob help` lists them.
const (
	ExitOK         = 0
	ExitInternal   = 1
	ExitInput      = 2
	ExitNotFound   = 3
	ExitConflict   = 4
	ExitNotAllowed = 5
	ExitTimeout    = 6
	ExitPartial    = 7
)

// ExitError is an exit code of a command's own; the text goes to the standard error,
// unless it is empty.
type ExitError struct {
	Code int
	Text string
}

// Error is the text.
func (o *ExitError) Error() string { return o.Text }

// ErrTimeout is returned when --wait reaches its timeout.
var ErrTimeout = errors.New("the timeout")

// UsageError is an invalid flag or argument.
type UsageError struct {
	Cmd *cobra.Command
	Err error
}

// Error returns the fault and the command for help.
func (e *UsageError) Error() string {
	return fmt.Sprintf("%v; see %s --help", e.Err, e.Cmd.CommandPath())
}

// Is makes it bad input.
func (e *UsageError) Is(target error) bool { return target == cluster.ErrInvalid }

// Unwrap returns the fault.
func (e *UsageError) Unwrap() error { return e.Err }

// PartialError is an order to several vjobs that some of them follow, and others do not.
type PartialError struct{ errs []error }

// Error has a line for each vjob that does not follow.
func (e *PartialError) Error() string { return errors.Join(e.errs...).Error() }

// Unwrap returns the errors.
func (e *PartialError) Unwrap() []error { return e.errs }

// ExitCode maps errors to exit codes.
func ExitCode(err error) int {
	var own *ExitError
	var file *format.Error
	var partial *PartialError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &own):
		return own.Code
	case errors.As(err, &partial):
		return ExitPartial
	case errors.As(err, &file):
		return ExitInput
	case errors.Is(err, ErrTimeout):
		return ExitTimeout
	case errors.Is(err, cluster.ErrInvalid):
		return ExitInput
	case errors.Is(err, cluster.ErrNotFound):
		return ExitNotFound
	case errors.Is(err, cluster.ErrConflict), errors.Is(err, cluster.ErrChanged):
		return ExitConflict
	case errors.Is(err, cluster.ErrForbidden), errors.Is(err, cluster.ErrUnauthenticated):
		return ExitNotAllowed
	case strings.HasPrefix(err.Error(), "unknown command"): // cobra has no type for it
		return ExitInput
	default:
		return ExitInternal
	}
}

// Complain writes an error to the standard error.
func (a *App) Complain(err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	var own *ExitError
	if errors.As(err, &own) && own.Text == "" {
		return // the output already has the error
	}
	for line := range strings.SplitSeq(strings.TrimSpace(err.Error()), "\n") {
		_, _ = fmt.Fprintf(a.Err, "vjob: %s\n", display.Clean(line))
	}
}

// Arguments checks that there is one argument at least; most -1 is any number.
func Arguments(most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || most >= 0 && len(args) > most {
			return &UsageError{Cmd: cmd, Err: fmt.Errorf("%d arguments given: want %s", len(args), what)}
		}
		return nil
	}
}

// elsewhere has what is meant by commands of other programs, or by words that could mean several commands.
var elsewhere = map[string]string{
	"stop": "delete, which ends vjobs, or suspend, which keeps their state", "start": "submit, release or resume", "restart": "requeue or resubmit",
	"squeue": "list", "sbatch": "submit", "srun": "submit --wait", "scancel": "delete", "sinfo": "nodes", "sacct": "list --ended, or report", "sreport": "report",
	"scontrol": "show, hold, release or nodes", "sprio": "list --priority", "sshare": "shares", "sdiag": "admin doctor", "sattach": "logs -f", "sacctmgr": "accounts, quotas or shares",
	"salloc": "submit, then console", "sstat": "show", "strigger": "submit --notify, or alarms",
	"oarsub": "vjob-oar oarsub, or submit", "oarstat": "vjob-oar oarstat, or list", "oardel": "vjob-oar oardel, or delete",
	"reload": "admin reload", "doctor": "admin doctor", "backup": "admin backup", "config": "admin reload --check", "settings": "admin reload --check",
	"history": "list --ended", "stats": "report", "usage": "report, or quotas", "ssh": "console", "exec": "console", "cat": "logs", "tail": "logs -f",
	"drain": "nodes drain", "migrate": "nodes drain, or balance", "users": "accounts", "login": "token create", "queue": "queues",
}

// NoArguments refuses arguments; on a command with subcommands, an argument is
// one that does not exist.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasAvailableSubCommands() {
		return &UsageError{Cmd: cmd, Err: fmt.Errorf("argument %q: want none", args[0])}
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if hint := elsewhere[args[0]]; hint != "" && !cmd.HasParent() {
		return &UsageError{Cmd: cmd, Err: fmt.Errorf("%s: want %s", text, hint)}
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += ": want probably " + near[0]
	}
	return &UsageError{Cmd: cmd, Err: errors.New(text)}
}

// ExitInvalid is the exit code of a check that found an invalid plan.
const ExitInvalid = 1

// ExitNoPlan is the exit code of a search that found nothing.
const ExitNoPlan = 3
