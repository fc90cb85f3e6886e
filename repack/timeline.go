package repack

import (
	"cmp"
	"fmt"
	"slices"
)

// Stay is a stretch of time in which a VM occupies a node: [From, To). While a VM
// migrates it has a stay on either end. What gangs leave is occupied until the last
// member has left.
type Stay struct {
	VM, Node int
	From, To Ticks
	Need     []int64
	// Inherited stays began before the plan did: what they break is not its fault.
	Inherited bool
}

// Timeline is what a plan does: where every VM is at every instant.
type Timeline struct {
	Instance *Instance // amended
	Plan     *Plan
	ByVM     [][]int  // the actions on each VM, by start
	Stays    [][]Stay // of each VM, by start; adjacent ones may differ in demand only
	State    []VMState
	Host     []int // at the end: where each VM runs or its image lies; Nowhere
	Nodes    []NodeState
	Off, On  []int // the action that switches each node; Nowhere
	Makespan Ticks
	Growth   []Ticks // when each VM that stays has its next demand; 0 for others

	freed  map[int]Ticks // when the actions of gangs free what they leave
	faults []string
}

// Runs reports whether the VM runs at the end, and where.
func (t *Timeline) Runs(vm int) (node int, ok bool) {
	return t.Host[vm], t.State[vm] == Running
}

// Trace follows a plan action by action. The faults are those of form: actions
// that cannot be carried out where they stand.
func Trace(in *Instance, plan *Plan) (t *Timeline, faults []string) {
	t = &Timeline{
		Instance: in, Plan: plan,
		ByVM: make([][]int, len(in.VMs)), Stays: make([][]Stay, len(in.VMs)),
		State: make([]VMState, len(in.VMs)), Host: make([]int, len(in.VMs)),
		Nodes: make([]NodeState, len(in.Nodes)),
		Off:   make([]int, len(in.Nodes)), On: make([]int, len(in.Nodes)),
		Growth: make([]Ticks, len(in.VMs)),
	}
	for n := range in.Nodes {
		t.Nodes[n], t.Off[n], t.On[n] = in.Nodes[n].State, Nowhere, Nowhere
	}
	grown := make([]Ticks, len(in.VMs))
	for vm := range grown {
		grown[vm] = Nowhere
	}
	for i := range plan.Actions {
		t.file(i, grown)
	}
	t.switched()
	t.freed = t.releases()
	for vm := range in.VMs {
		slices.SortStableFunc(t.ByVM[vm], func(a, b int) int {
			x, y := &plan.Actions[a], &plan.Actions[b]
			return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.End, y.End))
		})
		t.follow(vm, grown[vm])
	}
	return t, t.faults
}

func (t *Timeline) fault(format string, args ...any) {
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

// file checks the form of an action and puts it where it belongs.
func (t *Timeline) file(i int, grown []Ticks) {
	a, in := &t.Plan.Actions[i], t.Instance
	if int(a.Kind) >= len(Kinds) {
		t.fault("action %d: there is no action of kind %d", i, a.Kind)
		return
	}
	if a.Start < 0 || a.End < a.Start || a.End >= Forever {
		t.fault("action %d (%s): starts at %d and ends at %d", i, a.Kind, a.Start, a.End)
		return
	}
	if a.Kind.OnNode() {
		t.fileNode(i)
		return
	}
	if a.VM < 0 || a.VM >= len(in.VMs) {
		t.fault("action %d (%s): there is no VM %d", i, a.Kind, a.VM)
		return
	}
	if a.Kind == Allocate {
		if grown[a.VM] != Nowhere && grown[a.VM] != a.Start {
			t.fault("%s: two allocate actions", in.VMName(a.VM))
		}
		grown[a.VM] = a.Start
		return
	}
	t.Makespan = max(t.Makespan, a.End)
	t.ByVM[a.VM] = append(t.ByVM[a.VM], i)
}

func (t *Timeline) fileNode(i int) {
	a, in := &t.Plan.Actions[i], t.Instance
	if a.To < 0 || a.To >= len(in.Nodes) {
		t.fault("action %d (%s): there is no node %d", i, a.Kind, a.To)
		return
	}
	t.Makespan = max(t.Makespan, a.End)
	list, takes, before := t.Off, in.NodeOff, Online
	if a.Kind == NodeOn {
		list, takes, before = t.On, in.NodeOn, Offline
	}
	name := in.NodeName(a.To)
	switch {
	case list[a.To] != Nowhere:
		t.fault("%s: two %s", name, a.Kind)
	case in.Nodes[a.To].State != before:
		t.fault("%s: %s but it is %s", name, a.Kind, in.Nodes[a.To].State)
	case a.End-a.Start < takes:
		t.fault("%s: %s lasts %d, needs %d", name, a.Kind, a.End-a.Start, takes)
	}
	list[a.To] = i
}

// switched tells which nodes end on. A node is switched once at most.
func (t *Timeline) switched() {
	for n := range t.Nodes {
		switch on, off := t.On[n] != Nowhere, t.Off[n] != Nowhere; {
		case on && off:
			t.fault("%s: both %s and %s", t.Instance.NodeName(n), NodeOn, NodeOff)
		case on:
			t.Nodes[n] = Online
		case off:
			t.Nodes[n] = Offline
		}
	}
}

// releases are the instants at which the actions of gangs free what they leave:
// when the last of those has ended that started together.
func (t *Timeline) releases() map[int]Ticks {
	freed := map[int]Ticks{}
	for _, vms := range t.Instance.Gangs {
		last := map[stroke]Ticks{}
		t.eachTogether(vms, func(i int) {
			a := &t.Plan.Actions[i]
			last[a.stroke()] = max(last[a.stroke()], a.End)
		})
		t.eachTogether(vms, func(i int) { freed[i] = last[t.Plan.Actions[i].stroke()] })
	}
	return freed
}

// stroke names actions of one gang that happen together.
type stroke struct {
	kind  Kind
	start Ticks
}

func (a *Action) stroke() stroke { return stroke{a.Kind, a.Start} }

// eachTogether visits what the VMs of a gang do together: suspends, resumes, and
// moves while paused.
func (t *Timeline) eachTogether(vms []int, visit func(action int)) {
	for _, vm := range vms {
		for _, i := range t.ByVM[vm] {
			k := t.Plan.Actions[i].Kind
			if k == Suspend || k == Resume || k == Migrate && t.Instance.VMs[vm].Paused {
				visit(i)
			}
		}
	}
}

// follow takes one VM through its actions and notes where it is when.
func (t *Timeline) follow(vm int, grown Ticks) {
	v := &t.Instance.VMs[vm]
	w := walk{t: t, vm: vm, v: v, state: v.State, host: v.Host, need: v.Next}
	if v.State == Running {
		w.need = v.Now
	}
	for _, i := range t.ByVM[vm] {
		if !w.step(i) {
			break
		}
	}
	t.State[vm], t.Host[vm] = w.state, w.host
	if w.state != Running {
		return
	}
	if w.moved || v.Steady() {
		w.stay(Forever)
		return
	}
	when := Ticks(0)
	if v.Grows() {
		when = t.Makespan
	}
	if grown != Nowhere {
		when = grown
	}
	t.Growth[vm] = when
	w.stay(when)
	w.since, w.need = when, v.Next
	w.stay(Forever)
}

// walk is a VM on its way through its actions.
type walk struct {
	t     *Timeline
	vm    int
	v     *VM
	state VMState
	host  int
	need  []int64
	since Ticks // when it came to the host
	last  Ticks // when its last action ended
	moved bool  // by any action: it has its next demand
}

// stay ends the stretch of time on the present host.
func (w *walk) stay(to Ticks) {
	if to > w.since {
		w.t.Stays[w.vm] = append(w.t.Stays[w.vm], Stay{
			VM: w.vm, Node: w.host, From: w.since, To: to, Need: w.need, Inherited: w.v.State == Running && !w.moved,
		})
	}
}

// step applies one action; false: the rest makes no sense.
func (w *walk) step(i int) bool {
	a, name := &w.t.Plan.Actions[i], w.t.Instance.VMName(w.vm)
	if a.Start < w.last {
		w.t.fault("%s: its actions overlap in time", name)
	}
	w.last = a.End
	from := stateBefore(a.Kind)
	if w.state != from || from != Ready && a.From != w.host {
		w.t.fault("%s: %s from node %d but it is %s on node %d", name, a.Kind, a.From, w.state, w.host)
		return false
	}
	comes := a.Kind == Migrate || a.Kind == Boot || a.Kind == Resume
	if comes && (a.To < 0 || a.To >= len(w.t.Instance.Nodes) || a.Kind == Migrate && a.To == w.host) {
		w.t.fault("%s: %s to node %d", name, a.Kind, a.To)
		return false
	}
	if a.Kind == Suspend && a.To != Nowhere && a.To != w.host {
		w.t.fault("%s: suspended from node %d to node %d", name, w.host, a.To)
	}
	switch needs := w.t.Instance.Lasts(a); {
	case needs == Forever:
		w.t.fault("%s: %s from node %d to node %d never ends at a rate of %d", name, a.Kind, a.From, a.To, a.Rate)
	case a.End-a.Start < needs:
		w.t.fault("%s: %s lasts %d, needs %d", name, a.Kind, a.End-a.Start, needs)
	}
	if from == Running {
		w.stay(max(a.End, w.t.freed[i]))
	}
	switch {
	case comes:
		w.state, w.host, w.since, w.need, w.moved = Running, a.To, a.Start, w.v.Next, true
	case a.Kind == Suspend:
		w.state = Sleeping
	case w.v.Want == Killed:
		w.state, w.host = Killed, Nowhere
	default:
		w.state, w.host = Ready, Nowhere
	}
	return true
}

// stateBefore is the state in which a VM must be for the action.
func stateBefore(k Kind) VMState {
	switch k {
	case Boot:
		return Ready
	case Resume:
		return Sleeping
	default:
		return Running
	}
}
