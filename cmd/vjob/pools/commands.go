// Package pools has the commands about pools: those of the cluster, and what each pool and VM of a file is
// entitled to.
package pools

import (
	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
)

// Command is `vjob pools`.
func Command(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pools",
		Short: "show the pools of the cluster; administrators also change them",
		Long: `Shows the pools as a tree: what is reserved, the limit, the shares, what their VMs demand, what they are
entitled to and what they use, of CPU and of memory.`,
		Example: `  vjob pools
  vjob pools show physics
  vjob pools set physics --cpu-reservation 8 --cpu-shares high`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return list(a, cmd) },
	}
	cmd.AddCommand(showCommand(a), setCommand(a), deleteCommand(a), moveCommand(a), entitleCommand(a))
	return cmd
}
