package vjobs

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func walltimeCommand(a *cli.App) *cobra.Command {
	text := ""
	o := &cli.Orders{Verb: "walltime", Done: "got another walltime", Each: func(ctx context.Context, c *client.Client, id int64) (wire.VJob, error) {
		job, err := c.VJob(ctx, id)
		if err != nil {
			return wire.VJob{}, err
		}
		seconds, err := stretched(text, job.WalltimeSeconds)
		if err != nil {
			return wire.VJob{}, err
		}
		return c.SetWalltime(ctx, id, seconds)
	}, Say: func(j *wire.VJob) string {
		return fmt.Sprintf("vjob %d: its walltime is %s now", j.ID, display.Walltime(j.WalltimeSeconds))
	}}
	cmd := &cobra.Command{
		Use:   "walltime VJOB... TIME",
		Short: "give vjobs another walltime",
		Long: `Gives vjobs another walltime: +TIME more, -TIME less (after --), or TIME in all; "none" is
unlimited. You can shorten it at any time, and lengthen it until the vjob has begun; after
that only an administrator can.`,
		Example: `  vjob walltime 12 +0:30:00
  vjob walltime 12 -- -10m
  vjob walltime sim-run 'sweep[3-7]' 2:00:00
  vjob walltime --state waiting --yes 2:00:00`,
		Args: cli.Arguments(-1, "vjobs and a time"),
		RunE: func(cmd *cobra.Command, args []string) error {
			words, operand, err := o.Operand(cmd, args, "time", "the new walltime, such as 2:00:00, +30m or none")
			if err != nil {
				return err
			}
			if _, err := stretched(operand, maxSeconds); err != nil {
				return err
			}
			text = operand
			return o.Run(cmd, words)
		},
	}
	o.Register(a, cmd)
	return cmd
}

// maxSeconds is a walltime that any other can be taken from.
const maxSeconds = math.MaxInt64 / int64(time.Second)

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
