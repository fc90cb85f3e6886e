package vjobs

import (
	"errors"

	"github.com/spf13/cobra"

	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
)

func consoleCommand(a *cli.App) *cobra.Command {
	var rank int
	cmd := &cobra.Command{
		Use:   "console VJOB",
		Short: "type in a VM of a vjob of yours that runs",
		Long: `Connects the terminal with the second serial line of a VM (/dev/ttyS1 of its guest), bytes
both ways. Ctrl-] leaves, and the VM goes on. Something must listen there: a getty of the
image, or the shell of oarsub -I.`,
		Args: cli.Arguments(1, "the number or the name of a vjob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			id, err := cli.ResolveVJob(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if err := a.Terminal().Attach(cmd.Context(), c, id, rank); !errors.Is(err, program.ErrLeft) {
				return err
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&rank, "rank", "r", 0, "which VM of the vjob, from 0")
	return cmd
}
