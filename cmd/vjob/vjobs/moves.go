package vjobs

import (
	"fmt"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
)

func movesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "moves VJOB MODE",
		Short: "say whether the VMs of a vjob move to improve the cluster",
		Long: `Says whether balance and consolidation move the VMs of a vjob while it runs:

  automatic   as the cluster says (automation in the settings)
  manual      each move waits for the approval of an administrator
  never       they stay where they are

In any mode VMs leave drained nodes, and a context switch may move them to make room for vjobs that start or
resume. The rule root($VMS) forbids that as well.`,
		Example: `  vjob moves 12 never
  vjob submit --moves manual -- ./run.sh`,
		Args: cli.Arguments(2, "a vjob and a mode"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cluster.Fault("mode", "missing, want automatic, manual or never")
			}
			mode, err := cluster.ParseMoveMode(args[1])
			if err != nil {
				return cluster.Renamed("mode", err)
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			id, err := cli.ResolveVJob(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			job, err := c.SetMoves(cmd.Context(), id, mode)
			if err != nil {
				return err
			}
			if a.JSON() {
				return cli.PrintJSON(a.Out, job, true)
			}
			_, err = fmt.Fprintf(a.Out, "vjob %d: moves of its VMs are %s now\n", id, mode)
			return err
		},
	}
}
