package vjobs

import (
	"time"

	"github.com/spf13/cobra"

	"vjob/cmd/vjob/cli"
)

func waitCommand(a *cli.App) *cobra.Command {
	var start bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "wait VJOB",
		Short: "wait until a vjob has ended; the exit code is the exit status of its work",
		Example: `  vjob wait sim-run && vjob logs sim-run
  vjob wait --start --timeout 10m 12`,
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
			until := waitEnd
			if start {
				until = waitStart
			}
			return awaitVJob(cmd.Context(), a, c, id, until, timeout)
		},
	}
	cmd.Flags().BoolVar(&start, "start", false, "only until it has started")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "the longest to wait, such as 10m")
	return cmd
}
