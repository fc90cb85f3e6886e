package admin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func quotasCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "quotas",
		Aliases: []string{"quota"},
		Short:   "show the quotas: to which vjobs they apply, the current use, and until when the limit holds",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.Quotas(cmd.Context())
			if err != nil {
				return err
			}
			return a.Show(list, func() *display.Table { return quotaTable(list.Quotas) })
		},
	}
}

// quotaTable has a line for each limit.
func quotaTable(quotas []wire.Quota) *display.Table {
	t := &display.Table{Heads: display.Heads("QUOTA WINDOW UNTIL FOR OF >USED >LIMIT")}
	for i := range quotas {
		q := &quotas[i]
		for _, m := range []struct {
			what    string
			measure *wire.Measure
			print   func(int64) string
		}{
			{"VMs", q.VMs, func(n int64) string { return strconv.FormatInt(n, 10) }},
			{"CPU", q.CPUMilli, display.CPU},
			{"memory", q.MemoryMiB, display.MiB},
			{"CPU-hours within " + display.Span(display.Seconds(float64(q.WithinSeconds))), q.CPUSeconds, hours},
		} {
			if m.measure != nil {
				t.Row(q.Name, display.Dash(q.Window), display.Moment(q.Until), scope(q), m.what, m.print(m.measure.Used), m.print(m.measure.Limit))
			}
		}
	}
	return t
}

// scope formats the vjobs to which a quota applies: "user ann in queue long".
func scope(q *wire.Quota) string {
	var list []string
	for _, part := range [][2]string{{"user ", q.User}, {"project ", q.Project}, {"queue ", q.Queue}} {
		if part[1] != "" {
			list = append(list, part[0]+part[1])
		}
	}
	if len(list) == 0 {
		return "all"
	}
	return strings.Join(list, " in ")
}

// hours prints a CPU time.
func hours(s int64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(s)/3600), ".0") }
