package simulated

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// maxEndings bounds the endings that a node's driver remembers.
const maxEndings = 256

// node is one node.
type node struct {
	Node
	touched *touched
	copies  map[cluster.VMID]*machine
	faults  [faultKinds]lastingFault
	queued  []int64 // operations that arrived or came due while frozen
	endings []hypervisor.Ending
	// newEndings counts the endings since the last [Cluster.Changes].
	newEndings int
	hinted     bool               // a hint waits for the end of the instant or of a freeze
	listing    []hypervisor.Image // the images that looks show while [StoreStale] is active

	overcommits bool // see [Config]

	demand cluster.MilliCPU // capped demand of the running guests
	// granted is what each running guest gets while CPU is short and their weights differ; nil: each
	// gets its demand at the yield of the node.
	granted map[cluster.VMID]cluster.MilliCPU
	dirty   bool
}

func newNode(n Node, t *touched) *node {
	if n.Pool == "" {
		n.Pool = SharedPool
	}
	n.Unmanaged = slices.Sorted(slices.Values(n.Unmanaged))
	return &node{Node: n, touched: t}
}

// touch records that the state of the node has changed.
func (n *node) touch() { n.touched.nodes.add(n.ID) }

// lastingFault is the state of a lasting fault, with the number of its last change.
type lastingFault struct {
	On      bool  `json:"on"`
	Version int64 `json:"version"`
}

// has reports whether a lasting fault is active.
func (n *node) has(k FaultKind) bool { return n.faults[k].On }

// up reports whether the node has power.
func (n *node) up() bool { return !n.has(PowerLoss) }

// boots reports whether the node has no power and will get it back.
func (n *node) boots(c *clock) bool {
	return !n.up() && slices.ContainsFunc(c.events, func(e event) bool {
		return e.Kind == evFaultEnds && e.Node == n.ID && e.Fault == PowerLoss && e.Version == n.faults[PowerLoss].Version
	})
}

// holds queues an operation if the node is frozen, and reports whether it is.
func (n *node) holds(op *operation) bool {
	if n.has(Freeze) {
		n.queued = append(n.queued, op.Serial)
		n.touch()
	}
	return n.has(Freeze)
}

// unreachable returns the failure of a node that does not answer the controller, or nil.
func (n *node) unreachable() *failure {
	switch {
	case n.has(PowerLoss) || n.has(Partition):
		return newFailure(hypervisor.ErrUnreachable, "node %s: no route", n.ID)
	case n.has(DaemonKilled):
		return newFailure(hypervisor.ErrUnreachable, "node %s: connection refused", n.ID)
	case n.has(Freeze):
		return newFailure(hypervisor.ErrTimeout, "node %s: no answer to keepalive", n.ID)
	}
	return nil
}

// sortedCopies lists the node's copies in order of VMs.
func (n *node) sortedCopies() []*machine {
	list := make([]*machine, 0, len(n.copies))
	for _, id := range slices.SortedFunc(maps.Keys(n.copies), cluster.VMID.Compare) {
		list = append(list, n.copies[id])
	}
	return list
}

// memoryUsed counts every copy in full, whatever its state (I8).
func (n *node) memoryUsed() cluster.MiB {
	var sum cluster.MiB
	for _, m := range n.copies {
		sum += m.size()
	}
	return sum
}

// memoryFailure returns the failure of a node without that much free memory, or nil.
func (n *node) memoryFailure(need cluster.MiB) *failure {
	free := n.Capacity.Memory
	if !n.overcommits {
		free -= n.memoryUsed()
	}
	if need > free {
		return newFailure(hypervisor.ErrNoMemory, "node %s: cannot allocate %s, %s are free", n.ID, need, free)
	}
	return nil
}

// recordEnding records how a guest ended, if the node's daemon is up (row 16b: a guest that dies while
// the daemon is down leaves no event).
func (n *node) recordEnding(m *machine, cause hypervisor.Cause, at time.Time) {
	if n.has(Partition) || n.has(DaemonKilled) || n.has(PowerLoss) {
		return
	}
	e := hypervisor.Ending{VM: m.VM, Stamp: m.Memory.Stamp, Cause: cause, At: at}
	if cause == hypervisor.CauseShutdown {
		e.Exit = cmp.Or(m.Memory.Exit, cluster.UnknownExit)
	}
	n.endings = append(n.endings, e)
	n.newEndings++
	n.touch()
	if extra := len(n.endings) - maxEndings; extra > 0 {
		n.endings = n.endings[extra:]
	}
}

// yield is the share of its demand that each running guest of the node gets: all, or a
// proportional share of the node's capacity.
func (n *node) yield() (num, den int64) {
	if n.demand <= n.Capacity.CPU {
		return 1, 1
	}
	return int64(n.Capacity.CPU), int64(n.demand)
}

// shownJob is the job that a look shows. While jobs are hidden, it is an earlier job or unknown.
func (n *node) shownJob(m *machine) hypervisor.Job {
	switch {
	case !n.has(JobsHidden):
		return m.Job
	case m.Job == hypervisor.JobNone && m.LastJob != hypervisor.JobNone:
		return m.LastJob
	default:
		return hypervisor.JobUnknown
	}
}

// nodes are the nodes, with the copies on them.
type nodes struct {
	touched *touched

	byID   map[cluster.NodeID]*node
	sorted []*node // by name
	copies map[cluster.VMID][]*machine
	locks  bool // see [Config]
}

// newNodes returns empty nodes.
func newNodes(cfg *Config, t *touched) *nodes {
	ns := &nodes{touched: t, byID: map[cluster.NodeID]*node{}, copies: map[cluster.VMID][]*machine{}, locks: cfg.Locks}
	for _, declared := range cfg.Nodes {
		n := newNode(declared, t)
		n.overcommits = cfg.Overcommits
		ns.byID[n.ID] = n
		ns.sorted = append(ns.sorted, n)
	}
	slices.SortFunc(ns.sorted, func(a, b *node) int { return cmp.Compare(a.ID, b.ID) })
	return ns
}

// of returns the node of a copy.
func (ns *nodes) of(m *machine) *node { return ns.byID[m.Node] }

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
	n := ns.of(m)
	if n.copies == nil { // on a large cluster most nodes are empty
		n.copies = map[cluster.VMID]*machine{}
	}
	n.copies[m.VM] = m
	n.touch()
	ns.touched.vms.add(m.VM)
	ns.copies[m.VM] = append(ns.copies[m.VM], m)
}

// remove removes a copy from its node.
func (ns *nodes) remove(m *machine) {
	delete(ns.of(m).copies, m.VM)
	ns.touched.vms.add(m.VM)
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
