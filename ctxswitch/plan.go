// Package ctxswitch computes the cluster-wide context switch: from a configuration and the
// desired states of vjobs to a target configuration, and from there to a plan of actions that is
// feasible at every instant.
//
// Everything here is a function of its inputs: the same problem gives the same plan, byte for
// byte. The subpackages carry plans out: gang is the protocol of one vjob, execute drives all of
// them.
//
// To read it: [Repacker.Plan] sorts the problem out (survey.go, paused.go), builds an instance of
// the bin repacking problem (instance_builder.go, rules.go), has package repack/solve search, and
// adds gangs and dependencies to the solution (plan_builder.go, plan_builder_paused.go). [Check]
// and the files check_*.go verify a plan against its problem, independently of the planner: Check judges
// every interleaving of the actions that After permits. repack.Check judges a plan at the one timing that it
// states, so each of the two finds faults that the other cannot see. A [Packing] answers the admission tests of queue policies with the same instance (packing.go,
// packing_paused.go) and a prefilter for long queues (applicants.go, prefilter.go).
package ctxswitch

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
)

// Planner solves a [Problem], see [Repacker]. [Check] verifies plans independently of the
// planner.
type Planner interface {
	// Plan returns the best plan found before the effort is spent. When there is
	// none the error is a *NoPlan, which says what stands in the way.
	Plan(p Problem) (Plan, error)
}

// Problem is everything that a plan depends on.
type Problem struct {
	Current *cluster.Configuration // nodes, VMs, needs as they count now
	Nodes   *Nodes                 // of Current, if they are kept; else they are made
	Rules   []placement.Rules      // of the cluster and of vjobs
	// Avoid has nodes that a VM is kept off as long as there is another for it.
	Avoid map[cluster.VMID][]cluster.NodeID
	// Incompatible has the nodes that cannot run a VM as it was booted, in order: it never comes to them,
	// not even in passing. VMs with the same nodes should share one list.
	Incompatible map[cluster.VMID][]cluster.NodeID
	Gangs        []Goal // what is wanted of the vjobs that may be touched, in priority order
	// Next holds the need of VMs that differs once the plan is carried out, e.g.
	// of a vjob that is about to run with more CPU than it uses now. A VM that
	// keeps running counts with the larger of both from the first instant on; so
	// room that it gives back by needing less is there for the next plan.
	Next map[cluster.VMID]cluster.Resources
	// Claims is room that is spoken for by actions under way: it counts as used
	// from the first instant to the last.
	Claims map[cluster.NodeID]cluster.Resources
	// Pinned VMs are not touched; they count where they are.
	Pinned map[cluster.VMID]bool
	// Unsavable vjobs cannot be saved to disk: none of their VMs moves by way of an image.
	Unsavable map[cluster.VJobID]bool
	// Live says which VMs may be migrated while they run, because a lock prevents
	// two writers. The gang of any other is paused for the move.
	Live  map[cluster.VMID]bool
	Costs Costs
	// Network is what transfers share; nil: they last as long as the costs say, however
	// many there are.
	Network   *Network
	Transfers Transfers   // how many of them nodes carry at once
	Power     *Power      // what the plan may draw; nil: as much as it likes. See [KeepBudgets].
	Feeds     *PowerFeeds // what places leave of power; nil: no limit
	// Places are where VMs are to be in the end that run, or shall; of others the planner
	// chooses.
	Places map[cluster.VMID]cluster.NodeID
	Seed   uint64
}

// Goal is what is wanted of one vjob: a stable state for all its members. The
// members are the VMs of the vjob that the current configuration knows. VMs of
// vjobs without a goal are not touched, as if they were pinned. A vjob that is
// wanted paused or sleeping and is on no node stays as it is.
//
// What stands still in memory goes on where it is or not at all: its VMs are never
// migrated, and to come elsewhere it is saved first.
type Goal struct {
	VJob cluster.VJobID
	Want cluster.VMState // VMRunning, VMPaused, VMSleeping or VMTerminated
}

// ActionID numbers the actions of one plan from 0.
type ActionID int

// Action changes one VM. Times are estimates from the start of the plan. An
// action waits for actions with lower numbers only.
type Action struct {
	ID    ActionID           `json:"id"`
	Kind  cluster.ActionKind `json:"kind"`
	VM    cluster.VMID       `json:"vm"`
	From  cluster.NodeID     `json:"from,omitempty"` // where it is, or its image lies
	To    cluster.NodeID     `json:"to,omitempty"`   // where it will be
	Live  bool               `json:"live,omitempty"` // Migrate: without pausing the gang
	Rate  cluster.Rate       `json:"rate,omitempty"` // Migrate, Resume: what it keeps to on its links; 0 is no limit
	After []ActionID         `json:"after,omitempty"`
	Start time.Duration      `json:"start_ns"`
	End   time.Duration      `json:"end_ns"`
	Cost  int64              `json:"cost"` // local cost k, thesis table 8.3, in MiB
}

// Gang is the actions of one kind on one vjob that are carried out together
// (thesis §9.1.2), in rank order. Every action is in exactly one gang.
//
// All actions of a gang wait for the same actions and start together, except that
// transfers wait for a slot on their nodes, in rank order, while the vjob is paused;
// only the live migrations of a vjob, which share a gang as well, go one by one as
// room appears, and one VM may make two hops there. The room that a suspended or
// paused gang leaves is free when all its actions have ended; of one that stays in
// memory that is its CPU.
//
// A vjob can have several gangs in one plan, for instance one that suspends and
// one that resumes it to break a cycle; they follow each other.
type Gang struct {
	VJob    cluster.VJobID     `json:"vjob"`
	Kind    cluster.ActionKind `json:"kind"`
	Actions []ActionID         `json:"actions"`
	Cause   *cluster.Cause     `json:"cause,omitzero"` // why the decision wants it
}

// Plan is a context switch: dependency-ordered actions, feasible at every
// instant as long as each starts only after those it names in After have ended.
type Plan struct {
	Actions  []Action      `json:"actions"` // indexed by ActionID
	Gangs    []Gang        `json:"gangs"`   // in order of their first start
	Cost     int64         `json:"cost"`    // K of thesis eq. 8.1, in MiB
	Makespan time.Duration `json:"makespan_ns"`
	// Leaves are rules that are broken and stay so: what runs cannot keep them, and the
	// plan comes as close as it can.
	Leaves []string `json:"leaves,omitempty"`
	// Dropped are the preferred rules that are broken at the end, because no plan keeps all of them.
	Dropped []DroppedRule `json:"dropped,omitempty"`
	// Target is the configuration that the plan leads to.
	Target *cluster.Configuration `json:"-"`
}

// DroppedRule is a preferred rule that a plan breaks.
type DroppedRule struct {
	Rule   string `json:"rule"`
	Breach string `json:"breach"` // the first breach
	Why    string `json:"why"`    // why not all preferred rules can be kept
}

// String says what is dropped and why.
func (d DroppedRule) String() string {
	return fmt.Sprintf("%s is dropped: %s, because %s", d.Rule, d.Breach, d.Why)
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Actions) == 0 }

// NoPlan says why there is no plan. Without the goal of its vjob there may be one.
type NoPlan struct { //nolint:errname // it is a verdict before it is an error, and reads as one
	VJob   cluster.VJobID // the first vjob with a goal that cannot be met; 0 if no single one is at fault
	Reason string
	// Also holds the other vjobs that do not fit beside those before them, each with its reason.
	Also []*NoPlan
	// Unclear: the goal that prevents a plan is unknown. VJob is the last vjob: it can wait.
	Unclear bool
}

// Error is the reason.
func (e *NoPlan) Error() string { return "no plan: " + e.Reason }

// gives reports whether a plan says of a rule that it is left broken or dropped.
func (p *Plan) gives(rule string) bool {
	return slices.Contains(p.Leaves, rule) || slices.ContainsFunc(p.Dropped, func(d DroppedRule) bool { return d.Rule == rule })
}
