package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
)

func (a *app) queuesCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "queues",
		Aliases: []string{"queue"},
		Short:   "list the queues: what they take, and how many vjobs are in them",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Queues(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(list, func() *table {
				t := &table{heads: heads("QUEUE DEFAULT >PRIORITY POLICY >RUNNING >WAITING ONE_VJOB_AT_MOST")}
				for i := range list.Queues {
					q := &list.Queues[i]
					usual := "-"
					if q.Default {
						usual = "yes"
					}
					t.row(q.Name, usual, strconv.Itoa(q.Priority), q.Policy, strconv.Itoa(q.Running), strconv.Itoa(q.Waiting), dash(most(q)))
				}
				return t
			})
		},
	}
}

// most is what one vjob of a queue may be at most: "4 VMs, 8 CPU, 1:00:00".
func most(q *wire.Queue) string {
	var list []string
	if q.MostVMs > 0 {
		list = append(list, count(q.MostVMs, "VM"))
	}
	if q.MostCPUMilli > 0 {
		list = append(list, cpu(q.MostCPUMilli)+" CPU")
	}
	if q.MostMemoryMiB > 0 {
		list = append(list, mib(q.MostMemoryMiB))
	}
	if q.WalltimeSeconds > 0 {
		list = append(list, walltime(q.WalltimeSeconds))
	}
	return strings.Join(list, ", ")
}
