package repack

import "fmt"

// Rule is a placement rule: its meaning is in one place. Check and Post share no
// code, so that each can be tested against the other.
type Rule interface {
	// String is the rule in the notation of the paper: "spread({VM 1, VM 2})".
	fmt.Stringer
	// Check reports every breach: by the final configuration, and at any instant if
	// the rule is a continuous one.
	Check(t *Timeline) []Breach
	// Post hands the rule to a solver.
	Post(b ConstraintStore)
}

// Amender is a rule that changes what is wanted before anything is searched: the
// state of VMs and nodes, demands, capacities. It must replace slices that it
// changes, not write into them. Its error is a contradiction: no plan exists.
type Amender interface {
	Amend(in *Instance) error
}

// Breach is one way in which a plan breaks a rule.
type Breach struct {
	Text string // in words, without the rule: "VM 3 and VM 4 end on node 7"
	At   Ticks  // since when; Forever for the final configuration
	More int    // how many further breaches the text stands for
}

// ConstraintStore is what a solver offers to the rules of its instance. All methods are
// called before the search begins.
type ConstraintStore interface {
	Instance() *Instance
	// Forbid keeps a VM from ending on a node, and in passing too if always.
	Forbid(vm, node int, always bool)
	// Confine keeps VMs from ending elsewhere than on these nodes, and from passing
	// elsewhere if always. Where a VM runs at first it may leave.
	Confine(vms, nodes []int, always bool)
	// Limit bounds how many of the nodes are online at the end, and at every instant if
	// always. A node is online until its NodeOff has ended and from the start of its NodeOn.
	// The solver may switch off nodes with the wanted state AnyState; a guard has to ensure
	// that enough of them can be empty.
	Limit(nodes []int, most int, always bool)
	// Root keeps a VM from migrating.
	Root(vm int)
	// Guard has the breaches of a rule counted while VMs get their final nodes.
	Guard(g Guard, s Scope)
	// Watch has arrivals judged along the plan.
	Watch(w Watch, s Scope)
	// Gate has the start of actions judged along the plan.
	Gate(g Gate, vms []int)
	// Together makes the migrations of the VMs start at one instant, or end at one: none
	// of them migrates twice.
	Together(vms []int, atEnd bool)
	// Due bounds the start and the end of the action of a VM; Forever is no bound.
	Due(vm int, start, end Ticks)
}

// Scope says which moves concern a rule: of these VMs, from or to these nodes.
// Nil is all.
type Scope struct {
	VMs   []int
	Nodes []int
}

// Guard counts the breaches of a rule's discrete form. At first every VM is
// nowhere; VMs that do not end up running stay there. It depends on the present
// placement only and not on how it came about, so that moves can be undone.
type Guard interface {
	// Delta is how the number of breaches changes if the VM goes from one node, or
	// from nowhere, to another, or nowhere. It changes nothing.
	Delta(vm, from, to int) int
	// Move records that the VM has moved.
	Move(vm, from, to int)
}

// Watch judges arrivals at every instant, for a rule's continuous form. A migrating VM is on
// both nodes. At first every running VM comes to its host, without Admits. Like a guard it
// depends only on where VMs are, so a solver can undo a schedule by letting VMs come and go.
type Watch interface {
	// Admits reports whether the VM may come to the node as things stand.
	Admits(vm, node int) bool
	Come(vm, node int)
	Go(vm, node int)
}

// Gate judges starts, for rules on the order of actions.
type Gate interface {
	// Begin begins a schedule: to is the node on which each VM will end, Nowhere if it will
	// not run. The gate forgets earlier schedules.
	Begin(to []int)
	// May reports whether the action may start now.
	May(vm int, kind Kind, now Ticks) bool
	Started(vm int, kind Kind, now Ticks)
	// Undo takes back a start: of those that are not taken back, the last.
	Undo(vm int, kind Kind)
	Ended(vm int, kind Kind, now Ticks)
}
