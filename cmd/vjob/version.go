package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
)

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Args:  cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if a.Structured() {
				return a.Print(map[string]string{"version": program.Version(), "go": runtime.Version()})
			}
			_, err := fmt.Fprintf(a.Out, "vjob %s (%s)\n", program.Version(), runtime.Version())
			return err
		},
	}
}
