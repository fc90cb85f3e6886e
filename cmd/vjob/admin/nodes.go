package admin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/cmd/vjob/display"
	"vjob/energy"
)

func nodesCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "nodes",
		Aliases: []string{"node"},
		Short:   "list the nodes, and what is free on them; administrators also change their state",
		Args:    cli.NoArguments,
	}
	var l *cli.Listing[wire.Node]
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := a.Client()
		if err != nil {
			return err
		}
		list, err := c.Nodes(cmd.Context())
		if err != nil {
			return err
		}
		if err := l.Show(list, list.Nodes); err != nil || a.Structured() {
			return err
		}
		for _, line := range []string{display.Failover(list.Failover), display.Alarms(list.Alarms)} {
			if line == "" {
				continue
			}
			if _, err := fmt.Fprintln(a.Out, line); err != nil {
				return err
			}
		}
		return nil
	}
	l = cli.List(a, cmd, nodeColumns)
	var fenced bool
	down := setNode(a, "down", "declare nodes dead, so that what ran there is lost and queued again",
		func() (wire.NodeChange, error) {
			if !fenced {
				return wire.NodeChange{}, cluster.Fault("--fenced",
					"required once you have made sure that nothing runs on the node any more; two copies of a VM would destroy data")
			}
			return wire.NodeChange{State: cluster.Down.String(), Fenced: true}, nil
		})
	down.Flags().BoolVar(&fenced, "fenced", false, "I have made sure that nothing runs there any more")
	cmd.AddCommand(
		showNode(a),
		setNode(a, "drain", "have everything moved off nodes; they take nothing new", to(cluster.Draining)),
		setNode(a, "online", "let nodes take VMs again", to(cluster.Online)),
		setNode(a, "offline", "put empty nodes out of use", to(cluster.Offline)),
		maintainCommand(a), readyCommand(a),
		down,
		setPower(a, "off", "switch a node off, once everything has moved off it", "goes off once it is empty"),
		setPower(a, "on", "switch a node on", "is to be on"),
	)
	return cmd
}

func to(state cluster.NodeState) func() (wire.NodeChange, error) {
	return func() (wire.NodeChange, error) { return wire.NodeChange{State: state.String()}, nil }
}

// setNode is a command that changes the state of nodes, of all or none.
func setNode(a *cli.App, use, short string, change func() (wire.NodeChange, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " NODE…",
		Short: short,
		Long:  short + "\n\nA NODE is a name, a range such as n[1-8], or a label such as rack=A for all that have it.",
		Args:  cli.Arguments(-1, "the name of a node, a range such as n[1-8], or a label such as rack=A"),
		RunE: func(cmd *cobra.Command, args []string) error {
			want, err := change()
			if err != nil {
				return err
			}
			c, err := a.Client()
			if err != nil {
				return err
			}
			names, err := cli.ResolveNodes(cmd.Context(), c, "NODE", args)
			if err != nil {
				return err
			}
			if err := c.SetNodes(cmd.Context(), wire.NodesChange{Names: names, NodeChange: want}); err != nil {
				return err
			}
			if a.Structured() {
				return a.Print(want)
			}
			for _, name := range names {
				if _, err := fmt.Fprintf(a.Out, "node %s is %s now\n", display.Clean(name), want.State); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// nodeColumns are the columns of nodes.
var nodeColumns = []display.Field[wire.Node]{
	{Head: "NODE", Cell: func(n *wire.Node) any { return n.Name }},
	{Head: "STATE", Cell: func(n *wire.Node) any { return display.NodeState(n) }},
	{Head: ">CPU_USED", Cell: func(n *wire.Node) any { return cluster.MilliCPU(n.UsedCPUMilli) }},
	{Head: ">OF", Key: "cpu", Cell: func(n *wire.Node) any { return cluster.MilliCPU(n.CPUMilli) }},
	{Head: ">CPU_DEMAND", Level: display.Wide, Cell: func(n *wire.Node) any { return cluster.MilliCPU(n.DemandCPUMilli) }},
	{Head: ">MEMORY_USED", Cell: func(n *wire.Node) any { return cluster.MiB(n.UsedMemoryMiB) }},
	{Head: ">OF", Key: "memory", Cell: func(n *wire.Node) any { return cluster.MiB(n.MemoryMiB) }},
	{Head: ">VMS", Cell: func(n *wire.Node) any { return len(n.VMs) }},
	{Head: "LABELS", Level: display.Wide, Cell: func(n *wire.Node) any { return display.Labels(n.Labels) }},
	{Head: ">POWER", If: func(n *wire.Node) bool { return n.Power != nil }, Cell: powerCell},
	{Head: "PROBLEM", Cell: func(n *wire.Node) any {
		return display.Shown{Text: display.NodeProblem(n), Value: strings.TrimPrefix(display.NodeProblem(n), "-")}
	}},
}

func powerCell(n *wire.Node) any {
	if n.Power == nil {
		return nil
	}
	return energy.Watts(n.Power.Watts)
}
