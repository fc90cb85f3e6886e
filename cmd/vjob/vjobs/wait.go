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
		Use:   "wait VJOB...",
		Short: "wait until vjobs have ended; the exit code is the largest exit status of their work",
		Example: `  vjob wait sim-run && vjob logs sim-run
  vjob wait 12 sweep 'grid[3-7]'     # an array, some vjobs of another one
  vjob wait --start --timeout 10m 12`,
		Args: cli.Arguments(-1, "vjobs or arrays"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := cli.Resolve(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			w := wait{a: a, client: c, until: waitEnd, timeout: timeout}
			if start {
				w.until = waitStart
			}
			return w.all(cmd.Context(), list)
		},
	}
	cmd.Flags().BoolVar(&start, "start", false, "only until they have started")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "the longest to wait, such as 10m")
	return cmd
}
