package simulated

import (
	"container/heap"
	"time"

	"vjob/cluster"
)

// moment is virtual time since the cluster's start.
type moment = time.Duration

// eventKind says what an event does when its time has come.
type eventKind uint8

const (
	evFinish   eventKind = iota // operation Op takes effect
	evReply                     // the prepared answer of operation Op leaves
	evLockWait                  // operation Op has waited too long for a copy's job
	evGiveUp                    // migration Op has waited too long for a frozen destination
	evGuest                     // the guest of VM on Node reaches the end of its step
	evFault                     // a random fault of a kind strikes
	evMend                      // a fault ends
	evHint                      // a hint about Node arrives once more
	evWake                      // call Op, which hung, goes on
	evLoaded                    // the memory of the copy of VM on Node is there, and no daemon tells
)

// event is one entry of the agenda.
type event struct {
	At      moment         `json:"at"`
	Seq     int64          `json:"seq"`
	Kind    eventKind      `json:"kind"`
	Op      int64          `json:"op,omitempty"`
	VM      cluster.VMID   `json:"vm"`
	Node    cluster.NodeID `json:"node,omitempty"`
	Version int64          `json:"version,omitempty"` // of the guest's or the node's expectation; an old one is void
	Fault   FaultKind      `json:"fault,omitempty"`
}

// agenda is a heap of events in order of time, then of creation.
type agenda []event

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	if a[i].At != a[j].At {
		return a[i].At < a[j].At
	}
	return a[i].Seq < a[j].Seq
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push is for container/heap.
func (a *agenda) Push(x any) { *a = append(*a, x.(event)) }

// Pop is for container/heap.
func (a *agenda) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}

// plan puts an event on the agenda.
func (c *Cluster) plan(in time.Duration, e event) {
	c.seq++
	e.At, e.Seq = c.now+max(in, 0), c.seq
	heap.Push(&c.agenda, e)
}

// void reports whether an event has lost its meaning.
func (c *Cluster) void(e *event) bool {
	switch e.Kind {
	case evGuest:
		m := c.hosts[e.Node].copies[e.VM]
		return m == nil || m.Version != e.Version
	case evReply:
		return c.ops[e.Op] == nil
	case evLoaded:
		m := c.hosts[e.Node].copies[e.VM]
		return m == nil || m.Load == nil || m.Load.Op != e.Op
	case evFinish, evLockWait, evGiveUp, evWake:
		op := c.ops[e.Op]
		return op == nil || op.Over
	case evMend:
		return c.hosts[e.Node].trouble(e.Fault).Version != e.Version
	default:
		return false
	}
}
