package journal

import (
	"cmp"
	"fmt"
	"time"

	"vjob/cluster"
)

// AlarmID numbers alarms from 1.
type AlarmID int64

// AlarmKind is the kind of an alarm.
type AlarmKind string

// The kinds of alarms. docs/reference/alarms.md says what each means.
const (
	AlarmNodeSilent   AlarmKind = "node-silent"   // a node does not answer
	AlarmNodeStuck    AlarmKind = "node-stuck"    // a node does not go off or come up
	AlarmUnknownCopy  AlarmKind = "unknown-copy"  // a node has a VM of no live vjob
	AlarmImageStore   AlarmKind = "image-store"   // the image store cannot be read
	AlarmImageMissing AlarmKind = "image-missing" // an image of a suspended vjob cannot be seen
	AlarmImageKept    AlarmKind = "image-kept"    // the image store is newer than the database
	AlarmLost         AlarmKind = "lost"          // a vjob lost the memory of a VM, and does not run again yet
	AlarmGang         AlarmKind = "gang"          // a context switch of a vjob met what it does not expect
	AlarmCPULimit     AlarmKind = "cpu-limit"     // a node refuses the CPU limit of a VM
	AlarmDefect       AlarmKind = "defect"        // an invariant of a vjob does not hold: it is left alone
	AlarmCall         AlarmKind = "call"          // a call lasts much longer than expected
	AlarmFailover     AlarmKind = "failover"      // a lost node could not be made up for
	AlarmReservation  AlarmKind = "reservation"   // a reservation does not start in time
	AlarmQuarantine   AlarmKind = "quarantine"    // no decision can be taken with a vjob
	AlarmDecision     AlarmKind = "decision"      // no decision can be taken
	AlarmBudgets      AlarmKind = "budgets"       // stated power budgets do not hold
	AlarmPrices       AlarmKind = "prices"        // stated prices do not count
	AlarmPools        AlarmKind = "pools"         // stated pools do not hold
)

// AlarmKinds lists all kinds.
var AlarmKinds = []AlarmKind{
	AlarmNodeSilent, AlarmNodeStuck, AlarmUnknownCopy, AlarmImageStore, AlarmImageMissing, AlarmImageKept, AlarmLost, AlarmGang, AlarmCPULimit,
	AlarmDefect, AlarmCall, AlarmFailover, AlarmReservation, AlarmQuarantine, AlarmDecision, AlarmBudgets, AlarmPrices, AlarmPools,
}

// Condition is what an alarm is about, as it is at present. Two with the same kind and object are the same alarm.
type Condition struct {
	Kind AlarmKind      `json:"kind"`
	VJob cluster.VJobID `json:"vjob,omitempty"`
	VM   string         `json:"vm,omitempty"`
	Node cluster.NodeID `json:"node,omitempty"`
	Text string         `json:"text"`
}

// Object is what the condition concerns: "node n3", "VM 7.1 on n3", "vjob 7", or "cluster".
func (c *Condition) Object() string {
	switch {
	case c.VM != "":
		return fmt.Sprintf("VM %s on %s", c.VM, c.Node)
	case c.VJob != 0:
		return fmt.Sprintf("vjob %s", c.VJob)
	case c.Node != "":
		return fmt.Sprintf("node %s", c.Node)
	}
	return "cluster"
}

// Compare orders conditions by kind and object.
func (c *Condition) Compare(o *Condition) int {
	return cmp.Or(cmp.Compare(c.Kind, o.Kind), cmp.Compare(c.VJob, o.VJob), cmp.Compare(c.Node, o.Node), cmp.Compare(c.VM, o.VM))
}

// Next is what to do about the condition: a command, or where to look.
func (c *Condition) Next() string {
	switch c.Kind {
	case AlarmNodeSilent:
		return fmt.Sprintf("repair it; if it is dead and fenced: vjob nodes down %s --fenced", c.Node)
	case AlarmNodeStuck:
		return fmt.Sprintf("repair it, then: vjob nodes on %s", c.Node)
	case AlarmUnknownCopy:
		return fmt.Sprintf("find out how it was started; if it is not needed, delete the VM on %s", c.Node)
	case AlarmImageStore:
		return "mount it: docs/how-to/recover-the-image-store.md"
	case AlarmImageMissing:
		return fmt.Sprintf("mount the image store, or go back to other images: vjob restore %s", c.VJob)
	case AlarmImageKept:
		return "look at the kept images before you delete them: vjob images orphans"
	case AlarmLost:
		return fmt.Sprintf("find out why; if it is held: vjob restore %[1]s, or vjob release %[1]s to start from scratch", c.VJob)
	case AlarmGang, AlarmReservation:
		return fmt.Sprintf("vjob show %s", c.VJob)
	case AlarmCPULimit:
		return fmt.Sprintf("vjob show %s, and check its node: docs/explanation/demand.md", c.VJob)
	case AlarmDefect:
		return fmt.Sprintf("report this with the output of: vjob show %s", c.VJob)
	case AlarmCall:
		return fmt.Sprintf("see whether %s and the image store are well: vjob nodes show %s", c.Node, c.Node)
	case AlarmFailover:
		return "put nodes back: vjob nodes"
	case AlarmQuarantine:
		return fmt.Sprintf("report this; if it need not run: vjob delete %s", c.VJob)
	case AlarmDecision:
		return "check rules that were stated recently: vjob rules; report this"
	case AlarmBudgets:
		return "state them again: vjob budget set FILE"
	case AlarmPrices:
		return "state them again: vjob price set FILE"
	case AlarmPools:
		return "mend pools in the settings, or state them again: vjob pools"
	}
	return ""
}

// Alarm is a condition that needs an administrator, from when it was raised until its cause has ended.
type Alarm struct {
	ID AlarmID `json:"id"`
	Condition
	Since time.Time `json:"since"`          // when it was raised last
	Count int       `json:"count"`          // how often it was raised, with at most an hour between an end and the next time
	Ended time.Time `json:"ended,omitzero"` // zero: open
	// An administrator has acknowledged it. That is forgotten when it is raised again.
	AckedBy string    `json:"acked_by,omitempty"`
	AckedAt time.Time `json:"acked_at,omitzero"`
	Comment string    `json:"comment,omitempty"`
}

// AlarmFilter narrows a list of alarms. Zero fields do not narrow.
type AlarmFilter struct {
	Open   bool
	Kind   AlarmKind
	Before AlarmID // only alarms with a smaller number
	Limit  int
}
