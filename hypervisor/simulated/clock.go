package simulated

import (
	"container/heap"
	"time"

	"vjob/cluster"
)

// simTime is virtual time since the cluster's start.
type simTime = time.Duration

// eventKind is the effect of an event.
type eventKind uint8

const (
	evFinish    eventKind = iota // operation Op takes effect
	evReply                      // the answer of operation Op is sent
	evLockWait                   // operation Op has waited too long for a copy's job
	evGiveUp                     // migration Op has waited too long for a frozen destination
	evGuest                      // the guest of VM on Node reaches the end of its step
	evFault                      // a random fault of a kind strikes
	evFaultEnds                  // a fault ends
	evHint                       // a hint about Node arrives once more
	evResume                     // call Op, which hung, continues
	evLoaded                     // the copy of VM on Node has loaded its memory, without a daemon
)

// event is a pending event.
type event struct {
	At      simTime        `json:"at"`
	Seq     int64          `json:"seq"`
	Kind    eventKind      `json:"kind"`
	Op      int64          `json:"op,omitempty"`
	VM      cluster.VMID   `json:"vm"`
	Node    cluster.NodeID `json:"node,omitempty"`
	Version int64          `json:"version,omitempty"` // of the guest or the node; an outdated event is void
	Fault   FaultKind      `json:"fault,omitempty"`
}

// eventQueue is a heap of events in order of time, then of creation.
type eventQueue []event

func (a eventQueue) Len() int { return len(a) }

func (a eventQueue) Less(i, j int) bool {
	if a[i].At != a[j].At {
		return a[i].At < a[j].At
	}
	return a[i].Seq < a[j].Seq
}

func (a eventQueue) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push is for container/heap.
func (a *eventQueue) Push(x any) { *a = append(*a, x.(event)) }

// Pop is for container/heap.
func (a *eventQueue) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}

// clock is virtual time, with the events to come.
type clock struct {
	touched *touched

	start  time.Time
	now    simTime
	seq    int64 // of the last event
	events eventQueue
}

// next returns the next event, or nil.
func (c *clock) next() *event {
	if len(c.events) == 0 {
		return nil
	}
	return &c.events[0]
}

// push adds an event.
func (c *clock) push(e event) { heap.Push(&c.events, e) }

// pop removes the next event and returns it.
func (c *clock) pop() event {
	e := heap.Pop(&c.events).(event)
	c.touched.over(&e)
	return e
}

// advance moves the present to a later time.
func (c *clock) advance(to simTime) { c.now = max(c.now, to) }

// schedule adds an event that happens after a while.
func (c *clock) schedule(in time.Duration, e event) {
	c.seq++
	e.At, e.Seq = c.now+max(in, 0), c.seq
	c.touched.scheduled(&e)
	c.push(e)
}

// time is the present.
func (c *clock) time() time.Time { return c.at(c.now) }

// at converts a virtual time.
func (c *clock) at(t simTime) time.Time { return c.start.Add(t) }

// due is the time at which an operation takes effect.
func (c *clock) due(op int64) simTime {
	for i := range c.events {
		if e := &c.events[i]; e.Kind == evFinish && e.Op == op {
			return e.At
		}
	}
	return c.now
}
