package admin

import (
	"fmt"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// setPower is a command that switches one node.
func setPower(a *cli.App, power, short, done string) *cobra.Command {
	return &cobra.Command{
		Use:   power + " NODE",
		Short: short,
		Args:  cli.Arguments(1, "the name of a node"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			change := wire.PowerChange{Power: power}
			if err := c.SetPower(cmd.Context(), args[0], change); err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(change)
			}
			_, err = fmt.Fprintf(a.Out, "node %s "+done+"\n", display.Clean(args[0]))
			return err
		},
	}
}
