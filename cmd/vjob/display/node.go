package display

import (
	"fmt"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/energy/power/cycle"
)

// NodeState is what is decreed of a node, or how far it is on its way off or on, or that
// it does not answer.
func NodeState(n *wire.Node) string {
	if switching(n) {
		return n.Switch.Phase
	}
	if n.Maintenance != nil && n.Maintenance.Empty {
		return "maintenance"
	}
	if n.Silent && n.State != cluster.Down.String() && n.State != cluster.Offline.String() {
		return "silent"
	}
	return n.State
}

// NodeProblem is what is wrong with a node; "-" is nothing.
func NodeProblem(n *wire.Node) string {
	if switching(n) {
		return powerProblem(n)
	}
	if n.Maintenance != nil {
		return MaintenanceLine(n.Maintenance)
	}
	if n.Silent {
		return fmt.Sprintf("silent since %s: %s", Moment(&n.Since), n.Problem)
	}
	if n.Problem != "" {
		return n.Problem
	}
	var list []string
	if n.DemandCPUMilli > n.CPUMilli {
		list = append(list, fmt.Sprintf("crowded: its VMs demand %s CPU", CPU(n.DemandCPUMilli)))
	}
	if len(n.Warnings) > 0 {
		list = append(list, "warning: "+strings.Join(n.Warnings, "; "))
	}
	return Dash(strings.Join(list, "; "))
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
		return Dash(p.Problem)
	}
}
