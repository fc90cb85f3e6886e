// Package conformance is the test suite that every hypervisor driver passes: what each verb does,
// its effects when it fails, is repeated or late, and what looks show then. A [Harness] says how
// to create guests and how to inject failures.
//
// The cases reproduce what libvirt and QEMU did on real hosts. Where these allow several outcomes, so
// do the cases: they check what a scheduler must be able to rely on, and log what they saw.
package conformance

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Harness is a driver under test, with what the suite needs to test it.
type Harness struct {
	Driver hypervisor.Driver
	// Nodes are two or more; some cases need three.
	Nodes []cluster.NodeID
	// VJob is the number of the first vjob that the suite may use, one for each case. 0 is
	// 900000.
	VJob cluster.VJobID
	// Machine describes a guest. It must have Guest's memory and lifetime, and count on its
	// console if Counter is set.
	Machine func(Guest) *hypervisor.Machine
	// Memory is the memory of a small guest.
	Memory cluster.MiB
	// Huge is more memory than any node has; 0 skips the case that needs it.
	Huge cluster.MiB
	// Life is how long a short-lived guest works before it shuts itself down.
	Life time.Duration
	// Counter reads the newest count from a guest's console; ok is false before the first. The
	// count grows only while the guest runs, and starts from 0 in a guest that is booted again.
	// If Counter is nil, progress is not checked.
	Counter func(console []byte) (count int64, ok bool)
	// Locks says that a lock manager protects the guests.
	Locks bool
	// Caps says that nodes can limit and weigh the CPU of a guest.
	Caps bool
	// Busy is the CPU that a busy guest of Machine demands, two of which crowd a node: see
	// Hooks.Squeeze. It is less than such a guest reserves, so that it is only seen when it was
	// measured. 0: there are no busy guests.
	Busy cluster.MilliCPU
	// Uses is a working set that Machine can give a guest; 0 if guests do not tell theirs.
	Uses cluster.MiB
	// Converse types on the interactive console of a guest and checks the answer; nil if the guests
	// of the harness do not answer there.
	Converse func(line io.ReadWriter) error
	// Unmanaged are the unmanaged machines on Nodes, or nil.
	Unmanaged map[cluster.NodeID][]string
	// Lacking is a node outside Nodes that lacks something of the hardware of guests that are booted on
	// the others; may be empty.
	Lacking cluster.NodeID

	// SpuriousRefusals is how many calls of the whole suite may be refused once without a cause: a real
	// hypervisor refuses one call in some thousands, and schedulers retry it.
	SpuriousRefusals int

	// CallTimeout is the deadline of each call.
	CallTimeout time.Duration
	// Patience is how long the suite waits for something to become visible.
	Patience time.Duration
	// Poll is the pause between two looks.
	Poll time.Duration
	// Moment is how long the suite watches that something does not happen.
	Moment time.Duration

	Hooks Hooks
}

// Guest is a guest of a case.
type Guest struct {
	VM      cluster.VMID
	Members int
	Memory  cluster.MiB
	Lives   time.Duration // then it shuts itself down; 0: it runs until stopped
	Exit    int           // of its work, if it shuts itself down
	Busy    bool          // it uses as much CPU as it gets, and counts
	Idle    bool          // it hardly uses CPU, and counts
	Uses    cluster.MiB   // its working set; 0: any
}

// Hooks inject failures. The cases that need a nil hook are skipped and listed.
type Hooks struct {
	// KillNode cuts a node's power; ReviveNode brings the node back, empty.
	KillNode, ReviveNode func(cluster.NodeID) error
	// FreezeNode stops a node's daemon; ThawNode lets it continue.
	FreezeNode, ThawNode func(cluster.NodeID) error
	// CutNode separates the driver from a node; JoinNode connects it again.
	CutNode, JoinNode func(cluster.NodeID) error
	// KillDaemon kills a node's daemon and starts it again.
	KillDaemon func(cluster.NodeID) error
	// FillDisk fills a node's image store; EmptyDisk frees it.
	FillDisk, EmptyDisk func(cluster.NodeID) error
	// SlowStore makes restores on a node so slow that several looks show them; FastStore ends
	// that for later restores.
	SlowStore, FastStore func(cluster.NodeID) error
	// FailStore makes calls that use a node's image store fail; MendStore ends that.
	FailStore, RepairStore func(cluster.NodeID) error
	// LoseStore mounts another file system, or none, in place of a node's image store; FindStore
	// mounts the store again.
	LoseStore, RestoreStore func(cluster.NodeID) error
	// RefuseLoads makes the hypervisor of a node refuse to load images; AcceptLoads ends that.
	RefuseLoads, AcceptLoads func(cluster.NodeID) error
	// HideJobs makes a node answer looks without the jobs of its copies; ShowJobs ends that.
	HideJobs, ShowJobs func(cluster.NodeID) error
	// FlipImage damages the content of an image, TruncateImage its length.
	FlipImage, TruncateImage func(hypervisor.ImageID) error
	// KillGuest kills the process of a guest.
	KillGuest func(cluster.VMID, cluster.NodeID) error
	// Squeeze lets a busy guest use only one processor of its node, the same for all; nil if one busy
	// guest fills a node.
	Squeeze func(cluster.VMID, cluster.NodeID) error
	// CutMigration breaks the next migration of a VM between two nodes in its
	// memory phase.
	CutMigration func(vm cluster.VMID, from, to cluster.NodeID) error
	// LoseFinish makes the next migration of a VM lose its last reply.
	LoseFinish func(vm cluster.VMID, from, to cluster.NodeID) error
}

// caseOf is one case.
type caseOf struct {
	name  string
	note  string // an invariant or scenario of docs/RELIABILITY.md, or what is special; may be empty
	nodes int    // 0 is 2
	needs func(*Harness) bool
	run   func(*caseRun)
}

// Run runs the suite. It ends with a list of the skipped cases.
func Run(t *testing.T, h Harness) {
	t.Helper()
	h = h.withDefaults(t)
	var missed []string
	job := h.VJob
	for _, tables := range [][]caseOf{
		lifeCases, saveCases, imageCases, restoreCases, loadingCases, migrateCases, nodeCases, tuneCases, demandCases, attachCases, platformCases,
	} {
		for _, c := range tables {
			job++
			name := c.name
			if c.note != "" {
				name += " (" + c.note + ")"
			}
			if why := h.missing(&c); why != "" {
				t.Logf("NOT RUN: %s: %s", name, why)
				missed = append(missed, name)
				continue
			}
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
				b := &caseRun{T: t, h: &h, job: job}
				b.Cleanup(b.sweep)
				c.run(b)
			})
		}
	}
	if len(missed) > 0 {
		t.Logf("%d CASES WERE NOT RUN HERE:\n  %s", len(missed), strings.Join(missed, "\n  "))
	}
}

// missing returns why a case cannot run, or "".
func (h *Harness) missing(c *caseOf) string {
	switch {
	case len(h.Nodes) < max(2, c.nodes):
		return fmt.Sprintf("needs %d nodes, there are %d", max(2, c.nodes), len(h.Nodes))
	case c.needs != nil && !c.needs(h):
		return "the harness has no hook for it"
	}
	return ""
}

// withDefaults checks the harness and fills in the defaults.
func (h Harness) withDefaults(t *testing.T) Harness {
	t.Helper()
	if h.Driver == nil || h.Machine == nil || h.Memory <= 0 || h.Life <= 0 {
		t.Fatal("conformance: a harness needs Driver, Machine, Memory and Life")
	}
	if h.VJob == 0 {
		h.VJob = 900000
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&h.CallTimeout, time.Minute},
		{&h.Patience, time.Minute},
		{&h.Poll, 50 * time.Millisecond},
		{&h.Moment, time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return h
}
