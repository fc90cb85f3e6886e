package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/oar/message"
)

func (a *app) oarCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "oar",
		Short: "for those who come from OAR: its language, with the exit codes of its commands",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.oarParseCommand())
	cmd.AddCommand(a.oarFamily()...)
	return cmd
}

// refused prints an error as OAR's commands do, without a name before it, and has
// them end with its exit code. Other errors are told as everywhere.
func (a *app) refused(err error) error {
	code, ok := message.ExitOf(err)
	if !ok {
		return err
	}
	a.tell(err.Error())
	return &outcome{code: int(code)}
}

// tell prints a text for people beside the output.
func (a *app) tell(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		_, _ = fmt.Fprintln(a.err, clean(line))
	}
}
