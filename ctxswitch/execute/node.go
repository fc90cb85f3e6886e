package execute

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/hypervisor"
)

// node is what the executor knows of one node.
type node struct {
	cluster.Node
	looks
	lastView
	// offLookEvery is how often a node is looked at that is being switched off or on, or is
	// off; 0: it is in use. See [PowerStates.Set].
	offLookEvery time.Duration
	offWatts     energy.Watts // what it draws then until it answers

	ops map[hypervisor.OpID]*op // calls under way here
	// arrived are the VMs that calls may have brought here and no look has shown yet, with the logical
	// times at which the calls ended: all since asOf.
	arrived map[cluster.VMID]uint64

	power    powerDraw
	answered bool           // this process saw it answer before this start, whose first look is still to come
	short    []cluster.VMID // the VMs that get less CPU here than they want; see [accounts.updateCrowding]
	report   *NodeReport    // the last one; nil: it differs from what would be reported now, or may
	outdated bool           // it is among those of [nodeReports]
}

// looks says how the looks at a node went.
type looks struct {
	seen      bool      // the last look succeeded
	tried     bool      // at least one look has ended since the start
	seenSince time.Time // when seen changed last
	problem   string
	lookEnded time.Time // of the last look
	alarmed   bool      // that it does not answer
	offered   bool      // it was not silent at the last change of what nodes offer

	looking   bool
	lookBegan uint64             // logical time of the look under way
	lookAgain bool               // something happened since it began
	missing   []hypervisor.Guest // to ask for in the next look
}

// lastView is what the last look at a node that succeeded showed.
type lastView struct {
	asOf      uint64 // logical time at which that look began
	copies    map[cluster.VMID]hypervisor.Copy
	vms       []cluster.VMID // with copies, in order; reports share the list
	locked    []cluster.VMID // of these, the ones that a lock protects; as vms
	endings   []hypervisor.Ending
	ended     []hypervisor.Ending // of these, the ones of vjobs that are live
	strangers []string            // machines that vjob does not manage
	warnings  []string
	software  string                // versions of the hypervisor
	platforms []hypervisor.Platform // kept while the node is silent or off
	class     string                // of nodes with equal platforms; "" if unknown
}

// newNode returns a node that is not known yet. Its maps are made when something comes to be in them: on a large cluster most nodes are
// empty.
func newNode(now time.Time) *node {
	return &node{looks: looks{seenSince: now}}
}

// set enters something into a map, which is made if need be.
func set[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// unsettled reports whether a call is under way here, or may have brought a VM that no look has shown yet.
func (n *node) unsettled() bool { return len(n.ops)+len(n.arrived) > 0 }

// silent reports whether the node does not answer and may hold VMs.
func (n *node) silent() bool { return !n.seen && !n.provenEmpty() }

// quiet reports whether nothing is awaited of the node: it answers, and is not being switched off or on.
func (n *node) quiet() bool { return n.seen && n.offLookEvery == 0 }

// provenEmpty reports whether nothing can be on the node, though it does not answer: it is
// proven dead, or it was empty when it was switched off.
func (n *node) provenEmpty() bool { return n.State == cluster.Down || n.offLookEvery > 0 && !n.seen }

// shows reports whether these are the copies that are known, but for the CPU and the
// memory that they need and use.
func (n *node) shows(copies []hypervisor.Copy) bool {
	for _, c := range copies {
		known := n.copies[c.VM]
		known.CPU, known.CPUTime, known.Memory = c.CPU, c.CPUTime, c.Memory
		if known != c {
			return false
		}
	}
	return len(copies) == len(n.copies)
}

// tuning reports whether a call that sets the cap and the weight of a VM is under way on the node.
func (n *node) tuning(id cluster.VMID) bool {
	for _, o := range n.ops {
		if o.call.Verb == hypervisor.Tune && o.call.VM == id {
			return true
		}
	}
	return false
}

// on reports whether a node draws power for being on: it answers, or nothing shows
// that it is off, or switched it off.
func (n *node) on() bool {
	return n.seen || n.offLookEvery == 0 && (n.State == cluster.Online || n.State == cluster.Draining)
}

// use is the CPU that a copy was last seen to use.
type use struct {
	vm  cluster.VMID
	cpu cluster.MilliCPU
}

// uses lists what the copies on a node use, in order of VMs: what they need, under their
// caps, though all of them may need more than there is. Paused ones use nothing, and are
// listed.
func (n *node) uses() (list []use, all cluster.MilliCPU) {
	for vm, c := range n.copies {
		u := use{vm: vm}
		if c.State == hypervisor.CopyRunning {
			u.cpu = c.CPU
			if c.Cap > 0 {
				u.cpu = min(u.cpu, c.Cap)
			}
		}
		list, all = append(list, u), all+u.cpu
	}
	slices.SortFunc(list, func(a, b use) int { return a.vm.Compare(b.vm) })
	return list, all
}

// demand is what the copies on the node demand: the CPU of those that run, and of all their working
// sets, or their sizes where these are unknown.
func (n *node) demand() (sum cluster.Resources) {
	for _, c := range n.copies {
		if c.State == hypervisor.CopyRunning {
			sum.CPU += c.CPU
		}
		if c.Memory > 0 {
			sum.Memory += c.Memory
		} else {
			sum.Memory += c.Size.Memory
		}
	}
	return sum
}

// list lists the copies anew.
func (n *node) list() {
	n.vms, n.locked = slices.SortedFunc(maps.Keys(n.copies), cluster.VMID.Compare), nil
	for _, vm := range n.vms {
		if n.copies[vm].Lock {
			n.locked = append(n.locked, vm)
		}
	}
}
