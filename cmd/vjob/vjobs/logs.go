package vjobs

import (
	"cmp"
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
		Use:   "logs VJOB...",
		Short: "print what the commands or scripts of vjobs have printed",
		Long: `Prints what the command or script has printed, of all VMs of the vjobs one after the other; each line
begins with its vjob if there are several, and with the number of its VM if there are several. --console also prints what the systems of the
VMs have printed: messages of the boot and the shutdown. Where an image does not tell its output
apart, everything is printed. What a vjob with --error wrote to standard error follows its output.

Control characters are shown as \x1b and the like, since a guest could use them to deceive your
terminal; --raw leaves them as they are. Consoles have no clock: lines have no times.`,
		Example: `  vjob logs 12
  vjob logs -f sim-run          # go on until it has ended
  vjob logs 12 --rank 0 --tail 20
  vjob logs 'sweep[3-7]'        # of these vjobs of an array`,
		Args: cli.Arguments(-1, "vjobs or arrays"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			jobs, err := cli.FetchEach(cmd.Context(), c, args)
			if err != nil {
				return err
			}
			for i := range jobs {
				if o.rank >= len(jobs[i].VMs) {
					return cluster.BadField("--rank", o.rank, fmt.Sprintf("a VM of vjob %d, from 0 to %d", jobs[i].ID, len(jobs[i].VMs)-1))
				}
			}
			list := consolesOf(a, c, jobs, &o)
			if o.follow {
				return followLogs(cmd.Context(), c, list, &o)
			}
			return printLogs(cmd.Context(), list, &o)
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&o.rank, "rank", "r", allRanks, "only this VM of the vjob, from 0")
	flags.IntVar(&o.tail, "tail", 0, "only the last `LINES` of each VM; 0 is everything")
	flags.BoolVarP(&o.follow, "follow", "f", false, "go on until the vjobs have ended")
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

// consoles are those of one vjob that are printed.
type consoles struct {
	job       *wire.VJobDetail
	followers []*follower
	ended     bool // all is printed that there will be
}

// consolesOf returns the consoles of vjobs; each line begins with its vjob if there are several, and with its VM if
// there are several of these.
func consolesOf(a *cli.App, c *client.Client, jobs []wire.VJobDetail, o *logOptions) []*consoles {
	list := make([]*consoles, len(jobs))
	width := 0
	for i := range jobs {
		width = max(width, len(display.Clean(titleOf(&jobs[i]))))
	}
	for i := range jobs {
		job := &jobs[i]
		list[i] = &consoles{job: job}
		ranks := []int{o.rank}
		if o.rank == allRanks {
			ranks = ranks[:0]
			for rank := range job.VMs {
				ranks = append(ranks, rank)
			}
		}
		for _, rank := range ranks {
			out := a.Out
			if !o.raw {
				out = &display.CleanWriter{To: out}
			}
			prefix := ""
			if len(jobs) > 1 {
				prefix = fmt.Sprintf("%-*s: ", width, display.Clean(titleOf(job)))
			}
			if len(ranks) > 1 {
				prefix += fmt.Sprintf("%*d: ", len(fmt.Sprint(len(job.VMs)-1)), rank)
			}
			if prefix != "" {
				out = &display.LineWriter{To: out, Prefix: prefix}
			}
			list[i].followers = append(list[i].followers, &follower{client: c, job: job.ID, rank: rank, out: out})
			if job.Terms.ErrorsApart() {
				list[i].followers = append(list[i].followers, &follower{client: c, job: job.ID, rank: rank, out: out, errors: true})
			}
		}
	}
	return list
}

// titleOf is the name of a vjob, or its number.
func titleOf(j *wire.VJobDetail) string { return cmp.Or(j.Name, fmt.Sprint(j.ID)) }

// printLogs prints the consoles of vjobs. Without any text it returns an error.
func printLogs(ctx context.Context, list []*consoles, o *logOptions) error {
	printed := false
	for _, vjob := range list {
		for _, f := range vjob.followers {
			err := f.copy(ctx, client.LogQuery{Rank: f.rank, Tail: o.tail, Output: !o.console && !f.errors, Errors: f.errors}, f.out)
			if errors.Is(err, cluster.ErrNotFound) {
				continue
			}
			if err := errors.Join(err, flush(f.out)); err != nil {
				return err
			}
			printed = true
		}
	}
	switch {
	case printed:
		return nil
	case len(list) == 1:
		return fmt.Errorf("vjob %d %s and has printed nothing: output %w", list[0].job.ID, display.StateClause(list[0].job.State), cluster.ErrNotFound)
	default:
		return fmt.Errorf("each of %s has printed nothing: output %w", cluster.Count(len(list), "vjob"), cluster.ErrNotFound)
	}
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

// followLogs prints what is new every second until all vjobs have ended.
func followLogs(ctx context.Context, c *client.Client, list []*consoles, o *logOptions) error {
	for first := true; ; first = false {
		left := 0
		for _, vjob := range list {
			if vjob.ended {
				continue
			}
			if err := vjob.follow(ctx, c, o, first); err != nil {
				return err
			}
			if !vjob.ended {
				left++
			}
		}
		if left == 0 || !program.Sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
}

// follow prints what is new on the consoles of a vjob.
func (v *consoles) follow(ctx context.Context, c *client.Client, o *logOptions, first bool) error {
	own := *o
	if first {
		marked, err := marksOutput(ctx, c, v.job.ID)
		if err != nil {
			return err
		}
		own.console = own.console || !marked
	}
	job, err := c.VJob(ctx, v.job.ID)
	if err != nil {
		return err
	}
	v.ended = job.Ended != nil
	for _, f := range v.followers {
		if first {
			err = f.begin(ctx, &own)
		} else {
			err = f.next(ctx)
		}
		if err == nil && v.ended {
			err = f.end()
		}
		if err != nil {
			return err
		}
	}
	return nil
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
