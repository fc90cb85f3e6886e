package vjobs

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func walltimeCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "walltime VJOB TIME",
		Short: "give a vjob another walltime",
		Long: `Gives a vjob another walltime: +TIME more, -TIME less (after --), or TIME in all; "none" is
unlimited. You can shorten it at any time, and lengthen it until the vjob has begun; after
that only an administrator can.`,
		Example: `  vjob walltime 12 +0:30:00
  vjob walltime 12 -- -10m
  vjob walltime sim-run 2:00:00`,
		Args: cli.Arguments(2, "a vjob and a time"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cluster.Fault("time", "missing, want the new walltime, such as 2:00:00, +30m or none")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			job, err := cli.FetchVJob(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			seconds, err := stretched(args[1], job.WalltimeSeconds)
			if err != nil {
				return err
			}
			changed, err := c.SetWalltime(cmd.Context(), job.ID, seconds)
			if err != nil {
				return err
			}
			if a.JSON() {
				return cli.PrintJSON(a.Out, changed, true)
			}
			_, err = fmt.Fprintf(a.Out, "vjob %d: its walltime is %s now\n", job.ID, display.Walltime(changed.WalltimeSeconds))
			return err
		},
	}
	return cmd
}

// stretched is the walltime that is wanted in place of one, in seconds.
func stretched(text string, before int64) (int64, error) {
	if text == "none" {
		return 0, nil
	}
	rest, sign := strings.TrimPrefix(text, "+"), int64(1)
	if after, less := strings.CutPrefix(text, "-"); less {
		rest, sign = after, -1
	}
	d, err := cli.ParseWalltime("time", rest)
	switch {
	case err != nil:
		return 0, err
	case rest == text:
		return int64(d / time.Second), nil
	case before == 0:
		return 0, cluster.Fault("time", "the vjob has no walltime that %q could change; give the whole walltime", text)
	}
	seconds := before + sign*int64(d/time.Second)
	if seconds < 1 {
		return 0, cluster.BadField("time", text, "less than its walltime, which is "+display.Walltime(before))
	}
	return seconds, nil
}
