// Package report has the command that reports what vjobs have used in a time, and how they have fared.
package report

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
)

// flags are those of `vjob report`.
type flags struct {
	since, until         string
	by                   []string
	user, project, queue string
	zone                 string
}

// Command is `vjob report`.
func Command(a *cli.App) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "report",
		Short: "report what vjobs have used in a time, and how they have fared",
		Long: `Adds up, by user unless --by says otherwise, what vjobs used in a time: the CPU time that was reserved while they ran, the
CPU time that their guests got, memory on nodes, energy, and the part of the capacity of the nodes. Whole hours of
UTC count that begin in the time, so a vjob that runs over the end of a month is divided.

WAIT is the time from the submission to the first start, of vjobs that started in the time; SLOWDOWN the median
bounded slowdown of vjobs that ended in it; LOST the reserved CPU time of runs that began again from scratch or
failed with their VMs. "?" stands for an unknown value, "-" for no value. JSON and CSV have more figures, such as outcomes and percentiles.

Users see their own vjobs, administrators all. The report reaches back as far as retention.vjobs of the settings.`,
		Example: `  vjob report --since 2026-11-01 --until 2026-12-01
  vjob report --by user,queue --since 7d
  vjob report --by month,project --since 2026-01-01 -o csv >2026.csv
  vjob report --by node,day --since yesterday`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(a, cmd, &f) },
	}
	set := cmd.Flags()
	set.StringVar(&f.since, "since", "", "`TIME` of its beginning, such as 2026-11-01, yesterday or 7d (ago); 30 days before the end if not given")
	set.StringVar(&f.until, "until", "", "`TIME` of its end; now if not given")
	cli.WordsVar(set, &f.by, "by", []string{"user"}, "add up by `KEYS`: user, project, queue, node, outcome, and one of day, week, month")
	set.StringVar(&f.user, "user", "", "only vjobs of this `USER`")
	set.StringVar(&f.project, "project", "", "only vjobs of this `PROJECT`")
	set.StringVar(&f.queue, "queue", "", "only vjobs of this `QUEUE`")
	set.StringVar(&f.zone, "zone", "", "time `ZONE` in which days, weeks and months begin, such as Europe/Paris; that of the cluster if not given")
	cli.Complete(cmd, "by", "user", "project", "queue", "node", "outcome", "day", "week", "month")
	return cmd
}

func run(a *cli.App, cmd *cobra.Command, f *flags) error {
	q := client.ReportQuery{User: f.user, Project: f.project, Queue: f.queue, Zone: f.zone}
	for _, key := range f.by {
		q.By = append(q.By, strings.TrimSpace(key))
	}
	var err error
	if q.Since, err = past("--since", f.since, a.Now()); err != nil {
		return err
	}
	if q.Until, err = past("--until", f.until, a.Now()); err != nil {
		return err
	}
	c, err := a.Client()
	if err != nil {
		return err
	}
	r, err := c.Report(cmd.Context(), q)
	switch {
	case err != nil:
		return err
	case a.CSV():
		return writeCSV(a.Out, &r)
	case a.Structured():
		return a.Print(r)
	}
	return writeTable(a, &r)
}

// past reads an instant that is over: a date, a date and a time, today, yesterday, or a time ago such as 7d. Nil
// stands for "".
func past(flag, text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // as documented
	}
	day := func(back int) *time.Time {
		t := time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, now.Location())
		return &t
	}
	switch text {
	case "now":
		return &now, nil
	case "today":
		return day(0), nil
	case "yesterday":
		return day(1), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return &t, nil
		}
	}
	if d, err := cluster.ParseDuration(text); err == nil && d > 0 {
		t := now.Add(-d)
		return &t, nil
	}
	return nil, cluster.BadField(flag, text, "a date such as 2026-11-01, a date and a time, today, yesterday, or a time ago such as 7d or 12h")
}

// periodOf is the period by which a report is divided; "" for none.
func periodOf(r *wire.Report) string {
	for _, key := range []string{"day", "week", "month"} {
		if slices.Contains(r.By, key) {
			return key
		}
	}
	return ""
}
