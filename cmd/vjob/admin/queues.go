package admin

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func queuesCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "queues",
		Aliases: []string{"queue"},
		Short:   "list the queues: what they take, and how many vjobs are in them",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Client()
			if err != nil {
				return err
			}
			list, err := c.Queues(cmd.Context())
			if err != nil {
				return err
			}
			return a.Show(list, func() *display.Table {
				t := &display.Table{Heads: display.Heads("QUEUE DEFAULT >PRIORITY POLICY >RUNNING >WAITING ONE_VJOB_AT_MOST")}
				for i := range list.Queues {
					q := &list.Queues[i]
					usual := "-"
					if q.Default {
						usual = "yes"
					}
					t.Row(q.Name, usual, strconv.Itoa(q.Priority), q.Policy, strconv.Itoa(q.Running), strconv.Itoa(q.Waiting), display.Dash(most(q)))
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
		list = append(list, display.Count(q.MostVMs, "VM"))
	}
	if q.MostCPUMilli > 0 {
		list = append(list, display.CPU(q.MostCPUMilli)+" CPU")
	}
	if q.MostMemoryMiB > 0 {
		list = append(list, display.MiB(q.MostMemoryMiB))
	}
	if q.WalltimeSeconds > 0 {
		list = append(list, display.Walltime(q.WalltimeSeconds))
	}
	return strings.Join(list, ", ")
}
