package vjobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/internal/console"
)

// logOptions are the flags of `vjob logs`.
type logOptions struct {
	rank, tail           int
	console, follow, raw bool
}

// allRanks is the value of --rank that means every VM.
const allRanks = -1

func logsCommand(a *cli.App) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "logs VJOB",
		Short: "print what the command or script of a vjob has printed",
		Long: `Prints what the command or script has printed, of all VMs of the vjob one after the other; each line
begins with the number of its VM if there are several. --console also prints what the systems of the
VMs have printed: messages of the boot and the shutdown. Where an image does not tell its output
apart, everything is printed. What a vjob with --error wrote to standard error follows its output.

Control characters are shown as \x1b and the like, since a guest could use them to deceive your
terminal; --raw leaves them as they are. Consoles have no clock: lines have no times.`,
		Example: `  vjob logs 12
  vjob logs -f sim-run          # go on until it has ended
  vjob logs 12 --rank 0 --tail 20`,
		Args: cli.Arguments(1, "the number or the name of a vjob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			job, err := cli.FetchVJob(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			return printLogs(cmd.Context(), a, c, &job, &o)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&o.rank, "rank", "r", allRanks, "only this VM of the vjob, from 0")
	flags.IntVar(&o.tail, "tail", 0, "only the last `LINES` of each VM; 0 is everything")
	flags.BoolVarP(&o.follow, "follow", "f", false, "go on until the vjob has ended")
	flags.BoolVar(&o.console, "console", false, "everything on the console, also the messages of boot and shutdown")
	flags.BoolVar(&o.raw, "raw", false, "leave control characters as they are")
	return cmd
}

func (o *logOptions) check(cmd *cobra.Command) error {
	if o.rank < 0 && cmd.Flags().Changed("rank") {
		return cluster.BadField("--rank", o.rank, "0 or more")
	}
	if o.tail < 0 {
		return cluster.BadField("--tail", o.tail, "0 for everything, or more")
	}
	return nil
}

// printLogs prints the consoles of a vjob.
func printLogs(ctx context.Context, a *cli.App, c *client.Client, job *wire.VJobDetail, o *logOptions) error {
	ranks := []int{o.rank}
	if o.rank == allRanks {
		ranks = ranks[:0]
		for rank := range job.VMs {
			ranks = append(ranks, rank)
		}
	}
	var followers []*follower
	for _, rank := range ranks {
		out := a.Out
		if !o.raw {
			out = &display.CleanWriter{To: out}
		}
		if len(ranks) > 1 {
			out = &display.LineWriter{To: out, Prefix: fmt.Sprintf("%*d: ", len(fmt.Sprint(len(job.VMs)-1)), rank)}
		}
		followers = append(followers, &follower{client: c, job: job.ID, rank: rank, out: out})
		if job.Terms.ErrorsApart() {
			followers = append(followers, &follower{client: c, job: job.ID, rank: rank, out: out, errors: true})
		}
	}
	if o.follow {
		marked, err := marksOutput(ctx, c, job.ID)
		if err != nil {
			return err
		}
		o.console = o.console || !marked
		return followLogs(ctx, c, followers, o)
	}
	printed := false
	for _, f := range followers {
		err := f.copy(ctx, client.LogQuery{Rank: f.rank, Tail: o.tail, Output: !o.console && !f.errors, Errors: f.errors}, f.out)
		if errors.Is(err, cluster.ErrNotFound) && len(followers) > 1 {
			continue
		}
		if err := errors.Join(err, flush(f.out)); err != nil {
			return err
		}
		printed = true
	}
	if !printed {
		return fmt.Errorf("console of vjob %d: its VMs have printed nothing: %w", job.ID, cluster.ErrNotFound)
	}
	return nil
}

// marksOutput reports whether the VMs of a vjob tell the output of their work from other text: those that boot a disk
// to run a command or a script.
func marksOutput(ctx context.Context, c *client.Client, id int64) (bool, error) {
	s, err := c.Submission(ctx, id, false)
	if err != nil {
		return false, err
	}
	images, err := c.Images(ctx)
	if err != nil {
		return false, err
	}
	vms := s.VMs
	if s.Template != nil {
		vms = []wire.VMSpec{*s.Template}
	}
	return slices.ContainsFunc(vms, func(v wire.VMSpec) bool {
		kernel := slices.ContainsFunc(images.Images, func(i wire.Image) bool { return i.ID == v.Image && i.Kind == "kernel" })
		return !kernel && (len(v.Command) > 0 || v.Script != "")
	}), nil
}

// followLogs prints what is new every second until the vjob has ended.
func followLogs(ctx context.Context, c *client.Client, followers []*follower, o *logOptions) error {
	for first := true; ; first = false {
		job, err := c.VJob(ctx, followers[0].job)
		if err != nil {
			return err
		}
		for _, f := range followers {
			if first {
				err = f.begin(ctx, o)
			} else {
				err = f.next(ctx)
			}
			if err == nil && job.Ended != nil {
				err = f.end()
			}
			if err != nil {
				return err
			}
		}
		if job.Ended != nil || !program.Sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// follower reads the console of one VM. A console only grows, so it goes on after the bytes that it has read.
type follower struct {
	client *client.Client
	job    int64
	rank   int
	out    io.Writer
	errors bool // it reads standard error, which is kept apart

	from   int64
	filter *console.Output // nil: all of the console is printed
	boot   []byte          // the text before the first output
}

// maxBoot bounds the text that is kept in case no output follows, in bytes.
const maxBoot = 64 << 10

// begin prints what there is, or the last lines of it.
func (f *follower) begin(ctx context.Context, o *logOptions) error {
	out := f.out
	if o.tail > 0 {
		last := &display.TailWriter{Lines: o.tail}
		f.out = last
		defer func() { f.out = out }()
		if !o.console && !f.errors {
			f.filter = &console.Output{To: last}
		}
		err := f.next(ctx)
		if f.filter != nil {
			f.filter.To = out
		}
		if err != nil {
			return err
		}
		_, err = out.Write(last.Bytes())
		return err
	}
	if !o.console && !f.errors {
		f.filter = &console.Output{To: out}
	}
	return f.next(ctx)
}

// next prints what is new.
func (f *follower) next(ctx context.Context) error {
	err := f.copy(ctx, client.LogQuery{Rank: f.rank, From: f.from, Errors: f.errors}, f)
	if errors.Is(err, cluster.ErrNotFound) {
		return nil
	}
	return err
}

// Write counts the bytes of the console and prints those that are wanted.
func (f *follower) Write(p []byte) (int, error) {
	f.from += int64(len(p))
	if f.filter == nil {
		return f.out.Write(p)
	}
	if !f.filter.Found() {
		f.boot = append(f.boot, p...)
		f.boot = slices.Delete(f.boot, 0, max(0, len(f.boot)-maxBoot))
	}
	return f.filter.Write(p)
}

// end prints what was kept back. A console without marks is printed as it is.
func (f *follower) end() error {
	var err error
	switch {
	case f.filter == nil:
	case f.filter.Found():
		err = f.filter.Close()
	default:
		_, err = f.out.Write(f.boot)
	}
	return errors.Join(err, flush(f.out))
}

func (f *follower) copy(ctx context.Context, q client.LogQuery, out io.Writer) error {
	in, err := f.client.Logs(ctx, f.job, q)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("logs of vjob %d: %w", f.job, err)
	}
	return nil
}

// flush writes the last line of a writer that holds lines.
func flush(w io.Writer) error {
	if f, ok := w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
