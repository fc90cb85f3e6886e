package execute

import (
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/hypervisor"
)

// NodeReport is a node as the executor sees it. It does not change.
type NodeReport struct {
	cluster.Node
	Silent  bool // does not answer though it should
	Since   time.Time
	Problem string
	// Warnings are what administrators should know of the node though it answers.
	Warnings []string
	Software string // versions of the hypervisor; "" if unknown
	Used     cluster.Resources
	Foreign  cluster.Resources // of Used, by copies of no live vjob
	Demand   cluster.Resources // what the copies there demand, which may be more than there is
	VMs      []cluster.VMID    // there, in order; not to be changed
	Locked   []cluster.VMID    // of these, the ones that a lock protects: they may migrate while they run; not to be changed
	On       bool              // it draws power for being on
	Watts    energy.Watts      // that it draws now; 0 where nothing is known of its power
	Joules   int64             // that it has drawn so far, as written
	// Platforms are what VMs can be on the node; nil if unknown. Nodes with equal platforms have the
	// same PlatformClass.
	Platforms     []hypervisor.Platform
	PlatformClass string
}

// nodeReports are the reports of all nodes, as of the last time that they were asked for.
type nodeReports struct {
	list     []*NodeReport // in order of nodes; nil if a node was added since then
	outdated []*node       // those that would be reported otherwise now, or may
}

// outdate notes that a node is no longer as it was reported.
func (ns *nodes) outdate(n *node) {
	n.report = nil
	if !n.outdated {
		n.outdated = true
		ns.reports.outdated = append(ns.reports.outdated, n)
	}
}

// Nodes reports every node, in order. The list never changes: it is that of the last call while nothing changes on any node, and
// reports of nodes on which nothing has changed are in the next one too.
func (e *Executor) Nodes() []*NodeReport {
	ns := e.nodes
	kept := &ns.reports
	switch {
	case kept.list == nil:
		kept.list = make([]*NodeReport, len(ns.sorted))
		for i, n := range ns.sorted {
			kept.list[i] = e.nodeReport(n)
		}
	case len(kept.outdated) > 0:
		kept.list = slices.Clone(kept.list)
		for _, n := range kept.outdated {
			at, _ := slices.BinarySearch(ns.names, n.ID)
			kept.list[at] = e.nodeReport(n)
		}
	}
	kept.outdated = slices.DeleteFunc(kept.outdated, func(n *node) bool {
		n.outdated = n.unsettled()
		return !n.outdated
	})
	return kept.list
}

// Node reports one node.
func (e *Executor) Node(id cluster.NodeID) (r NodeReport, known bool) {
	n, known := e.nodes.byID[id]
	if known {
		r = *e.nodeReport(n)
	}
	return r, known
}

// nodeReport returns the report of a node. It is kept until something changes there, unless calls are under way: these
// count with all that becomes of their gangs.
func (e *Executor) nodeReport(n *node) *NodeReport {
	if n.report == nil || n.unsettled() {
		n.report = e.newNodeReport(n)
	}
	return n.report
}

func (e *Executor) newNodeReport(n *node) *NodeReport {
	used, foreign := e.VMs.on(n)
	return &NodeReport{
		Node: n.Node, Silent: n.silent() && !n.answered, Since: n.seenSince, Problem: n.problem, Warnings: n.warnings, Software: n.software,
		Used: used, Foreign: foreign, Demand: n.demand(), VMs: n.vms, Locked: n.locked,
		On: n.on(), Watts: n.power.watts, Joules: n.power.written,
		Platforms: n.platforms, PlatformClass: n.class,
	}
}
