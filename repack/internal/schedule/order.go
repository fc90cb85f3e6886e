package schedule

import (
	"cmp"
	"slices"

	"vjob/internal/sparse"
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// precedence finds what the actions of a plan wait for, so that execution may be late or early and
// no node is ever over capacity; and when VMs that stay and grow get their share.
//
// On each node, arrivals are sorted by their start and departures by their end. An arrival
// waits for as many of the first departures as make everything fit that has come up to it.
// Later arrivals wait for at least as many, so they may even overtake.
type precedence struct {
	*problem.Problem
	plan    *repack.Plan
	stays   sparse.Lists[int] // growing VMs that stay on each node
	comes   sparse.Lists[int] // actions, by node
	goes    sparse.Lists[int]
	leaves  map[int][]int // actions, by VM
	moved   []bool
	group   [][]int        // actions that free their room together, by action
	freed   []repack.Ticks // when the room of each action is free
	instant bool           // some action takes no time
}

func newPrecedence(m *problem.Problem, p *repack.Plan) *precedence {
	nodes := len(m.In.Nodes)
	o := &precedence{Problem: m, plan: p, stays: sparse.New[int](nodes), comes: sparse.New[int](nodes), goes: sparse.New[int](nodes), leaves: map[int][]int{}, moved: make([]bool, len(m.In.VMs))}
	for i := range p.Actions {
		a := &p.Actions[i]
		if a.Kind.OnNode() {
			continue
		}
		o.moved[a.VM] = true
		if a.Kind == repack.Migrate || a.Kind == repack.Boot || a.Kind == repack.Resume {
			o.comes.Add(a.To, i)
		}
		if a.Kind == repack.Migrate || a.Kind == repack.Shutdown || a.Kind == repack.Suspend {
			o.goes.Add(a.From, i)
			o.leaves[a.VM] = append(o.leaves[a.VM], i)
		}
	}
	o.holdTogether()
	growing := 0
	for vm := range m.In.VMs {
		if v := &m.In.VMs[vm]; v.Keeps() && v.Grows() && !o.moved[vm] {
			o.stays.Add(v.Host, vm)
			growing++
		}
	}
	p.Actions = slices.Grow(p.Actions, growing)
	return o
}

// holdTogether finds the actions of gangs that free their room together: suspends, and moves
// while paused.
func (o *precedence) holdTogether() {
	type key struct {
		gang  int
		kind  repack.Kind
		start repack.Ticks
	}
	acts := o.plan.Actions
	o.group, o.freed = make([][]int, len(acts)), make([]repack.Ticks, len(acts))
	held := map[key][]int{}
	for i := range acts {
		a := &acts[i]
		o.freed[i] = a.End
		o.instant = o.instant || a.Start == a.End && !a.Kind.OnNode()
		if a.Kind.OnNode() || o.GangOf[a.VM] < 0 {
			continue
		}
		if a.Kind == repack.Suspend || a.Kind == repack.Migrate && o.In.VMs[a.VM].Paused {
			k := key{o.GangOf[a.VM], a.Kind, a.Start}
			held[k] = append(held[k], i)
		}
	}
	for _, list := range held {
		var last repack.Ticks
		for _, i := range list {
			last = max(last, acts[i].End)
		}
		for _, i := range list {
			o.group[i], o.freed[i] = list, last
		}
	}
}

// wait makes an action wait until the room of some others is free.
func (o *precedence) wait(a *repack.Action, goes []int) {
	for _, i := range goes {
		a.After = append(a.After, i)
		a.After = append(a.After, o.group[i]...)
	}
}

// write adds the dependencies and the growth to the plan.
func (o *precedence) write() {
	o.perVM()
	for n := range sparse.Either(o.comes, o.stays) {
		o.node(n)
	}
	o.nodeSwitches()
	o.nodeLimits()
	o.gangMoves()
	o.watchedRules()
	o.transfers()
	for i := range o.plan.Actions {
		a := &o.plan.Actions[i]
		slices.Sort(a.After)
		a.After = slices.Compact(a.After)
	}
}

// perVM makes the actions of each VM follow each other.
func (o *precedence) perVM() {
	last := map[int]int{}
	for i := range o.plan.Actions {
		a := &o.plan.Actions[i]
		if a.Kind.OnNode() {
			continue
		}
		if before, ok := last[a.VM]; ok {
			a.After = append(a.After, before)
		}
		last[a.VM] = i
	}
}

// node orders arrivals after departures, and lets the VMs that stay grow as soon as that takes
// nothing from an arrival.
func (o *precedence) node(n int) {
	acts := o.plan.Actions
	comes, goes := o.comes.At(n), o.goes.At(n)
	slices.SortStableFunc(comes, func(a, b int) int { return cmp.Compare(acts[a].Start, acts[b].Start) })
	slices.SortStableFunc(goes, func(a, b int) int { return cmp.Compare(o.freed[a], o.freed[b]) })
	free := o.atFirst(n)
	gone := 0
	back := func() { // the next departure frees its room
		o.release(free, acts[goes[gone]].VM, n, goes[gone])
		gone++
	}
	for _, i := range comes {
		o.add(free, acts[i].VM, o.Next, -1)
		for !positive(free, o.Next, acts[i].VM, o.Dims) && gone < len(goes) && o.freed[goes[gone]] <= acts[i].Start {
			back()
		}
		o.wait(&acts[i], goes[:gone])
	}
	o.grow(n, free, gone)
}

// atFirst returns the free room of a node at the start, after VMs that stay and shrink have
// given back the rest.
func (o *precedence) atFirst(n int) []int64 {
	free := slices.Clone(o.Room[n*o.Dims : (n+1)*o.Dims])
	for _, vm := range o.AtStart.At(n) {
		v := &o.In.VMs[vm]
		if v.Keeps() && !o.moved[vm] && !v.Grows() {
			o.add(free, vm, o.Next, -1)
		} else {
			o.add(free, vm, o.Now, -1)
		}
	}
	return free
}

// release gives back the room that a VM leaves when an action ends.
func (o *precedence) release(free []int64, vm, n, action int) {
	v := &o.In.VMs[vm]
	demand := o.Next
	if v.State == repack.Running && v.Host == n && o.first(vm, action) {
		demand = o.Now
	}
	o.add(free, vm, demand, 1)
}

// first reports whether an action is the first of its VM.
func (o *precedence) first(vm, action int) bool {
	for _, i := range o.plan.Actions[action].After {
		if a := &o.plan.Actions[i]; a.VM == vm && !a.Kind.OnNode() {
			return false
		}
	}
	return true
}

func (o *precedence) add(free []int64, vm int, demand []int64, sign int64) {
	for d := range free {
		free[d] += sign * demand[vm*o.Dims+d]
	}
}

// positive reports whether the VM lacks nothing that it needs.
func positive(free, next []int64, vm, dims int) bool {
	for d := range free {
		if next[vm*dims+d] > 0 && free[d] < 0 {
			return false
		}
	}
	return true
}

// gangMoves makes what a paused gang does follow what it did before while paused.
func (o *precedence) gangMoves() {
	last, before := make([][]int, len(o.In.Gangs)), make([][]int, len(o.In.Gangs))
	for i := range o.plan.Actions {
		a := &o.plan.Actions[i]
		if a.Kind != repack.Migrate || o.GangOf[a.VM] < 0 || !o.In.VMs[a.VM].Paused {
			continue
		}
		g := o.GangOf[a.VM]
		if len(last[g]) > 0 && !o.movesTogether(i, last[g][0]) {
			last[g], before[g] = nil, last[g]
		}
		last[g] = append(last[g], i)
		a.After = append(a.After, before[g]...)
	}
}

// movesTogether reports whether a gang takes two actions together.
func (o *precedence) movesTogether(i, j int) bool {
	a, b := &o.plan.Actions[i], &o.plan.Actions[j]
	return o.GangOf[a.VM] >= 0 && o.GangOf[a.VM] == o.GangOf[b.VM] && a.Kind == b.Kind && a.Start == b.Start &&
		(a.Kind != repack.Migrate || o.In.VMs[a.VM].Paused)
}

// watchedRules makes arrivals and actions with gates wait for everything that ended before
// they start on their node, or under the same rules.
func (o *precedence) watchedRules() {
	acts := o.plan.Actions
	for i := range acts {
		a := &acts[i]
		if a.Kind.OnNode() || a.Kind == repack.Allocate {
			continue
		}
		if a.To != repack.Nowhere && (a.Start > 0 || o.instant) {
			o.waitForWatched(i)
		}
		if len(o.GatesOf[a.VM]) == 0 {
			continue
		}
		for j := range acts {
			if b := &acts[j]; j < i && b.End <= a.Start && !b.Kind.OnNode() && b.Kind != repack.Allocate && o.gated(a.VM, b.VM) && !o.movesTogether(i, j) {
				a.After = append(a.After, j)
			}
		}
	}
}

// waitForWatched makes an arrival wait for all departures before it that its watches see.
func (o *precedence) waitForWatched(i int) {
	a := &o.plan.Actions[i]
	wait := func(goes []int) {
		for _, j := range goes {
			if o.freed[j] <= a.Start && j < i && !o.movesTogether(i, j) {
				o.wait(a, []int{j})
			}
		}
	}
	for _, list := range [...][]int{o.WatchesOfVM[a.VM], o.WatchesOfNode.At(a.To), o.GlobalWatches} {
		for _, i := range list {
			w := &o.Watches[i]
			_, local := w.Rule.(problem.Apart)
			switch {
			case w.Nodes != nil && !w.Nodes.Has(a.To):
			case w.Nodes != nil:
				for _, n := range w.Scope.Nodes {
					wait(o.goes.At(n))
				}
			case w.Scope.VMs != nil && !local:
				for _, vm := range w.Scope.VMs {
					wait(o.leaves[vm])
				}
			default:
				wait(o.goes.At(a.To))
			}
		}
	}
}

// gated reports whether one gate concerns both VMs.
func (o *precedence) gated(a, b int) bool {
	for _, g := range o.GatesOf[a] {
		if slices.Contains(o.GatesOf[b], g) {
			return true
		}
	}
	return false
}
