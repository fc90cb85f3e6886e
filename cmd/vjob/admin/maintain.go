package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/program"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
)

// maintainFlags are the flags of `vjob nodes maintain`.
type maintainFlags struct {
	reason  string
	wait    bool
	timeout time.Duration
}

func maintainCommand(a *cli.App) *cobra.Command {
	var f maintainFlags
	cmd := &cobra.Command{
		Use:   "maintain NODE…",
		Short: "let nodes enter maintenance: their VMs move away, then they are out of use",
		Long: `Lets nodes enter maintenance. They take no new VMs, and their VMs move away as in a drain. As soon as a node is empty it
is offline, in the state maintenance, until vjob nodes ready.

A NODE is a name, a range such as n[1-8], or a label such as rack=A for all that have it.

Exit codes: with --wait 0 once all nodes are in maintenance, 6 after --timeout.`,
		Example: `  vjob nodes maintain n3 --reason "new memory" --wait
  vjob nodes ready n3`,
		Args: cli.Arguments(-1, "the name of a node, a range such as n[1-8], or a label such as rack=A"),
		RunE: func(cmd *cobra.Command, args []string) error { return maintain(cmd.Context(), a, &f, args) },
	}
	cmd.Flags().StringVar(&f.reason, "reason", "", "why, for others to read: a `TEXT`")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait until the nodes are empty, and show the progress")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "wait at most this `TIME`; 0 is no limit")
	return cmd
}

func maintain(ctx context.Context, a *cli.App, f *maintainFlags, args []string) error {
	if f.timeout < 0 || f.timeout > 0 && !f.wait {
		return cluster.BadField("--timeout", f.timeout, "a time such as 30m, together with --wait")
	}
	c, names, err := changeNodes(ctx, a, args, wire.NodeChange{State: "maintenance", Reason: f.reason})
	if err != nil {
		return err
	}
	if f.wait {
		return awaitEmpty(ctx, a, c, names, f.timeout)
	}
	if a.Structured() {
		return a.Print(wire.NodesChange{Names: names, NodeChange: wire.NodeChange{State: "maintenance", Reason: f.reason}})
	}
	for _, name := range names {
		if _, err := fmt.Fprintf(a.Out, "node %s enters maintenance\n", display.Clean(name)); err != nil {
			return err
		}
	}
	return nil
}

func readyCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "ready NODE…",
		Short: "let nodes leave maintenance: they take VMs again",
		Args:  cli.Arguments(-1, "the name of a node, a range such as n[1-8], or a label such as rack=A"),
		RunE: func(cmd *cobra.Command, args []string) error {
			change := wire.NodeChange{State: "ready"}
			_, names, err := changeNodes(cmd.Context(), a, args, change)
			if err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(wire.NodesChange{Names: names, NodeChange: change})
			}
			for _, name := range names {
				if _, err := fmt.Fprintf(a.Out, "node %s is online now\n", display.Clean(name)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// changeNodes changes nodes that are named by words, all or none.
func changeNodes(ctx context.Context, a *cli.App, words []string, change wire.NodeChange) (*client.Client, []string, error) {
	c, err := a.Client()
	if err != nil {
		return nil, nil, err
	}
	names, err := cli.ResolveNodes(ctx, c, "NODE", words)
	if err != nil {
		return nil, nil, err
	}
	return c, names, c.SetNodes(ctx, wire.NodesChange{Names: names, NodeChange: change})
}

// awaitEmpty waits until all nodes are in maintenance, and shows a bar of the VMs that have left, a line for
// each change.
func awaitEmpty(ctx context.Context, a *cli.App, c *client.Client, names []string, timeout time.Duration) error {
	patience, cancel := ctx, context.CancelFunc(func() {})
	if timeout > 0 {
		patience, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	shown := ""
	for pause := 200 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		list, err := c.Nodes(ctx)
		if err != nil {
			return err
		}
		line, over, err := maintenanceBar(list.Nodes, names)
		if err != nil {
			return err
		}
		if line != shown && !a.Structured() {
			shown = line
			if _, err := fmt.Fprintln(a.Err, line); err != nil {
				return err
			}
		}
		switch {
		case over && a.Structured():
			return a.Print(list)
		case over:
			_, err := fmt.Fprintf(a.Out, "in maintenance: %s\n", strings.Join(names, ", "))
			return err
		case program.Sleep(patience, pause):
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		}
		return fmt.Errorf("%s: %w of %s is over; the nodes stay in maintenance and are emptied: vjob nodes shows it", line, cli.ErrTimeout, timeout)
	}
}

// barWidth is the width of the progress bar.
const barWidth = 20

// maintenanceBar is the progress of some nodes as a line; over reports that all of them are empty. It fails if a node is
// not on its way any more.
func maintenanceBar(nodes []wire.Node, names []string) (line string, over bool, err error) {
	var left, all, empty int
	var notes []string
	var end time.Time
	for i := range nodes {
		n := &nodes[i]
		if !slices.Contains(names, n.Name) {
			continue
		}
		m := n.Maintenance
		if m == nil {
			return "", false, fmt.Errorf("node %s left maintenance meanwhile: %w", n.Name, cluster.ErrConflict)
		}
		left, all = left+m.Left, all+max(m.VMs, m.Left)
		if m.Empty {
			empty++
		}
		if m.Stays != "" {
			notes = append(notes, n.Name+": "+m.Stays)
		}
		if m.End != nil && m.End.After(end) {
			end = *m.End
		}
	}
	share := 1.0
	if all > 0 {
		share = float64(all-left) / float64(all)
	}
	line = fmt.Sprintf("%s %d of %d VMs left, %d of %d nodes empty", display.Gauge(share, barWidth), left, all, empty, len(names))
	if !end.IsZero() && left > 0 {
		line += ", the rest at about " + display.Moment(&end)
	}
	for _, note := range notes {
		line += "; " + display.Clean(note)
	}
	return line, empty == len(names), nil
}
