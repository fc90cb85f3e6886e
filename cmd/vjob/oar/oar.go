// Package oar is `vjob oar`: it explains what a request of oarsub means here. OAR's own
// commands are links to vjob-oar.
package oar

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/oar"
)

// Command is `vjob oar`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "oar",
		Short: "explain requests of oarsub; OAR's commands themselves are links to vjob-oar",
		Args:  cli.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(parseCommand(a))
	return cmd
}

// oarError prints an error as OAR's commands do, without a prefix, and returns its exit code. Other
// errors are returned as they are.
func oarError(a *cli.App, err error) error {
	code, ok := oar.ExitOf(err)
	if !ok {
		return err
	}
	printError(a, err.Error())
	return &cli.ExitError{Code: int(code)}
}

// printError prints a text on standard error.
func printError(a *cli.App, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		_, _ = fmt.Fprintln(a.Err, display.Clean(line))
	}
}
