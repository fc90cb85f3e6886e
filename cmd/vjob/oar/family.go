package oar

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"vjob/cmd/program"
	"vjob/cmd/vjob-oar/command"
	"vjob/cmd/vjob/cli"
)

// Called is the command of OAR's by whose name the program was called: oarsub is
// sub. Links of these names to vjob make it answer as them.
func Called(called string) (name string, ok bool) {
	name, ok = strings.CutPrefix(filepath.Base(called), "oar")
	if ok {
		_, ok = command.Summary(name)
	}
	return name, ok
}

// Run carries out one of OAR's commands and returns its exit code.
func Run(ctx context.Context, a *cli.App, name string, line []string) int {
	return command.Run(ctx, name, line, command.World{
		Out: a.Out, Err: a.Err, Getenv: a.Getenv, Now: a.Now, Version: program.Version(), Client: a.Client, Pause: program.Sleep,
		Attach: a.Terminal().Work, Size: a.Terminal().Size, Interrupted: context.WithCancel, // of a context that vjob ends
	})
}

// oarFamily are OAR's commands below `vjob oar`.
func oarFamily(a *cli.App) (list []*cobra.Command) {
	for _, name := range command.Names() {
		summary, _ := command.Summary(name)
		list = append(list, &cobra.Command{
			Use:                name,
			Short:              "as oar" + name + ": " + summary,
			DisableFlagParsing: true, // OAR's commands read their lines in their own way
			RunE: func(cmd *cobra.Command, line []string) error {
				if code := Run(cmd.Context(), a, name, line); code != cli.ExitOK {
					return &cli.ExitError{Code: code}
				}
				return nil
			},
		})
	}
	return list
}
