package admin

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func quotasCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "quotas",
		Aliases: []string{"quota"},
		Short:   "show the quotas: to which vjobs they apply, the current use, and until when the limit holds",
	}
	return cli.ListCommand(a, cmd, quotaColumns, func(ctx context.Context, c *client.Client) (any, []quotaLine, error) {
		list, err := c.Quotas(ctx)
		return list, quotaLines(list.Quotas), err
	})
}

// quotaLine is one limit of a quota.
type quotaLine struct {
	*wire.Quota
	what        string
	used, limit any
}

// quotaColumns are the columns of limits.
var quotaColumns = []display.Field[quotaLine]{
	{Head: "QUOTA", Cell: func(l *quotaLine) any { return l.Name }},
	{Head: "WINDOW", Cell: func(l *quotaLine) any { return l.Window }},
	{Head: "UNTIL", Cell: func(l *quotaLine) any { return l.Until }},
	{Head: "FOR", Cell: func(l *quotaLine) any { return scope(l.Quota) }},
	{Head: "OF", Cell: func(l *quotaLine) any { return l.what }},
	{Head: ">USED", Cell: func(l *quotaLine) any { return l.used }},
	{Head: ">LIMIT", Cell: func(l *quotaLine) any { return l.limit }},
}

// quotaLines has a line for each limit.
func quotaLines(quotas []wire.Quota) (lines []quotaLine) {
	for i := range quotas {
		q := &quotas[i]
		for _, m := range []struct {
			what    string
			measure *wire.Measure
			value   func(int64) any
		}{
			{"VMs", q.VMs, func(n int64) any { return n }},
			{"CPU", q.CPUMilli, func(n int64) any { return cluster.MilliCPU(n) }},
			{"memory", q.MemoryMiB, func(n int64) any { return cluster.MiB(n) }},
			{"CPU-hours within " + display.Span(display.Seconds(float64(q.WithinSeconds))), q.CPUSeconds, func(n int64) any { return display.Shown{Text: hours(n), Value: float64(n) / 3600} }},
		} {
			if m.measure != nil {
				lines = append(lines, quotaLine{q, m.what, m.value(m.measure.Used), m.value(m.measure.Limit)})
			}
		}
	}
	return lines
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
