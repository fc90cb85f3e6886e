package vjobs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
)

// listFlags are the flags of `vjob list` beside those of every list.
type listFlags struct {
	filter                            cli.Filter
	all, ended, estimate, ranked, new bool
	array, since, until               string
	limit                             int
	outcomes                          []string
}

const listHelp = `Lists the vjobs that have not ended and that you may see, in order of submission; each array is one line.

Conditions add up: all of them must hold. --state, --outcome, --ended, --since, --until and --array also find vjobs that have ended. The
times are those of the submission, with --ended those of the end: a date and a time, "today 08:00", or a time ago such
as 2h or 3d.

Vjobs and arrays that are named are listed one by one, whether they have ended or not.`

func listCommand(a *cli.App) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:     "list [VJOB...]",
		Aliases: []string{"ls"},
		Short:   "list vjobs, with their state and why",
		Long:    listHelp,
		Example: `  vjob list --state waiting --sort -cpu
  vjob list --ended --since 1d --columns id,name,outcome,ran,ended
  vjob list --label campaign=7 --node n3 -o wide
  vjob list sim-run sweep
  vjob list --watch
  vjob list -o template='{{range .vjobs}}{{.id}} {{.state}}{{"\n"}}{{end}}'`,
	}
	var l *cli.Listing[wire.VJob]
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return list(a, cmd, &f, l, args) }
	l = cli.List(a, cmd, columns)
	f.register(cmd.Flags())
	return cmd
}

func (f *listFlags) register(flags *pflag.FlagSet) {
	f.filter.Register(flags, "only")
	flags.BoolVarP(&f.all, "all", "a", false, "also those that have ended")
	flags.BoolVar(&f.ended, "ended", false, "only those that have ended")
	cli.WordsVar(flags, &f.outcomes, "outcome", nil, "only those that ended in one of these `WAYS`: completed, overdue, deleted, …")
	flags.StringVar(&f.since, "since", "", "only those submitted, or with --ended ended, at this `TIME` or later")
	flags.StringVar(&f.until, "until", "", "only those submitted, or with --ended ended, before this `TIME`")
	flags.BoolVar(&f.estimate, "estimate", false, "also when those that wait will start, if all use up their walltimes, and what has to end before")
	flags.BoolVar(&f.ranked, "priority", false, "those that have not ended, in the order in which they are looked at, and why that is")
	flags.StringVar(&f.array, "array", "", "the vjobs of this `ARRAY` one by one, also those that have ended, such as sweep or 1046[2,5-9]")
	flags.BoolVar(&f.new, "newest", false, "latest submission first")
	flags.IntVarP(&f.limit, "limit", "n", 0, "at most so `MANY`")
}

// query returns what the daemon is asked for.
func (f *listFlags) query(now time.Time) (q client.VJobQuery, err error) {
	if f.limit < 0 {
		return q, cluster.BadField("--limit", f.limit, "0 or more")
	}
	if q, err = f.filter.Query(); err != nil {
		return q, err
	}
	since, err := cli.ParsePast("--since", f.since, now)
	if err != nil {
		return q, err
	}
	until, err := cli.ParsePast("--until", f.until, now)
	if err != nil {
		return q, err
	}
	if !since.IsZero() && !until.IsZero() && !since.Before(until) {
		return q, cluster.BadField("--until", f.until, "after --since")
	}
	if f.ended {
		q.Ended, q.EndedSince, q.EndedUntil = true, since, until
	} else {
		q.SubmittedSince, q.SubmittedUntil = since, until
	}
	for _, text := range f.outcomes {
		if _, err := cluster.ParseOutcome(text); err != nil {
			return q, cluster.Renamed("--outcome", err)
		}
	}
	q.Outcomes = f.outcomes
	past := f.all || f.ended || len(f.outcomes) > 0 || f.since != "" || f.until != "" || len(q.States) > 0 || f.array != ""
	q.Live, q.Newest, q.Limit = !past, f.new, f.limit
	q.Fold = f.array == "" && q.Name == "" && !f.ranked
	return q, nil
}

// fetch returns the vjobs that words name, or otherwise those of the flags.
func (f *listFlags) fetch(cmd *cobra.Command, c *client.Client, q client.VJobQuery, words []string) (wire.VJobList, error) {
	if len(words) == 0 {
		return cli.FetchVJobs(cmd.Context(), c, q)
	}
	if flag := f.filter.Given(cmd.Flags()); flag != "" {
		return wire.VJobList{}, cluster.Fault(flag, "given beside vjobs, want one of them")
	}
	jobs, err := cli.FetchEach(cmd.Context(), c, words)
	list := wire.VJobList{Total: len(jobs)}
	for i := range jobs {
		list.VJobs = append(list.VJobs, jobs[i].VJob)
	}
	return list, err
}

func list(a *cli.App, cmd *cobra.Command, f *listFlags, l *cli.Listing[wire.VJob], words []string) error {
	q, err := f.query(a.Now())
	if err != nil {
		return err
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	if f.array != "" {
		if q.Array, q.Indexes, err = cli.ResolveArray(cmd.Context(), c, f.array); err != nil {
			return err
		}
	}
	if !a.Structured() && !l.Sorted() && !f.ranked && !f.estimate && len(words) == 0 {
		return table(a, cmd, c, q, l)
	}
	if l.Sorted() || f.ranked {
		q.Limit = 0
	}
	list, err := f.fetch(cmd, c, q, words)
	if err != nil {
		return err
	}
	if f.estimate {
		s, err := c.Forecast(cmd.Context())
		if err != nil {
			return err
		}
		estimated(list.VJobs, &s)
		l.Usual(estimateColumns...)
	}
	if f.ranked {
		list.VJobs = byRank(list.VJobs)
		l.Usual(rankColumns...)
	}
	if l.Cells() {
		for i := range list.VJobs {
			fold(&list.VJobs[i])
		}
	}
	l.Sort(list.VJobs)
	if f.limit > 0 {
		list.VJobs = list.VJobs[:min(f.limit, len(list.VJobs))]
	}
	if err := l.Show(list, list.VJobs); err != nil {
		return err
	}
	none(a, q, len(list.VJobs) > 0 || len(words) > 0)
	return nil
}

// table prints the table of a query, with the rows in the order of the daemon: of each only the texts are kept.
func table(a *cli.App, cmd *cobra.Command, c *client.Client, q client.VJobQuery, l *cli.Listing[wire.VJob]) error {
	rows := l.Gather()
	q.Fields = folding + "," + rows.Fields()
	stream, err := c.StreamVJobs(cmd.Context(), q)
	if err != nil {
		return err
	}
	defer stream.Close()
	for job, err := range stream.All() {
		if err != nil {
			return err
		}
		fold(&job)
		rows.Add(&job)
	}
	if err := rows.Print(); err != nil {
		return err
	}
	none(a, q, rows.Rows() > 0)
	return nil
}

// fold makes one line of an array.
func fold(job *wire.VJob) {
	if job.Members != nil {
		*job = Folded(job)
	}
}

// none says to people where others may be, if nothing was found among the live vjobs.
func none(a *cli.App, q client.VJobQuery, found bool) {
	if q.Live && !found && !a.Structured() {
		_, _ = fmt.Fprintln(a.Err, "vjob: no such vjob is live; -a lists those that have ended, too")
	}
}

// estimated tells of those that wait when they start, and what they wait for.
func estimated(jobs []wire.VJob, s *wire.Schedule) {
	slots := make(map[int64]*wire.Slot, len(s.VJobs))
	for i := range s.VJobs {
		slots[s.VJobs[i].ID] = &s.VJobs[i]
	}
	for i := range jobs {
		if slot := slots[jobs[i].ID]; slot != nil && !slot.Runs {
			jobs[i].EstimatedStart, jobs[i].Reason = slot.Start, slot.Why
		}
	}
}

// byRank keeps the vjobs that have a rank, in the order in which they are looked at.
func byRank(jobs []wire.VJob) []wire.VJob {
	jobs = slices.DeleteFunc(jobs, func(j wire.VJob) bool { return j.Rank == nil })
	slices.SortFunc(jobs, func(a, b wire.VJob) int {
		return cmp.Or(cmp.Compare(b.Rank.Points, a.Rank.Points), a.Submitted.Compare(b.Submitted), cmp.Compare(a.ID, b.ID))
	})
	return jobs
}
