package simulated

import (
	"cmp"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/hypervisor"
)

// nodes are the nodes, with the copies on them.
type nodes struct {
	byID   map[cluster.NodeID]*node
	sorted []*node // by name
	copies map[cluster.VMID][]*machine
	locks  bool // see [Config]
}

// newNodes returns empty nodes.
func newNodes(cfg *Config) *nodes {
	ns := &nodes{byID: map[cluster.NodeID]*node{}, copies: map[cluster.VMID][]*machine{}, locks: cfg.Locks}
	for _, declared := range cfg.Nodes {
		n := newNode(declared)
		n.overcommits = cfg.Overcommits
		ns.byID[n.ID] = n
		ns.sorted = append(ns.sorted, n)
	}
	slices.SortFunc(ns.sorted, func(a, b *node) int { return cmp.Compare(a.ID, b.ID) })
	return ns
}

// at returns the copy of a VM on a node, or nil.
func (ns *nodes) at(node cluster.NodeID, vm cluster.VMID) *machine {
	if n, ok := ns.byID[node]; ok {
		return n.copies[vm]
	}
	return nil
}

// target returns the copy of a call.
func (ns *nodes) target(op *operation) (*machine, *failure) {
	if m := ns.at(op.Call.Node, op.Call.VM); m != nil {
		return m, nil
	}
	return nil, newFailure(hypervisor.ErrNoSuchVM, "%s %s on %s", op.Call.Verb, op.Call.VM, op.Call.Node)
}

// add puts a copy on its node.
func (ns *nodes) add(m *machine) {
	ns.byID[m.Node].copies[m.VM] = m
	ns.copies[m.VM] = append(ns.copies[m.VM], m)
}

// remove removes a copy from its node.
func (ns *nodes) remove(m *machine) {
	delete(ns.byID[m.Node].copies, m.VM)
	ns.copies[m.VM] = slices.DeleteFunc(ns.copies[m.VM], func(o *machine) bool { return o == m })
	if len(ns.copies[m.VM]) == 0 {
		delete(ns.copies, m.VM)
	}
}

// sortedVMs lists the VMs with copies, in order.
func (ns *nodes) sortedVMs() []cluster.VMID {
	return slices.SortedFunc(maps.Keys(ns.copies), cluster.VMID.Compare)
}

// lockHolder returns a copy elsewhere with a lock that keeps the VM from running on node, or nil.
func (ns *nodes) lockHolder(vm cluster.VMID, node cluster.NodeID) *machine {
	if !ns.locks {
		return nil
	}
	for _, o := range ns.copies[vm] {
		if o.Node != node && o.State == hypervisor.CopyRunning && !o.Unlocked {
			return o
		}
	}
	return nil
}
