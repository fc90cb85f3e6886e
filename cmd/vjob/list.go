package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
)

func (a *app) listCommand() *cobra.Command {
	var all, estimate, ranked bool
	var array string
	var q client.VJobQuery
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "list vjobs, with their state and why",
		Long:    "Lists the vjobs that have not ended and that you may see, in order of submission.",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range q.States {
				if _, err := cluster.ParseState(s); err != nil {
					return renamed(err, "--state")
				}
			}
			q.Live = !all && len(q.States) == 0 && array == ""
			q.Fold = array == "" && q.Name == ""
			q.Fold = q.Fold && !ranked
			return a.list(cmd, q, array, estimate, listing(estimate, ranked))
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
	complete(cmd, "state", "waiting", "booting", "running", "suspending", "paused", "suspended", "resuming", "migrating", "stopping", "terminated", "failed")
	return cmd
}

// listing is how vjobs are shown.
func listing(estimate, ranked bool) func(jobs []wire.VJob) *table {
	if ranked {
		return rankTable
	}
	return func(jobs []wire.VJob) *table { return vjobTable(jobs, estimate) }
}

func (a *app) list(cmd *cobra.Command, q client.VJobQuery, array string, estimate bool, tabulate func([]wire.VJob) *table) error {
	if q.Limit < 0 {
		return cluster.BadField("--limit", q.Limit, "0 or more")
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	if array != "" {
		if q.Array, err = resolveArray(cmd.Context(), c, array); err != nil {
			return err
		}
	}
	list, err := vjobs(cmd.Context(), c, q)
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
	return a.show(list, func() *table { return tabulate(list.VJobs) })
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

func vjobTable(jobs []wire.VJob, estimate bool) *table {
	ended := slices.ContainsFunc(jobs, func(j wire.VJob) bool { return j.Outcome != "" })
	columns := ">ID NAME OWNER STATE >VMS >CPU >MEMORY >RAN >WALLTIME >PRIORITY"
	if ended {
		columns += " OUTCOME"
	}
	if estimate {
		columns += " STARTS_BY"
	}
	t := &table{heads: heads(columns + " WHY")}
	for i := range jobs {
		j := &jobs[i]
		if j.Members != nil {
			j = folded(j)
		}
		cells := []string{
			strconv.FormatInt(j.ID, 10), dash(j.Name), j.Owner, stateOf(j.State), strconv.Itoa(j.VMCount),
			cpu(j.CPUMilli), mib(j.MemoryMiB), span(seconds(j.RanSeconds)), walltime(j.WalltimeSeconds),
			strconv.Itoa(j.Priority),
		}
		if j.Members != nil {
			cells[ranColumn] = "-" // of which of them?
		}
		if ended {
			cells = append(cells, dash(j.Outcome))
		}
		if estimate {
			cells = append(cells, moment(j.EstimatedStart))
		}
		t.row(append(cells, why(j))...)
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

// stateOf is the state as shown.
func stateOf(state string) string { return dash(state) }

// why is the reason, with what is marked beside the state.
func why(j *wire.VJob) string {
	reason := j.Reason
	if j.Held && !strings.Contains(reason, "held") {
		reason = "held; " + reason
	}
	if j.QueuePlace > 0 {
		reason = fmt.Sprintf("#%d %s", j.QueuePlace, reason)
	}
	return reason
}

// walltime prints the limit of running time.
func walltime(s int64) string {
	if s == 0 {
		return "-"
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}
