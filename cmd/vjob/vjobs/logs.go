package vjobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func logsCommand(a *cli.App) *cobra.Command {
	var rank, tail int
	var follow, raw bool
	cmd := &cobra.Command{
		Use:   "logs VJOB",
		Short: "print what a VM of a vjob has printed on its console",
		Long: `Prints the console of one VM since its first boot. Control characters are shown as \x1b and
the like, since a guest could use them to deceive your terminal; --raw leaves them as they are.`,
		Args: cli.Arguments(1, "the number or the name of a vjob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rank < 0 {
				return cluster.BadField("--rank", rank, "0 or more")
			}
			if tail < 0 {
				return cluster.BadField("--tail", tail, "0 for everything, or more")
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			id, err := cli.ResolveVJob(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			out := a.Out
			if !raw {
				out = &display.CleanWriter{To: a.Out}
			}
			if follow {
				return followLogs(cmd.Context(), c, id, rank, tail, out)
			}
			return copyLogs(cmd.Context(), c, id, rank, tail, out)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&rank, "rank", "r", 0, "which VM of the vjob, from 0")
	flags.IntVar(&tail, "tail", 0, "only the last `LINES`; 0 is everything")
	flags.BoolVarP(&follow, "follow", "f", false, "go on until the vjob has ended")
	flags.BoolVar(&raw, "raw", false, "leave control characters as they are")
	return cmd
}

func copyLogs(ctx context.Context, c *client.Client, id int64, rank, tail int, out io.Writer) error {
	in, err := c.Logs(ctx, id, rank, tail)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("logs of vjob %d: %w", id, err)
	}
	return nil
}

// followLogs prints what is new every second. A console only grows, so what was
// printed before is skipped by its length.
func followLogs(ctx context.Context, c *client.Client, id int64, rank, tail int, out io.Writer) error {
	var seen int64
	if tail > 0 {
		if err := copyLogs(ctx, c, id, rank, tail, out); err != nil && !errors.Is(err, cluster.ErrNotFound) {
			return err
		}
		skip := &skipper{to: io.Discard}
		if err := copyLogs(ctx, c, id, rank, 0, skip); err != nil && !errors.Is(err, cluster.ErrNotFound) {
			return err
		}
		seen = skip.seen
	}
	for {
		job, err := c.VJob(ctx, id)
		if err != nil {
			return err
		}
		ended := job.Ended != nil
		skip := &skipper{to: out, skip: seen}
		if err := copyLogs(ctx, c, id, rank, 0, skip); err != nil && !errors.Is(err, cluster.ErrNotFound) {
			return err
		}
		seen = max(seen, skip.seen)
		if ended || !program.Sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// skipper passes on all but the first bytes.
type skipper struct {
	to         io.Writer
	skip, seen int64
}

// Write counts everything and passes on what comes after the skipped part.
func (s *skipper) Write(p []byte) (int, error) {
	n := len(p)
	if left := s.skip - s.seen; left > 0 {
		p = p[min(left, int64(len(p))):]
	}
	s.seen += int64(n)
	if _, err := s.to.Write(p); err != nil {
		return 0, err
	}
	return n, nil
}
