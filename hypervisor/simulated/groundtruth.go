package simulated

import (
	"maps"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// ChangeKind is the kind of a change.
type ChangeKind uint8

// The changes.
const (
	Booted       ChangeKind = iota // a copy was created from scratch and runs
	Paused                         // a copy was stopped
	Unpaused                       // a copy runs on; MemoryEpoch must equal DiskEpoch (I2)
	SaveBegun                      // an image is being written
	Saved                          // an image is complete and its copy is gone
	Sealed                         // an image is durable
	Discarded                      // an image was deleted
	RestoreBegun                   // a copy is being made of an image and takes its memory
	Restored                       // a paused copy was made of an image
	Revoked                        // attempts up to Attempt to restore an image are void
	MigrateBegun                   // a copy takes memory on both ends
	Migrated                       // a copy went from Node to To
	Split                          // To has the VM, and Node still has it (M10-M14)
	Destroyed                      // a copy was removed
	Ended                          // a guest ended: Cause says how
	Lost                           // a copy vanished with its node's power
	ImageDamaged                   // an image was damaged
	FaultBegan                     // a lasting fault began on Node
	FaultEnded                     // a lasting fault ended on Node
)

var changeNames = [...]string{
	"booted", "paused", "unpaused", "save-begun", "saved", "sealed", "discarded", "restore-begun", "restored",
	"revoked", "migrate-begun", "migrated", "split", "destroyed", "ended", "lost", "spoiled", "troubled", "mended",
}

// String is the lower-case name.
func (k ChangeKind) String() string { return changeNames[k] }

// Change is one low-level change, for checkers. Its kind determines which fields are set.
type Change struct {
	At      time.Time
	Kind    ChangeKind
	VM      cluster.VMID
	Node    cluster.NodeID
	To      cluster.NodeID // Migrated, MigrateBegun, Split
	Image   hypervisor.ImageID
	Attempt int // RestoreBegun, Restored, Revoked
	Stamp   hypervisor.Stamp
	// MemoryEpoch and DiskEpoch are the epochs of the copy's or image's memory and
	// of the VM's disk, for Booted, Unpaused, Migrated and Split just before the
	// guest began to run and its start counted.
	MemoryEpoch int
	DiskEpoch   int
	Corrupt     bool // the memory concerned is damaged
	Incomplete  bool // Unpaused: the copy was incomplete
	Good        bool // Discarded: the image was complete and undamaged
	Cause       hypervisor.Cause
	Exit        cluster.ExitStatus // Ended; Lost: what the guest had told before
	Fault       FaultKind          // FaultBegan, FaultEnded
}

// Truth is the ground truth for checkers, whether or not nodes answer.
type Truth struct {
	Copies     []TrueCopy  // in order of VMs, then of nodes
	Images     []TrueImage // in order of names
	Nodes      []TrueNode  // in order of names
	DiskEpochs map[Disk]int
}

// TrueCopy is a copy and its memory.
type TrueCopy struct {
	VM          cluster.VMID
	Node        cluster.NodeID
	Stamp       hypervisor.Stamp
	State       hypervisor.CopyState
	Job         hypervisor.Job
	Incomplete  bool // its memory is incomplete
	MemoryEpoch int  // stale unless it equals the epoch of its disk
	Corrupt     bool
	Reserved    cluster.Resources
	CPU         cluster.MilliCPU // the current demand
	Cap         cluster.MilliCPU // 0 is no limit
	Ran         time.Duration    // how long this memory has run since the boot of the guest
	Hardware    *hypervisor.Hardware
}

// TrueImage is an image and its memory.
type TrueImage struct {
	ID          hypervisor.ImageID
	Node        cluster.NodeID
	Stamp       hypervisor.Stamp
	MemoryEpoch int
	Complete    bool
	Durable     bool
	Corrupt     bool
	Ran         time.Duration
	Hardware    *hypervisor.Hardware
}

// TrueNode is a node, its lasting faults and the memory that its copies take.
type TrueNode struct {
	ID         cluster.NodeID
	Capacity   cluster.Resources
	Faults     []FaultKind
	Boots      bool // it was switched on and will answer
	MemoryUsed cluster.MiB
	CPUNeeded  cluster.MilliCPU // the demand of running guests
	CPUUsed    cluster.MilliCPU // under their caps, at most the capacity of the node
	Platforms  []hypervisor.Platform
}

// Truth returns the ground truth at the current instant.
func (c *Cluster) Truth() Truth {
	t := Truth{DiskEpochs: maps.Clone(c.guests.epochs), Nodes: c.TrueNodes()}
	for _, id := range c.nodes.sortedVMs() {
		for _, n := range c.nodes.sorted {
			if m := n.copies[id]; m != nil {
				t.Copies = append(t.Copies, TrueCopy{
					VM: id, Node: n.ID, Stamp: m.Memory.Stamp, State: m.State, Job: m.Job, Incomplete: m.Incomplete, MemoryEpoch: m.Memory.Epoch,
					Corrupt: m.Memory.Corrupt, Reserved: m.Memory.Spec.Reserved, CPU: m.Demand, Cap: m.Cap, Ran: m.runTime(c.clock.now),
					Hardware: m.Memory.Hardware,
				})
			}
		}
	}
	for _, i := range c.store.sorted() {
		t.Images = append(t.Images, TrueImage{
			ID: i.ID, Node: i.Node, Stamp: i.Mem.Stamp, MemoryEpoch: i.Mem.Epoch, Complete: i.Complete,
			Durable: i.Durable, Corrupt: i.Mem.Corrupt || i.Rot > 0, Ran: i.Mem.RunTime, Hardware: i.Mem.Hardware,
		})
	}
	return t
}

// TrueNodes returns the nodes at the current instant, in order of names.
func (c *Cluster) TrueNodes() []TrueNode {
	list := make([]TrueNode, len(c.nodes.sorted))
	for i, n := range c.nodes.sorted {
		t := &list[i]
		*t = TrueNode{ID: n.ID, Capacity: n.Capacity, MemoryUsed: n.memoryUsed(), Boots: n.boots(c.clock), Platforms: n.Platforms}
		for k := range lastingKinds {
			if n.has(k) {
				t.Faults = append(t.Faults, k)
			}
		}
		for _, m := range n.copies {
			if m.State == hypervisor.CopyRunning {
				t.CPUNeeded += m.Demand
			}
		}
		t.CPUUsed = min(n.demand, n.Capacity.CPU)
	}
	return list
}

// Usage returns the number of nodes with copies, and of running guests that get less CPU than they demand.
func (c *Cluster) Usage() (nodes, unsatisfied int) {
	for _, n := range c.nodes.sorted {
		if len(n.copies) > 0 {
			nodes++
		}
		for _, m := range n.copies {
			if m.State == hypervisor.CopyRunning && m.Demand > 0 && !n.satisfies(m) {
				unsatisfied++
			}
		}
	}
	return nodes, unsatisfied
}
