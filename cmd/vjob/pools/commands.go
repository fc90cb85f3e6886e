// Package pools has the commands about pools: what each pool and VM of a file is entitled to.
package pools

import (
	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
)

// Command is `vjob pools`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pools",
		Short: "divide a cluster among pools by reservations, limits and shares",
		Args:  cli.NoArguments,
	}
	cmd.AddCommand(entitleCommand(a))
	return cmd
}
