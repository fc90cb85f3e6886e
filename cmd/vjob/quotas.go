package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
)

func (a *app) quotasCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "quotas",
		Aliases: []string{"quota"},
		Short:   "show how the quotas stand now: for whom, what is used, and until when the limit holds",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Quotas(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(list, func() *table { return quotaTable(list.Quotas) })
		},
	}
}

// quotaTable has a line for each limit.
func quotaTable(quotas []wire.Quota) *table {
	t := &table{heads: heads("QUOTA WINDOW UNTIL FOR OF >USED >LIMIT")}
	for i := range quotas {
		q := &quotas[i]
		for _, m := range []struct {
			what    string
			measure *wire.Measure
			print   func(int64) string
		}{
			{"VMs", q.VMs, func(n int64) string { return strconv.FormatInt(n, 10) }},
			{"CPU", q.CPUMilli, cpu},
			{"memory", q.MemoryMiB, mib},
			{"CPU-hours within " + span(seconds(float64(q.WithinSeconds))), q.CPUSeconds, hours},
		} {
			if m.measure != nil {
				t.row(q.Name, dash(q.Window), moment(q.Until), whom(q), m.what, m.print(m.measure.Used), m.print(m.measure.Limit))
			}
		}
	}
	return t
}

// whom is for whom a quota counts: "user ann in queue long".
func whom(q *wire.Quota) string {
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
