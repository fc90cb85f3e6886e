package scheduler

import (
	"cmp"
	"slices"

	"vjob/ctxswitch/execute"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/powercap"
)

// NodeStatus is a node as the loop sees it. It does not change: snapshots share it.
type NodeStatus struct {
	*execute.NodeReport
	Problem     string // what the last look said, when it failed; or why the node is not drained yet
	Power       powercap.Node
	Maintenance *MaintenanceStatus // nil: not in maintenance
	Switch      *nodepower.Switch  // nil: it cannot be switched off and on
}

// is reports whether a status says the same of the node.
func (n *NodeStatus) is(other *NodeStatus) bool {
	return n.NodeReport == other.NodeReport && n.Problem == other.Problem && n.Power == other.Power &&
		n.Maintenance == nil && other.Maintenance == nil && (n.Switch == other.Switch || n.Switch != nil && other.Switch != nil && *n.Switch == *other.Switch)
}

// lively reports whether the status may change while the report of the node does not.
func (n *NodeStatus) lively() bool {
	return n.Power.Known || n.Maintenance != nil || n.Switch != nil || n.Problem != n.NodeReport.Problem
}

// nodeStatuses is the status of all nodes, as of the last snapshot with it.
type nodeStatuses struct {
	list    []*NodeStatus         // it never changes
	reports []*execute.NodeReport // of the nodes
	lively  []int                 // nodes, by index
}

// due returns the nodes of which the status may have changed, by index, in no order.
func (s *nodeStatuses) due(reports []*execute.NodeReport) []int {
	due := slices.Clone(s.lively)
	for i := range reports {
		if len(s.reports) != len(reports) || reports[i] != s.reports[i] {
			due = append(due, i)
		}
	}
	return due
}

// nodesStatus returns the status of all nodes. It costs as much as has changed since the last call.
func (c *Core) nodesStatus() []*NodeStatus {
	reports, actions := c.exec.Nodes(), c.exec.Actions()
	due := c.shown.due(reports)
	for id := range c.last.undrained {
		if i, known := slices.BinarySearch(c.exec.Names(), id); known {
			due = append(due, i)
		}
	}
	slices.Sort(due)
	list, own, lively := c.shown.list, false, []int{}
	if len(list) != len(reports) {
		list, own = make([]*NodeStatus, len(reports)), true
	}
	for _, i := range slices.Compact(due) {
		n, stays := reports[i], c.last.undrained[reports[i].ID]
		status := NodeStatus{
			NodeReport: n, Problem: cmp.Or(n.Problem, stays), Power: c.Power.cap.Node(n), Maintenance: c.Nodes.maintenance(c.now, n, actions, stays),
			Switch: c.Power.controller.Switch(n.ID),
		}
		if status.lively() {
			lively = append(lively, i)
		}
		if list[i] != nil && list[i].is(&status) {
			continue
		}
		if !own {
			list, own = slices.Clone(list), true
		}
		changed := status
		list[i] = &changed
	}
	c.shown = nodeStatuses{list, reports, lively}
	return list
}
