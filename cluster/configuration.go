package cluster

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Configuration is which VM is in which state on which node at one instant (thesis §6.1.2). The
// usage of nodes and the order of nodes and VMs are kept incrementally: sorting a hundred
// thousand of them would be slow. It is not safe for concurrent use.
type Configuration struct {
	table *nodeTable
	hosts []hosting // by index of the node
	lent  bool      // the hosts are those of another configuration too: they are copied before they change
	vjobs map[VJobID][]placement
	order []VJobID // of the vjobs
	vms   int
}

// hosting is the VMs of a node and the sum of their usage.
type hosting struct {
	used Resources
	// vms run or are paused here, in order. Copies of the configuration share the list: it is only appended to, and a copy
	// appends elsewhere.
	vms []VMID
}

func (h *hosting) add(vm VMID) {
	if last := len(h.vms) - 1; last >= 0 && vm.Compare(h.vms[last]) < 0 {
		h.vms = slices.Clip(h.vms)
	}
	h.vms = insert(h.vms, vm, VMID.Compare)
}

func (h *hosting) remove(vm VMID) {
	i, _ := slices.BinarySearchFunc(h.vms, vm, VMID.Compare)
	h.vms = slices.Concat(h.vms[:i], h.vms[i+1:])
}

// placement is the need, state and place of a VM. The placements of a vjob are in order of rank.
type placement struct {
	rank  int
	need  Resources
	state VMState
	node  NodeID // where it runs or is paused, or where its image is; "" if neither
}

// there reports whether the VM is on its node, and what it uses there: while paused only memory.
func (p *placement) there() (used Resources, ok bool) {
	switch p.state {
	case VMRunning:
		return p.need, true
	case VMPaused:
		return p.need.Paused(), true
	default:
		return Resources{}, false
	}
}

// NewConfiguration returns a configuration of nodes without VMs. Of nodes with the same name the last one holds.
func NewConfiguration(nodes ...Node) *Configuration {
	table := newNodeTable(nodes)
	return &Configuration{table: table, hosts: make([]hosting, len(table.nodes)), vjobs: map[VJobID][]placement{}}
}

// SetNode adds or replaces a node; its VMs stay. To add one costs as much as there are nodes.
func (c *Configuration) SetNode(n Node) {
	table, i, added := c.table.with(n)
	if c.table = table; added {
		c.ownHosts()
		c.hosts = slices.Insert(c.hosts, i, hosting{})
	}
}

// Node returns a node by name.
func (c *Configuration) Node(id NodeID) (Node, bool) {
	i, ok := c.table.index[id]
	if !ok {
		return Node{}, false
	}
	return c.table.nodes[i], true
}

// Nodes lists the nodes in order of names. The list must not be changed: configurations share it.
func (c *Configuration) Nodes() []Node { return c.table.list() }

// Index returns the place of a node in [Configuration.Nodes]. It changes when a node is added.
func (c *Configuration) Index(id NodeID) (i int, ok bool) {
	i, ok = c.table.index[id]
	return i, ok
}

// host returns the VMs of a node, or nil. The pointer is valid until a node is added.
func (c *Configuration) host(id NodeID) *hosting {
	if i, ok := c.table.index[id]; ok {
		return &c.hosts[i]
	}
	return nil
}

// ownHosts makes the hosts those of this configuration alone.
func (c *Configuration) ownHosts() {
	if !c.lent {
		return
	}
	c.hosts, c.lent = slices.Clone(c.hosts), false
	for i := range c.hosts {
		c.hosts[i].vms = slices.Clip(c.hosts[i].vms)
	}
}

// Size is how many VMs are known.
func (c *Configuration) Size() int { return c.vms }

// VMs lists the known VMs in order.
func (c *Configuration) VMs() []VMID {
	list := make([]VMID, 0, c.vms)
	for _, job := range c.order {
		for i := range c.vjobs[job] {
			list = append(list, VMID{VJob: job, Rank: c.vjobs[job][i].rank})
		}
	}
	return list
}

// Situation is what a VM needs while it runs, its state, and the node on which it runs or is paused, or where its image is.
type Situation struct {
	Need  Resources
	State VMState
	Node  NodeID // "": neither
}

// All yields the known VMs in order. It is faster than to ask for each.
func (c *Configuration) All() iter.Seq2[VMID, Situation] {
	return func(yield func(VMID, Situation) bool) {
		for _, job := range c.order {
			list := c.vjobs[job]
			for i := range list {
				p := &list[i]
				if !yield(VMID{VJob: job, Rank: p.rank}, Situation{p.need, p.state, p.node}) {
					return
				}
			}
		}
	}
}

// find returns the placement of a VM, or nil. The pointer is valid until the next change.
func (c *Configuration) find(id VMID) *placement {
	list := c.vjobs[id.VJob]
	if i, known := place(list, id.Rank); known {
		return &list[i]
	}
	return nil
}

// place is the index of a member in the list of its vjob, or the index for insertion. Mostly all
// members are in the list, so that index and rank are equal.
func place(list []placement, rank int) (i int, known bool) {
	if rank >= 0 && rank < len(list) && list[rank].rank == rank {
		return rank, true
	}
	return slices.BinarySearchFunc(list, rank, func(p placement, rank int) int { return cmp.Compare(p.rank, rank) })
}

// insert inserts a new element into a sorted list.
func insert[T any](list []T, x T, compare func(a, b T) int) []T {
	if len(list) == 0 || compare(list[len(list)-1], x) < 0 {
		return append(list, x)
	}
	i, _ := slices.BinarySearchFunc(list, x, compare)
	return slices.Insert(list, i, x)
}

// Expect makes room for so many VMs of a vjob that has none yet: it is faster to add them then.
func (c *Configuration) Expect(vjob VJobID, vms int) {
	if _, met := c.vjobs[vjob]; !met {
		c.vjobs[vjob] = make([]placement, 0, vms)
		c.order = insert(c.order, vjob, cmp.Compare)
	}
}

// SetWaiting records a VM that is on no node.
func (c *Configuration) SetWaiting(id VMID, need Resources) {
	c.set(id, placement{need: need, state: VMWaiting})
}

// SetRunning records a VM that runs on a node, whether or not it fits: see
// [Configuration.Violations]. It panics for an unknown node.
func (c *Configuration) SetRunning(id VMID, need Resources, node NodeID) {
	c.set(id, placement{need: need, state: VMRunning, node: node})
}

// SetPaused records a VM that is paused in the memory of a node; need is what it needs when it
// runs. It panics for an unknown node.
func (c *Configuration) SetPaused(id VMID, need Resources, node NodeID) {
	c.set(id, placement{need: need, state: VMPaused, node: node})
}

// SetSleeping records a suspended VM; node is where its image is, or "" if the image is equally
// near to every node.
func (c *Configuration) SetSleeping(id VMID, need Resources, node NodeID) {
	c.set(id, placement{need: need, state: VMSleeping, node: node})
}

// Remove removes a VM.
func (c *Configuration) Remove(id VMID) {
	list := c.vjobs[id.VJob]
	i, known := place(list, id.Rank)
	if !known {
		return
	}
	c.release(id, &list[i])
	c.vms--
	if len(list) > 1 {
		c.vjobs[id.VJob] = slices.Delete(list, i, i+1)
		return
	}
	delete(c.vjobs, id.VJob)
	at, _ := slices.BinarySearch(c.order, id.VJob)
	c.order = slices.Delete(c.order, at, at+1)
}

func (c *Configuration) set(id VMID, p placement) {
	used, there := p.there()
	if there {
		c.ownHosts()
	}
	h := c.host(p.node)
	if there && h == nil {
		panic(fmt.Sprintf("cluster: VM %s placed on unknown node %q", id, p.node))
	}
	p.rank = id.Rank
	list, met := c.vjobs[id.VJob]
	i, known := place(list, id.Rank)
	if known {
		c.release(id, &list[i])
		list[i] = p
	} else {
		c.vms++
		c.vjobs[id.VJob] = slices.Insert(list, i, p)
	}
	if !met {
		c.order = insert(c.order, id.VJob, cmp.Compare)
	}
	if there {
		h.used = h.used.Plus(used)
		h.add(id)
	}
}

// release removes a VM from its node, if it is on one.
func (c *Configuration) release(id VMID, p *placement) {
	if used, there := p.there(); there {
		c.ownHosts()
		h := c.host(p.node)
		h.used = h.used.Minus(used)
		h.remove(id)
	}
}

// State returns the state of a VM; ok is false if the VM is unknown.
func (c *Configuration) State(id VMID) (s VMState, ok bool) {
	p := c.find(id)
	if p == nil {
		return 0, false
	}
	return p.state, true
}

// Need returns what a VM needs while it runs, zero if it is unknown.
func (c *Configuration) Need(id VMID) Resources {
	if p := c.find(id); p != nil {
		return p.need
	}
	return Resources{}
}

// Host returns the node on which a VM runs; ok is false if it does not run.
func (c *Configuration) Host(id VMID) (node NodeID, ok bool) {
	p := c.find(id)
	if p == nil || p.state != VMRunning {
		return "", false
	}
	return p.node, true
}

// Place returns the node on which a VM runs or is paused, or where its image is, or "".
func (c *Configuration) Place(id VMID) NodeID {
	if p := c.find(id); p != nil {
		return p.node
	}
	return ""
}

// On lists the VMs that run or are paused on a node, in order.
func (c *Configuration) On(node NodeID) []VMID {
	if h := c.host(node); h != nil {
		return slices.Clone(h.vms)
	}
	return nil
}

// Used is what the VMs on a node use: the needs of running VMs and the memory of paused ones.
func (c *Configuration) Used(node NodeID) Resources {
	if h := c.host(node); h != nil {
		return h.used
	}
	return Resources{}
}

// Free is the free capacity of a node, negative if it is overloaded.
func (c *Configuration) Free(node NodeID) Resources {
	n, _ := c.Node(node)
	return n.Capacity.Minus(c.Used(node))
}

// Violations lists why the configuration is not viable: overloaded nodes, and VMs on nodes that
// are off. It does not check rules.
func (c *Configuration) Violations() []string {
	var list []string
	for i := range c.hosts {
		n, h := &c.table.nodes[i], &c.hosts[i]
		if !h.used.Fits(n.Capacity) {
			list = append(list, fmt.Sprintf("node %s: its VMs need %s, it has %s", n.ID, h.used, n.Capacity))
		}
		if len(h.vms) > 0 && (n.State == Offline || n.State == Down) {
			list = append(list, fmt.Sprintf("node %s: is %s and hosts %s", n.ID, n.State, Count(len(h.vms), "VM")))
		}
	}
	return list
}

// Viable reports whether the configuration has no violations.
func (c *Configuration) Viable() bool { return len(c.Violations()) == 0 }

// Lend lets copies be made at the same time, until the next change.
func (c *Configuration) Lend() {
	if !c.lent { // several may lend what is lent
		c.lent = true
	}
	c.table.share()
}

// Clone copies the configuration. It costs as much as there are VMs; what is there of nodes is shared until it changes.
func (c *Configuration) Clone() *Configuration {
	c.Lend()
	d := &Configuration{
		table: c.table, hosts: c.hosts, lent: true,
		vjobs: make(map[VJobID][]placement, len(c.vjobs)), order: slices.Clone(c.order), vms: c.vms,
	}
	// The placements are cut from one piece of memory, since a large cluster has many vjobs. A part that grows is moved.
	placements := make([]placement, 0, c.vms)
	for _, id := range c.order {
		placements, d.vjobs[id] = cut(placements, c.vjobs[id])
	}
	return d
}

// Same reports whether two configurations have the same nodes, with the same states and capacities, and the same VMs, with the same
// needs, states and places: whether their texts are equal, which takes longer to find out.
func (c *Configuration) Same(d *Configuration) bool {
	same := func(a, b Node) bool { return a.ID == b.ID && a.State == b.State && a.Capacity == b.Capacity }
	if c.vms != d.vms || !slices.EqualFunc(c.Nodes(), d.Nodes(), same) {
		return false
	}
	for id, list := range c.vjobs {
		if !slices.Equal(list, d.vjobs[id]) {
			return false
		}
	}
	return true
}

// cut appends a copy of some elements to a list and returns both. An append to the copy leaves the list alone.
func cut[T any](list, elements []T) (longer, copied []T) {
	at := len(list)
	longer = append(list, elements...)
	return longer, longer[at:len(longer):len(longer)]
}

// String is the canonical text form, for golden tests and bug reports: one line for each node
// with its VMs, then the VMs that are on no node.
//
//	n1 online 2 CPU, 3.6 GiB: 1.0 (1 CPU, 512 MiB), 1.1 paused (1 CPU, 512 MiB)
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
		state := c.find(id).state
		byState[state] = append(byState[state], id)
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
		p := c.find(id)
		fmt.Fprintf(b, " %s", id)
		if withPlace && p.node != "" {
			fmt.Fprintf(b, "@%s", p.node)
		}
		if p.state == VMPaused {
			b.WriteString(" paused")
		}
		fmt.Fprintf(b, " (%s)", p.need)
	}
	b.WriteByte('\n')
}
