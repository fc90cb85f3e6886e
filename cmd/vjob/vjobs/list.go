package vjobs

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func listCommand(a *cli.App) *cobra.Command {
	var all, estimate, ranked bool
	var array string
	var q client.VJobQuery
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "list vjobs, with their state and why",
		Long:    "Lists the vjobs that have not ended and that you may see, in order of submission.",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range q.States {
				if _, err := cluster.ParseState(s); err != nil {
					return cluster.Renamed("--state", err)
				}
			}
			q.Live = !all && len(q.States) == 0 && array == ""
			q.Fold = array == "" && q.Name == ""
			q.Fold = q.Fold && !ranked
			return list(a, cmd, q, array, estimate, listing(estimate, ranked))
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&all, "all", "a", false, "also those that have ended")
	flags.BoolVar(&estimate, "estimate", false, "also when those that wait will start, if all use up their walltimes, and what has to end before")
	flags.BoolVar(&ranked, "priority", false, "those that have not ended, in the order in which they are looked at, and why that is")
	flags.StringSliceVar(&q.States, "state", nil, "only those in these `STATES`: waiting,running,…")
	flags.StringVarP(&q.Owner, "user", "u", "", "only those of this `OWNER` (administrators)")
	flags.StringVar(&q.Name, "name", "", "only those of this `NAME`")
	flags.StringVar(&array, "array", "", "the vjobs of this `ARRAY` one by one, also those that have ended; else each array is one line")
	flags.BoolVar(&q.Newest, "newest", false, "latest submission first")
	flags.IntVarP(&q.Limit, "limit", "n", 0, "at most so many")
	cli.Complete(cmd, "state", "waiting", "booting", "running", "suspending", "paused", "suspended", "resuming", "migrating", "stopping", "terminated", "failed")
	return cmd
}

// listing is how vjobs are shown.
func listing(estimate, ranked bool) func(jobs []wire.VJob) *display.Table {
	if ranked {
		return rankTable
	}
	return func(jobs []wire.VJob) *display.Table { return vjobTable(jobs, estimate) }
}

func list(a *cli.App, cmd *cobra.Command, q client.VJobQuery, array string, estimate bool, tabulate func([]wire.VJob) *display.Table) error {
	if q.Limit < 0 {
		return cluster.BadField("--limit", q.Limit, "0 or more")
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	if array != "" {
		if q.Array, err = resolveArray(cmd.Context(), c, array); err != nil {
			return err
		}
	}
	list, err := cli.FetchVJobs(cmd.Context(), c, q)
	if err != nil {
		return err
	}
	if estimate {
		s, err := c.Forecast(cmd.Context())
		if err != nil {
			return err
		}
		estimated(list.VJobs, &s)
	}
	return a.Show(list, func() *display.Table { return tabulate(list.VJobs) })
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

// ranColumn is where the running time stands in the table.
const ranColumn = 7

func vjobTable(jobs []wire.VJob, estimate bool) *display.Table {
	ended := slices.ContainsFunc(jobs, func(j wire.VJob) bool { return j.Outcome != "" })
	columns := ">ID NAME OWNER STATE >VMS >CPU >MEMORY >RAN >WALLTIME >PRIORITY"
	if ended {
		columns += " OUTCOME"
	}
	if estimate {
		columns += " STARTS_BY"
	}
	t := &display.Table{Heads: display.Heads(columns + " WHY")}
	for i := range jobs {
		j := &jobs[i]
		if j.Members != nil {
			j = folded(j)
		}
		cells := []string{
			strconv.FormatInt(j.ID, 10), display.Dash(j.Name), j.Owner, display.Dash(j.State), strconv.Itoa(j.VMCount),
			display.CPU(j.CPUMilli), display.MiB(j.MemoryMiB), display.Span(display.Seconds(j.RanSeconds)), display.Walltime(j.WalltimeSeconds),
			strconv.Itoa(j.Priority),
		}
		if j.Members != nil {
			cells[ranColumn] = "-" // of which of them?
		}
		if ended {
			cells = append(cells, display.Dash(j.Outcome))
		}
		if estimate {
			cells = append(cells, display.Moment(j.EstimatedStart))
		}
		t.Row(append(cells, display.Why(j))...)
	}
	return t
}

// folded is the entry of an array as it is shown in one line.
func folded(j *wire.VJob) *wire.VJob {
	array := *j
	array.ID, array.Name, array.Reason = j.Array, cluster.ArrayName(j.Name), members(j.Members)
	array.State, array.Outcome, array.QueuePlace = "array", "", 0
	return &array
}
