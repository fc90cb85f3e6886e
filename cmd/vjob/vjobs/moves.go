package vjobs

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
)

func movesCommand(a *cli.App) *cobra.Command {
	var mode cluster.MoveMode
	o := &cli.Orders{Verb: "moves", Done: "got another mode of moves", Each: func(ctx context.Context, c *client.Client, id int64) (wire.VJob, error) {
		return c.SetMoves(ctx, id, mode)
	}, Say: func(j *wire.VJob) string { return fmt.Sprintf("vjob %d: moves of its VMs are %s now", j.ID, mode) }}
	cmd := &cobra.Command{
		Use:   "moves VJOB... MODE",
		Short: "say whether the VMs of vjobs move to improve the cluster",
		Long: `Says whether balance and consolidation move the VMs of a vjob while it runs:

  automatic   as the cluster says (automation in the settings)
  manual      each move waits for the approval of an administrator
  never       they stay where they are

In any mode VMs leave drained nodes, and a context switch may move them to make room for vjobs that start or
resume. The rule root($VMS) forbids that as well.`,
		Example: `  vjob moves 12 never
  vjob submit --moves manual -- ./run.sh`,
		Args: cli.Arguments(-1, "vjobs and a mode"),
		RunE: func(cmd *cobra.Command, args []string) error {
			words, operand, err := o.Operand(cmd, args, "mode", "automatic, manual or never")
			if err != nil {
				return err
			}
			if mode, err = cluster.ParseMoveMode(operand); err != nil {
				return cluster.Renamed("mode", err)
			}
			return o.Run(cmd, words)
		},
	}
	o.Register(a, cmd)
	return cmd
}
