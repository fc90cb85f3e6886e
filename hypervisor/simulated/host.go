package simulated

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// endingsKept is how many endings a node's driver remembers.
const endingsKept = 256

// host is one node.
type host struct {
	Node
	copies   map[cluster.VMID]*machine
	troubles [faultKinds]trouble
	queued   []int64 // calls that arrived, and effects that came due, while frozen
	endings  []hypervisor.Ending
	hinted   bool               // a hint waits for the end of the instant, or of a freeze
	listing  []hypervisor.Image // what looks show of its images while [StoreStale] is on

	overcommits bool // see [Config]

	load    cluster.MilliCPU // what the running guests would use
	touched bool
}

func newHost(n Node) *host {
	if n.Pool == "" {
		n.Pool = SharedPool
	}
	n.Strangers = slices.Sorted(slices.Values(n.Strangers))
	return &host{Node: n, copies: map[cluster.VMID]*machine{}}
}

// trouble is whether a lasting fault is on, and which one of its kind it is.
type trouble struct {
	On      bool  `json:"on"`
	Version int64 `json:"version"`
}

func (h *host) trouble(k FaultKind) trouble { return h.troubles[k] }

// has reports whether a lasting fault is on.
func (h *host) has(k FaultKind) bool { return h.troubles[k].On }

// up reports whether the node has power.
func (h *host) up() bool { return !h.has(PowerLoss) }

// answers is nil when the controller gets answers from the node.
func (h *host) answers() *failure {
	switch {
	case h.has(PowerLoss) || h.has(Partition):
		return failed(hypervisor.ErrUnreachable, "node %s: no route", h.ID)
	case h.has(DaemonKilled):
		return failed(hypervisor.ErrUnreachable, "node %s: connection refused", h.ID)
	case h.has(Freeze):
		return failed(hypervisor.ErrTimeout, "node %s: no answer to keepalive", h.ID)
	}
	return nil
}

// sorted lists the node's copies in order of VMs.
func (h *host) sorted() []*machine {
	list := make([]*machine, 0, len(h.copies))
	for _, id := range slices.SortedFunc(maps.Keys(h.copies), cluster.VMID.Compare) {
		list = append(list, h.copies[id])
	}
	return list
}

// memoryUsed counts every copy in full, whatever its state (I8).
func (h *host) memoryUsed() cluster.MiB {
	var sum cluster.MiB
	for _, m := range h.copies {
		sum += m.Mem.Spec.Reserved.Memory
	}
	return sum
}

// room is nil when the node can take that much more memory.
func (h *host) room(need cluster.MiB) *failure {
	free := h.Capacity.Memory
	if !h.overcommits {
		free -= h.memoryUsed()
	}
	if need > free {
		return failed(hypervisor.ErrNoRoom, "node %s: cannot allocate %s, %s are free", h.ID, need, free)
	}
	return nil
}

// Look lists what a node holds at a time. A frozen node is ErrTimeout at once:
// whoever has a clock decides how long that took.
func (c *Cluster) Look(now time.Time, node cluster.NodeID) (hypervisor.View, error) {
	c.run(now)
	h, ok := c.hosts[node]
	if !ok {
		return hypervisor.View{}, failed(cluster.ErrNotFound, "node %q", node)
	}
	if f := h.answers(); f != nil {
		return hypervisor.View{}, f
	}
	v := hypervisor.View{
		Node:      node,
		Copies:    make([]hypervisor.Copy, 0, len(h.copies)),
		Endings:   slices.Clip(h.endings), // what is in it never changes
		Strangers: slices.Clone(h.Strangers),
	}
	for _, m := range h.sorted() {
		c.accrue(m)
		v.Copies = append(v.Copies, hypervisor.Copy{
			VM: m.VM, Stamp: m.Mem.Stamp, State: m.State, Job: h.shown(m), Size: m.Mem.Spec.Reserved,
			CPU: m.Need, CPUTime: m.CPUTime, Cap: m.Cap, Lock: c.cfg.Locks && !m.Unlocked,
		})
	}
	return v, nil
}

// ended records how a guest left, when the node's daemon is there to tell (row
// 16b: a guest that dies while it is away leaves no event).
func (c *Cluster) ended(h *host, m *machine, cause hypervisor.Cause) {
	if h.has(Partition) || h.has(DaemonKilled) || h.has(PowerLoss) {
		return
	}
	h.endings = append(h.endings, hypervisor.Ending{VM: m.VM, Stamp: m.Mem.Stamp, Cause: cause, At: c.Now()})
	if extra := len(h.endings) - endingsKept; extra > 0 {
		h.endings = h.endings[extra:]
	}
}

// hint notes that something changed on a node.
func (c *Cluster) hint(h *host) {
	if !h.hinted {
		h.hinted = true
		c.dirty.hints = append(c.dirty.hints, h)
	}
}

// flushHints lets the hints of an instant out, at most one per node, unless the
// node cannot tell; a frozen one tells when it thaws. Some get lost or repeated.
func (c *Cluster) flushHints() {
	hinted := c.dirty.hints
	c.dirty.hints = nil
	slices.SortFunc(hinted, func(a, b *host) int { return cmp.Compare(a.ID, b.ID) })
	for _, h := range hinted {
		if h.has(Freeze) {
			continue
		}
		h.hinted = false
		if h.has(Partition) || h.has(DaemonKilled) || c.happens(c.cfg.Faults.HintLost) {
			continue
		}
		c.out = append(c.out, Happening{At: c.Now(), Hint: h.ID})
		if c.happens(c.cfg.Faults.HintRepeated) {
			c.plan(c.within(hintRepeatedWithin), event{Kind: evHint, Node: h.ID})
		}
	}
}
