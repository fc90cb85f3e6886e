package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"vjob/api/wire"
	"vjob/power/cycle"
)

// setPower is a command that switches one node.
func (a *app) setPower(power, short, done string) *cobra.Command {
	return &cobra.Command{
		Use:   power + " NODE",
		Short: short,
		Args:  arguments(1, "the name of a node"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client()
			if err != nil {
				return err
			}
			change := wire.PowerChange{Power: power}
			if err := c.SetPower(cmd.Context(), args[0], change); err != nil {
				return err
			}
			if a.json() {
				return printJSON(a.out, change, true)
			}
			_, err = fmt.Fprintf(a.out, "node %s "+done+"\n", clean(args[0]))
			return err
		},
	}
}

// switching reports whether the power of a node says more of it than what is decreed.
func switching(n *wire.Node) bool { return n.Switch != nil && n.Switch.Phase != cycle.On.String() }

// powerProblem is what keeps a node from getting where it is wanted.
func powerProblem(n *wire.Node) string {
	p := n.Switch
	switch {
	case p.Phase == cycle.Emptying.String() && p.Problem != "":
		return "waits to go off: " + p.Problem
	case p.Phase == cycle.Stuck.String():
		return "left alone: it " + p.Problem
	case p.Phase == cycle.Stopping.String() && p.Wanted == cycle.WantOn.String():
		return "comes up again once it is off"
	default:
		return dash(p.Problem)
	}
}
