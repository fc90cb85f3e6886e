// Package oar has the commands for those who come from OAR: its language, and its programs
// below `vjob oar` or by their own names.
//
// It refuses to know what a request means.
package oar

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/plain"
	"vjob/oar/message"
)

// Command is `vjob oar`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "oar",
		Short: "for those who come from OAR: its language, with the exit codes of its commands",
		Args:  cli.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(oarParseCommand(a))
	cmd.AddCommand(oarFamily(a)...)
	return cmd
}

// refused prints an error as OAR's commands do, without a name before it, and has
// them end with its exit code. Other errors are told as everywhere.
func refused(a *cli.App, err error) error {
	code, ok := message.ExitOf(err)
	if !ok {
		return err
	}
	tell(a, err.Error())
	return &cli.ExitError{Code: int(code)}
}

// tell prints a text for people beside the output.
func tell(a *cli.App, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		_, _ = fmt.Fprintln(a.Err, plain.Clean(line))
	}
}
