package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/cluster"
)

func (a *app) nodesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "nodes",
		Aliases: []string{"node"},
		Short:   "list the nodes, and what is free on them; administrators also change their state",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			list, err := c.Nodes(cmd.Context())
			if err != nil {
				return err
			}
			return a.show(list, func() *table { return nodeTable(list.Nodes) })
		},
	}
	var fenced bool
	down := a.setNode("down", "declare a node dead, so that what ran there is lost and queued again",
		func() (wire.NodeChange, error) {
			if !fenced {
				return wire.NodeChange{}, cluster.BadField("--fenced", false,
					"--fenced, once you have made sure that nothing runs on the node any more; two copies of a VM would destroy data")
			}
			return wire.NodeChange{State: cluster.Down.String(), Fenced: true}, nil
		})
	down.Flags().BoolVar(&fenced, "fenced", false, "I have made sure that nothing runs there any more")
	cmd.AddCommand(
		a.setNode("drain", "have everything moved off a node; it takes nothing new", to(cluster.Draining)),
		a.setNode("online", "let a node take VMs again", to(cluster.Online)),
		a.setNode("offline", "put an empty node out of use", to(cluster.Offline)),
		down,
		a.setPower("off", "switch a node off, once everything has moved off it", "goes off once it is empty"),
		a.setPower("on", "switch a node on", "is to be on"),
	)
	return cmd
}

func to(state cluster.NodeState) func() (wire.NodeChange, error) {
	return func() (wire.NodeChange, error) { return wire.NodeChange{State: state.String()}, nil }
}

// setNode is a command that changes the state of one node.
func (a *app) setNode(use, short string, change func() (wire.NodeChange, error)) *cobra.Command {
	return &cobra.Command{
		Use:   use + " NODE",
		Short: short,
		Args:  arguments(1, "the name of a node"),
		RunE: func(cmd *cobra.Command, args []string) error {
			want, err := change()
			if err != nil {
				return err
			}
			c, err := a.client()
			if err != nil {
				return err
			}
			if err := c.SetNode(cmd.Context(), args[0], want); err != nil {
				return err
			}
			if a.json() {
				return printJSON(a.out, want, true)
			}
			_, err = fmt.Fprintf(a.out, "node %s is %s now\n", clean(args[0]), want.State)
			return err
		},
	}
}

func nodeTable(nodes []wire.Node) *table {
	columns := "NODE STATE >CPU_USED >OF >MEMORY_USED >OF >VMS"
	powered := slices.ContainsFunc(nodes, func(n wire.Node) bool { return n.Power != nil })
	if powered {
		columns += " >POWER"
	}
	t := &table{heads: heads(columns + " PROBLEM")}
	for i := range nodes {
		n := &nodes[i]
		cells := []string{
			n.Name, nodeState(n), cpu(n.UsedCPUMilli), cpu(n.CPUMilli), mib(n.UsedMemoryMiB), mib(n.MemoryMiB), strconv.Itoa(len(n.VMs)),
		}
		switch {
		case n.Power != nil:
			cells = append(cells, watts(n.Power.Watts))
		case powered:
			cells = append(cells, dash(""))
		}
		t.row(append(cells, nodeProblem(n))...)
	}
	return t
}

// nodeState is what is decreed of a node, or how far it is on its way off or on, or that
// it does not answer.
func nodeState(n *wire.Node) string {
	if switching(n) {
		return n.Switch.Phase
	}
	if n.Silent && n.State != cluster.Down.String() && n.State != cluster.Offline.String() {
		return "silent"
	}
	return n.State
}

func nodeProblem(n *wire.Node) string {
	if switching(n) {
		return powerProblem(n)
	}
	if n.Silent {
		return fmt.Sprintf("silent since %s: %s", moment(&n.Since), n.Problem)
	}
	return dash(n.Problem)
}
