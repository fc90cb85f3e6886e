package repack

import (
	"fmt"
	"slices"
)

// Ticks is a time from the start of the plan, or a duration. The caller chooses
// the unit: instance files count seconds, the daemon milliseconds.
type Ticks int64

// Forever is later than the end of any plan.
const Forever Ticks = 1 << 60

// Nowhere is the number of no node.
const Nowhere = -1

// Instance is one problem. VMs and nodes are named by their index.
type Instance struct {
	Name  string
	Dims  []string // what the resources are called, such as cpu and mem
	Nodes []Node
	VMs   []VM
	Rules []Posted
	// Gangs are sets of VMs that are suspended, resumed, and moved while paused together:
	// these actions start at one instant, and their room is free when the last has ended. Where
	// transfers are limited, some of them wait for a slot before they copy, and last longer. A
	// VM is in one gang at most.
	Gangs   [][]int
	NodeOff Ticks // how long it takes to switch a node off
	NodeOn  Ticks
	Network *Network // nil: durations do not depend on each other
}

// NodeState says whether a node is on.
type NodeState uint8

// The states of a node. AnyState occurs only as Want: the plan may choose.
const (
	Online NodeState = iota
	Offline
	AnyState
)

// String is the word that instance files use.
func (s NodeState) String() string { return [...]string{"online", "offline", "any"}[s] }

// Node hosts VMs while it is online.
type Node struct {
	Name     string
	Capacity []int64 // by dimension
	State    NodeState
	Want     NodeState
	Rack     int
	// Transfers is how many transfers the node carries at once, see [Kind.TransferNodes]; 0 is
	// no limit.
	Transfers int
	// Busy is when transfers end that are under way before the plan begins: each holds a slot
	// until then. There are at most as many as Transfers.
	Busy []Ticks
}

// VMState is what a VM is doing.
type VMState uint8

// The states of a VM (thesis §6.1.1). Ready is not launched yet, or shut down;
// Killed is gone for ever.
const (
	Ready VMState = iota
	Running
	Sleeping
	Killed
)

// String is the word that instance files use.
func (s VMState) String() string { return [...]string{"ready", "running", "sleeping", "killed"}[s] }

// VM is a virtual machine with its current and its wanted state. It occupies its host with Now
// until it has left the host or grown there. It occupies the node to which an action takes it
// with Next, from the start of that action.
type VM struct {
	Name  string
	State VMState
	Want  VMState
	Host  int     // where it runs or its image lies; Nowhere
	Now   []int64 // demand while it runs as it does, by dimension
	Next  []int64 // demand asked for
	Takes Durations
	// Memory is what has to be copied when the VM goes to another node, awake or as
	// an image, in the unit of the [Network].
	Memory int64
	// Dirty is how much of that a live migration has to copy again per tick.
	Dirty int64
	// Weight multiplies the completion times of its actions in equation (2).
	Weight int64
	// Stays VMs run where they are and are never touched.
	Stays bool
	// Sleepable VMs may be suspended and resumed to break a cycle that no node can
	// open as a pivot.
	Sleepable bool
	// Paused VMs are moved with their gang paused, not one by one.
	Paused bool
}

// Durations says how long the actions on one VM take.
type Durations struct {
	Boot, Shutdown, Suspend, ResumeLocal, ResumeRemote, Migrate Ticks
}

// Posted is a rule of an instance. Penalty 0 is a hard rule: no plan may break it.
// Of a soft rule each breach costs the penalty, in units of the objective.
type Posted struct {
	Rule
	Penalty int64
}

// Grows reports whether the VM asks for more of some resource than it has.
func (v *VM) Grows() bool {
	for d := range v.Now {
		if v.Next[d] > v.Now[d] {
			return true
		}
	}
	return false
}

// Steady reports whether the VM asks for just what it has.
func (v *VM) Steady() bool { return slices.Equal(v.Now, v.Next) }

// Keeps reports whether the VM runs and is to run on.
func (v *VM) Keeps() bool { return v.State == Running && v.Want == Running }

// Comes reports whether the VM does not run and is to.
func (v *VM) Comes() bool { return v.State != Running && v.Want == Running }

// DurationTo returns how long the action takes that makes the VM run on a node: 0 if it already
// runs there.
func (v *VM) DurationTo(node int) Ticks {
	switch {
	case v.State == Running && v.Host == node:
		return 0
	case v.State == Running:
		return v.takes(Migrate, false)
	case v.State == Sleeping:
		return v.takes(Resume, v.Host == node)
	default:
		return v.takes(Boot, false)
	}
}

// VMName returns the name of a VM in messages.
func (in *Instance) VMName(vm int) string {
	if in.VMs[vm].Name != "" {
		return "VM " + in.VMs[vm].Name
	}
	return fmt.Sprintf("VM %d", vm)
}

// NodeName returns the name of a node in messages.
func (in *Instance) NodeName(node int) string {
	if in.Nodes[node].Name != "" {
		return "node " + in.Nodes[node].Name
	}
	return fmt.Sprintf("node %d", node)
}

// Amended returns a copy of the instance with the states, demands and capacities that its hard
// rules set; soft rules only cost a penalty. Solvers and [Check] work on the copy.
func (in *Instance) Amended() (*Instance, error) {
	out, own := *in, false
	for _, r := range in.Rules {
		a, ok := r.Rule.(Amender)
		if !ok || r.Penalty > 0 {
			continue
		}
		if !own { // few instances have such rules
			out.Nodes, out.VMs, own = slices.Clone(in.Nodes), slices.Clone(in.VMs), true
		}
		if err := a.Amend(&out); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// CostTo returns the local cost of the action that makes the VM run on a node, in units of memory
// (thesis table 8.3): the memory that is copied, twice for a remote resume. Memory is the second
// dimension.
func (v *VM) CostTo(node int) int64 {
	memory := int64(0)
	if len(v.Next) > 1 {
		memory = v.Next[1]
	}
	switch {
	case v.State == Running && v.Host == node, v.State == Ready:
		return 0
	case v.State == Sleeping && v.Host != node:
		return 2 * memory
	default:
		return memory
	}
}
