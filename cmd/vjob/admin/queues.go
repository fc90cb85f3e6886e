package admin

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

func queuesCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "queues",
		Aliases: []string{"queue"},
		Short:   "list the queues: what they take, and how many vjobs are in them",
	}
	return cli.ListCommand(a, cmd, queueColumns, func(ctx context.Context, c *client.Client) (any, []wire.Queue, error) {
		list, err := c.Queues(ctx)
		return list, list.Queues, err
	})
}

// queueColumns are the columns of queues.
var queueColumns = []display.Field[wire.Queue]{
	{Head: "QUEUE", Cell: func(q *wire.Queue) any { return q.Name }},
	{Head: "DEFAULT", Cell: func(q *wire.Queue) any { return q.Default }},
	{Head: ">PRIORITY", Cell: func(q *wire.Queue) any { return q.Priority }},
	{Head: "POLICY", Cell: func(q *wire.Queue) any { return q.Policy }},
	{Head: ">RUNNING", Cell: func(q *wire.Queue) any { return q.Running }},
	{Head: ">WAITING", Cell: func(q *wire.Queue) any { return q.Waiting }},
	{Head: ">MOST_VMS", Level: display.OnOrder, Cell: func(q *wire.Queue) any { return display.Some(q.MostVMs) }},
	{Head: ">MOST_CPU", Level: display.OnOrder, Cell: func(q *wire.Queue) any { return display.Some(cluster.MilliCPU(q.MostCPUMilli)) }},
	{Head: ">MOST_MEMORY", Level: display.OnOrder, Cell: func(q *wire.Queue) any { return display.Some(cluster.MiB(q.MostMemoryMiB)) }},
	{Head: ">WALLTIME", Level: display.OnOrder, Cell: func(q *wire.Queue) any { return display.Some(display.Clock(q.WalltimeSeconds)) }},
	{Head: "ONE_VJOB_AT_MOST", Cell: func(q *wire.Queue) any { return most(q) }},
}

// most is what one vjob of a queue may be at most: "4 VMs, 8 CPU, 1:00:00".
func most(q *wire.Queue) string {
	var list []string
	if q.MostVMs > 0 {
		list = append(list, cluster.Count(q.MostVMs, "VM"))
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
