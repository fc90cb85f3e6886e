package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"vjob/cmd/program"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			if a.json() {
				return printJSON(a.out, map[string]string{"version": program.Version(), "go": runtime.Version()}, true)
			}
			_, err := fmt.Fprintf(a.out, "vjob %s (%s)\n", program.Version(), runtime.Version())
			return err
		},
	}
}
