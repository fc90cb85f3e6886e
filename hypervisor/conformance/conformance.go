// Package conformance is the suite that every hypervisor driver passes, the
// simulated one and the one for real hosts: what each verb does, what it leaves
// behind when it fails, is repeated or comes late, and what a look shows then.
//
// Each case quotes the measurement that it executes: rows M0-M14 (migration), E1-
// E5b, 6a-6f, 7h (save and restore), 16-18 (order, locks) of the reliability
// study, and "lab §4" to "lab §6" of the experiments with real hosts. Where the
// measurements allow several outcomes, so do the cases: they demand what a
// scheduler must be able to rely on, and log what they saw.
//
// It refuses to know how a driver works: a [Harness] tells how to make guests and
// how to break things.
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

// Harness is a driver under test and the means to test it.
type Harness struct {
	Driver hypervisor.Driver
	// Nodes are two or more; some cases need three.
	Nodes []cluster.NodeID
	// VJob is the number of the first vjob that the suite may use; it uses as many
	// as it has cases. 0 is 900000.
	VJob cluster.VJobID
	// Machine describes a guest. It must have Guest's memory and lifetime, and
	// count on its console if Counter is there.
	Machine func(Guest) *hypervisor.Machine
	// Memory is that of a small guest.
	Memory cluster.MiB
	// Huge is more memory than any node has; 0: that case cannot run here.
	Huge cluster.MiB
	// Life is how long a short-lived guest works before it shuts itself down.
	Life time.Duration
	// Counter reads the newest count from a guest's console; ok is false while
	// there is none. The count grows while the guest runs, stands still while it
	// does not, and starts again from nothing in a guest that is booted anew. nil:
	// progress is not checked.
	Counter func(console []byte) (count int64, ok bool)
	// Locks says that a lock manager guards the guests.
	Locks bool
	// Caps says that nodes can limit what a guest gets of CPU.
	Caps bool
	// Line types on the line of a guest and reads what it answers; nil: the guests of the
	// harness answer nothing there.
	Line func(line io.ReadWriter) error
	// Strangers are machines on Nodes that are none of ours; nil: none are there.
	Strangers map[cluster.NodeID][]string

	// Whims is how many calls of the whole suite may be refused once without a cause: a real
	// hypervisor refuses one call in some thousands so, and schedulers make it again.
	Whims int

	// CallTimeout is the deadline of each call.
	CallTimeout time.Duration
	// Patience is for how long the suite waits for something to become visible.
	Patience time.Duration
	// Poll is the pause between two looks.
	Poll time.Duration
	// Moment is for how long the suite watches that something does not happen.
	Moment time.Duration

	Hooks Hooks
}

// Guest is what a case wants to run.
type Guest struct {
	VM      cluster.VMID
	Members int
	Memory  cluster.MiB
	Lives   time.Duration // then it shuts itself down; 0: it runs until it is stopped
}

// Hooks break things. A nil one means that this cannot be done here: the cases
// that need it are not run, and listed as such.
type Hooks struct {
	// KillNode takes a node's power; ReviveNode brings it back, empty.
	KillNode, ReviveNode func(cluster.NodeID) error
	// FreezeNode stops a node's daemon; ThawNode lets it go on.
	FreezeNode, ThawNode func(cluster.NodeID) error
	// CutNode separates the driver from a node; JoinNode connects it again.
	CutNode, JoinNode func(cluster.NodeID) error
	// KillDaemon kills a node's daemon and starts it again.
	KillDaemon func(cluster.NodeID) error
	// FillDisk lets a node's image store have no space; EmptyDisk frees it.
	FillDisk, EmptyDisk func(cluster.NodeID) error
	// SlowStore lets restores that begin on a node take long enough to be seen several
	// times; FastStore lets those that begin later be fast again.
	SlowStore, FastStore func(cluster.NodeID) error
	// FailStore lets calls that use a node's image store fail; MendStore ends that.
	FailStore, MendStore func(cluster.NodeID) error
	// LoseStore mounts another file system, or none, where a node's image store should
	// be; FindStore mounts the store again.
	LoseStore, FindStore func(cluster.NodeID) error
	// RefuseLoads lets the hypervisor of a node load no image; AcceptLoads ends that.
	RefuseLoads, AcceptLoads func(cluster.NodeID) error
	// HideJobs lets a node answer looks, but not which jobs are under way; ShowJobs ends
	// that.
	HideJobs, ShowJobs func(cluster.NodeID) error
	// FlipImage damages the content of an image, TruncateImage its length.
	FlipImage, TruncateImage func(hypervisor.ImageID) error
	// KillGuest kills the process of a guest.
	KillGuest func(cluster.VMID, cluster.NodeID) error
	// CutMigration breaks the next migration of a VM between two nodes in its
	// memory phase.
	CutMigration func(vm cluster.VMID, from, to cluster.NodeID) error
	// LoseFinish lets the next migration of a VM lose its last reply.
	LoseFinish func(vm cluster.VMID, from, to cluster.NodeID) error
}

// caseOf is one case: the rows that it executes, what it needs, what it does.
type caseOf struct {
	name  string
	row   string
	nodes int // 0 is 2
	needs func(*Harness) bool
	run   func(*bench)
}

// Run runs the suite. It ends with a list of what could not be run.
func Run(t *testing.T, h Harness) {
	t.Helper()
	h = h.withDefaults(t)
	var missed []string
	job := h.VJob
	for _, tables := range [][]caseOf{
		lifeCases, saveCases, imageCases, restoreCases, loadingCases, migrateCases, nodeCases, capCases, attachCases,
	} {
		for _, c := range tables {
			job++
			name := c.name + " (" + c.row + ")"
			if why := h.lacks(&c); why != "" {
				t.Logf("NOT RUN: %s: %s", name, why)
				missed = append(missed, name)
				continue
			}
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
				b := &bench{T: t, h: &h, job: job}
				b.Cleanup(b.sweep)
				c.run(b)
			})
		}
	}
	if len(missed) > 0 {
		t.Logf("%d CASES WERE NOT RUN HERE:\n  %s", len(missed), strings.Join(missed, "\n  "))
	}
}

// lacks says why a case cannot run, or "".
func (h *Harness) lacks(c *caseOf) string {
	switch {
	case len(h.Nodes) < max(2, c.nodes):
		return fmt.Sprintf("needs %d nodes, there are %d", max(2, c.nodes), len(h.Nodes))
	case c.needs != nil && !c.needs(h):
		return "the harness has no means for it"
	}
	return ""
}

// withDefaults checks the harness and fills in what was left out.
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
