// Package nodepower switches nodes off and on. [Policy] decides which nodes should be on: it
// switches off what the rules of package energy/dpm find idle, wakes nodes for vjobs that wait
// for room or have a reservation, and leaves alone what administrators have ordered.
// [Controller] carries it out: it takes each node through the phases of package
// energy/power/cycle and queues the calls for the power drivers, which are made once the step
// of the loop is committed.
package nodepower

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/energy"
	"vjob/energy/dpm"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
)

// PolicySettings say when nodes are switched.
type PolicySettings struct {
	dpm.Settings
	Every time.Duration // between two reviews of all nodes
	// Boot is expected of nodes of which no power model is known.
	Boot time.Duration
}

// Parts are what a policy looks at and acts on.
type Parts struct {
	Exec       *execute.Executor
	Controller *Controller
	Power      Power
	Models     map[cluster.NodeID]energy.Power
	// Propose asks for approval to switch a node; nil if no approval is needed.
	Propose func(id cluster.NodeID, want cycle.Want, why string)
	Margin  time.Duration // by which room for reservations is cleared before they begin
	Seed    uint64
	Past    *dpm.History // of the demand of VMs
}

// Power tells of the limits of power. Package powercap implements it.
type Power interface {
	// Limited reports whether any limit holds.
	Limited() bool
	// Affords reports whether the limits leave the power for switching a node on.
	Affords(id cluster.NodeID) bool
}

// Scene is the situation at one instant.
type Scene struct {
	Now     time.Time
	Decided bool             // a decision has just been taken
	Waiting []cluster.VJobID // those that wait for room, in order
	// Short is what is missing for the loss of nodes, in words; "" if nothing.
	Short string
	View  func() *decide.Variant // what a decision would see now, to try things out on
}

// Policy decides which nodes should be on. After a restart nothing goes off before demand is known again. Not safe
// for concurrent use.
type Policy struct {
	settings PolicySettings
	Parts
	next  time.Time // review
	again time.Time // when a decision is wanted
	// handed are nodes that become empty, with the end of the wait for that.
	handed map[cluster.NodeID]time.Time
}

// NewPolicy makes a policy.
func NewPolicy(s *PolicySettings, h Parts) *Policy {
	return &Policy{settings: *s, Parts: h, handed: map[cluster.NodeID]time.Time{}}
}

// Next returns when the next review of all nodes is due; zero before the first turn.
func (k *Policy) Next() time.Time { return k.next }

// Tend wakes nodes after a decision, and reviews all nodes periodically. It returns when it wants a
// decision because of a reservation; zero is never.
func (k *Policy) Tend(s *Scene) (again time.Time) {
	k.again = time.Time{}
	if k.next.IsZero() {
		k.next = s.Now.Add(k.settings.Every)
	}
	if s.Decided {
		k.wake(s)
		k.replenish(s)
		k.shed(s)
	}
	k.dismiss(s)
	if !s.Now.Before(k.next) {
		k.next = s.Now.Add(k.settings.Every)
		k.review(s)
	}
	return k.again
}

// Samples returns the running VMs with their demands; a container stands for the vjobs inside.
func Samples(exec *execute.Executor) (list []dpm.Sample) {
	for _, r := range exec.Begun() {
		if r.Record.Phase == gang.Absent || r.Record.Phase == gang.Saved || r.Job.Inner != 0 {
			continue
		}
		for rank, m := range r.Record.Members {
			if vm := r.Job.VMs[rank].ID; m.Node != "" && !m.Ended {
				list = append(list, dpm.Sample{VM: vm, Node: m.Node, CPU: exec.VMs.Demand(vm)})
			}
		}
	}
	return list
}

// switchable returns the record of a node that power management may switch; otherwise nil.
func (k *Policy) switchable(id cluster.NodeID) *cycle.Record {
	if r := k.Controller.Record(id); r != nil && r.By == "" {
		return r
	}
	return nil
}
