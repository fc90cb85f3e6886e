package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Configuration says which VM is in which state on which node at one instant
// (thesis §6.1.2). Usage per node is kept incrementally. It is not safe for
// concurrent use.
type Configuration struct {
	nodes map[NodeID]*hosting
	vms   map[VMID]*placement
}

// hosting is a node with the sum of what its running VMs need.
type hosting struct {
	node Node
	used Resources
	vms  map[VMID]struct{} // running here
}

// placement is a VM's need, state and place.
type placement struct {
	need  Resources
	state VMState
	node  NodeID // where it runs, or where its image lies; "" when neither
}

// NewConfiguration is a cluster of nodes without VMs.
func NewConfiguration(nodes ...Node) *Configuration {
	c := &Configuration{nodes: map[NodeID]*hosting{}, vms: map[VMID]*placement{}}
	for _, n := range nodes {
		c.SetNode(n)
	}
	return c
}

// Name is how messages call the configuration.
func (c *Configuration) Name() string {
	return fmt.Sprintf("configuration of %d nodes and %d VMs", len(c.nodes), len(c.vms))
}

// SetNode adds a node or replaces what is known of it; its VMs stay.
func (c *Configuration) SetNode(n Node) {
	if h, ok := c.nodes[n.ID]; ok {
		h.node = n
		return
	}
	c.nodes[n.ID] = &hosting{node: n, vms: map[VMID]struct{}{}}
}

// Node returns a node by name.
func (c *Configuration) Node(id NodeID) (Node, bool) {
	h, ok := c.nodes[id]
	if !ok {
		return Node{}, false
	}
	return h.node, true
}

// Nodes lists the nodes in order of their names.
func (c *Configuration) Nodes() []Node {
	list := make([]Node, 0, len(c.nodes))
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		list = append(list, c.nodes[id].node)
	}
	return list
}

// VMs lists the known VMs in order.
func (c *Configuration) VMs() []VMID {
	return slices.SortedFunc(maps.Keys(c.vms), VMID.Compare)
}

// SetWaiting records a VM that is on no node.
func (c *Configuration) SetWaiting(id VMID, need Resources) {
	c.set(id, placement{need: need, state: VMWaiting})
}

// SetRunning records a VM that runs on a node. Whether it fits is another
// question: see [Configuration.Violations]. An unknown node is a broken invariant.
func (c *Configuration) SetRunning(id VMID, need Resources, node NodeID) {
	c.set(id, placement{need: need, state: VMRunning, node: node})
}

// SetSleeping records a suspended VM; node is where its image lies, or "" when
// the image is as near to every node.
func (c *Configuration) SetSleeping(id VMID, need Resources, node NodeID) {
	c.set(id, placement{need: need, state: VMSleeping, node: node})
}

// Remove forgets a VM.
func (c *Configuration) Remove(id VMID) {
	c.release(id)
	delete(c.vms, id)
}

func (c *Configuration) set(id VMID, p placement) {
	c.release(id)
	if p.state == VMRunning {
		h, ok := c.nodes[p.node]
		if !ok {
			panic(fmt.Sprintf("cluster: VM %s placed on unknown node %q", id, p.node))
		}
		h.used = h.used.Plus(p.need)
		h.vms[id] = struct{}{}
	}
	c.vms[id] = &p
}

func (c *Configuration) release(id VMID) {
	if p, ok := c.vms[id]; ok && p.state == VMRunning {
		h := c.nodes[p.node]
		h.used = h.used.Minus(p.need)
		delete(h.vms, id)
	}
}

// State returns the state of a VM; ok is false when the VM is not known.
func (c *Configuration) State(id VMID) (s VMState, ok bool) {
	p, ok := c.vms[id]
	if !ok {
		return 0, false
	}
	return p.state, true
}

// Need returns what a VM needs, zero when it is not known.
func (c *Configuration) Need(id VMID) Resources {
	if p, ok := c.vms[id]; ok {
		return p.need
	}
	return Resources{}
}

// Host returns the node on which a VM runs; ok is false when it does not run.
func (c *Configuration) Host(id VMID) (node NodeID, ok bool) {
	p, known := c.vms[id]
	if !known || p.state != VMRunning {
		return "", false
	}
	return p.node, true
}

// Place returns the node on which a VM runs or its image lies, or "".
func (c *Configuration) Place(id VMID) NodeID {
	if p, ok := c.vms[id]; ok {
		return p.node
	}
	return ""
}

// On lists the VMs that run on a node, in order.
func (c *Configuration) On(node NodeID) []VMID {
	h, ok := c.nodes[node]
	if !ok {
		return nil
	}
	return slices.SortedFunc(maps.Keys(h.vms), VMID.Compare)
}

// Used is the sum of the needs of the VMs that run on a node.
func (c *Configuration) Used(node NodeID) Resources {
	if h, ok := c.nodes[node]; ok {
		return h.used
	}
	return Resources{}
}

// Free is what a node can still give; negative where it is overloaded.
func (c *Configuration) Free(node NodeID) Resources {
	if h, ok := c.nodes[node]; ok {
		return h.node.Capacity.Minus(h.used)
	}
	return Resources{}
}

// Violations says, in order, why the configuration is not viable: overloaded
// nodes, and VMs on nodes that are off. None means viable, as far as no rule is
// broken.
func (c *Configuration) Violations() []string {
	var list []string
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		h := c.nodes[id]
		if !h.used.Fits(h.node.Capacity) {
			list = append(list, fmt.Sprintf("node %s: its VMs need %s, it has %s", id, h.used, h.node.Capacity))
		}
		if len(h.vms) > 0 && (h.node.State == Offline || h.node.State == Down) {
			list = append(list, fmt.Sprintf("node %s: is %s and hosts %d VMs", id, h.node.State, len(h.vms)))
		}
	}
	return list
}

// Viable reports whether every node can give its VMs what they need.
func (c *Configuration) Viable() bool { return len(c.Violations()) == 0 }

// Clone copies the configuration.
func (c *Configuration) Clone() *Configuration {
	d := &Configuration{
		nodes: make(map[NodeID]*hosting, len(c.nodes)),
		vms:   make(map[VMID]*placement, len(c.vms)),
	}
	for id, h := range c.nodes {
		d.nodes[id] = &hosting{node: h.node, used: h.used, vms: maps.Clone(h.vms)}
	}
	for id, p := range c.vms {
		q := *p
		d.vms[id] = &q
	}
	return d
}

// String is the canonical text form, for golden tests and bug reports: one line
// per node with its VMs, then the VMs that do not run.
//
//	n1 online 2 CPU, 3.6 GiB: 1.0 (1 CPU, 512 MiB), 1.1 (1 CPU, 512 MiB)
//	waiting: 2.0 (1 CPU, 1 GiB)
//	sleeping: 3.0@n1 (1 CPU, 1 GiB)
func (c *Configuration) String() string {
	var b strings.Builder
	for _, n := range c.Nodes() {
		fmt.Fprintf(&b, "%s %s %s:", n.ID, n.State, n.Capacity)
		writeVMs(&b, c, c.On(n.ID), false)
	}
	byState := map[VMState][]VMID{}
	for _, id := range c.VMs() {
		byState[c.vms[id].state] = append(byState[c.vms[id].state], id)
	}
	for _, s := range []VMState{VMWaiting, VMSleeping, VMTerminated} {
		if len(byState[s]) > 0 {
			fmt.Fprintf(&b, "%s:", s)
			writeVMs(&b, c, byState[s], true)
		}
	}
	return b.String()
}

func writeVMs(b *strings.Builder, c *Configuration, ids []VMID, withPlace bool) {
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		p := c.vms[id]
		fmt.Fprintf(b, " %s", id)
		if withPlace && p.node != "" {
			fmt.Fprintf(b, "@%s", p.node)
		}
		fmt.Fprintf(b, " (%s)", p.need)
	}
	b.WriteByte('\n')
}
