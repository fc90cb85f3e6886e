package exact

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/schedule"
)

// expand queues what may follow a state.
func (e *search) expand(x *state) {
	if next := e.nextEnd(x); next < repack.Forever {
		e.add(e.wait(x, next))
	}
	where := make([][2]int, len(x.vms))
	for vm := range x.vms {
		w := &x.vms[vm]
		where[vm] = [2]int{repack.Nowhere, int(w.from)}
		if w.state == repack.Running {
			where[vm][0] = int(w.at)
		}
	}
	free := e.bound.freeRoom(e, x)
	monitors := schedule.NewMonitors(e.Problem, where)
	e.replay(x)
	s := step{search: e, x: x, free: slices.Clone(free), monitors: monitors}
	var next []repack.Action
	for vm := range x.vms {
		if x.vms[vm].until <= x.clock {
			next = s.starts(next, vm)
		}
	}
	monitors.Close(where)
	for _, a := range next {
		e.act(x, a)
	}
	if e.switches {
		e.switchNodes(x)
	}
}

// step is what may start in a state.
type step struct {
	*search
	x        *state
	free     []int64
	monitors *schedule.Monitors
}

// starts appends the actions that a VM may start, which does nothing now.
func (s *step) starts(list []repack.Action, vm int) []repack.Action {
	v, w := &s.In.VMs[vm], &s.x.vms[vm]
	add := func(kind repack.Kind, to int, takes repack.Ticks) {
		a := repack.Action{Kind: kind, VM: vm, From: int(w.at), To: to, Start: s.x.clock, End: s.x.clock + takes}
		if s.timely(s.x, &a) && s.hasSlots(s.x, &a) && s.inTime(&a) && s.gatesAllow(&a) && (to == repack.Nowhere || s.admits(vm, to)) {
			list = append(list, a)
		}
	}
	switch {
	case v.Stays || w.has(settled):
	case w.state == repack.Running && v.Want == repack.Running:
		if !w.has(moved) && v.Keeps() && shrinks(v) && !v.Grows() && !w.wrong(s.Problem, vm) {
			if a := (repack.Action{Kind: repack.Allocate, VM: vm, From: repack.Nowhere, To: int(w.at), Start: s.x.clock, End: s.x.clock}); s.timely(s.x, &a) {
				list = append(list, a)
			}
		}
		if !s.Rooted[vm] {
			for n := range s.In.Nodes {
				if n != int(w.at) {
					add(repack.Migrate, n, v.Takes.Migrate)
				}
			}
		}
		if s.Suspendable(v) {
			add(repack.Suspend, repack.Nowhere, v.Takes.Suspend)
		}
	case w.state == repack.Running && v.Want == repack.Sleeping:
		add(repack.Suspend, repack.Nowhere, v.Takes.Suspend)
	case w.state == repack.Running:
		add(repack.Shutdown, repack.Nowhere, v.Takes.Shutdown)
	case w.state == repack.Sleeping && v.Want == repack.Running:
		for n := range s.In.Nodes {
			switch {
			case n == int(w.at):
				add(repack.Resume, n, v.Takes.ResumeLocal)
			case !s.Rooted[vm] || v.State == repack.Sleeping:
				add(repack.Resume, n, v.Takes.ResumeRemote)
			}
		}
	case w.state == repack.Ready && v.Want == repack.Running:
		for n := range s.In.Nodes {
			add(repack.Boot, n, v.Takes.Boot)
		}
	}
	return list
}

// admits reports whether a VM may come to a node now.
func (s *step) admits(vm, n int) bool {
	if !s.isOn(s.x, n) {
		return false
	}
	for d := range s.Dims {
		if need := s.Next[vm*s.Dims+d]; need > 0 && need > s.free[n*s.Dims+d] {
			return false
		}
	}
	return s.monitors.Admits(vm, n)
}

// isOn reports whether a node takes VMs now.
func (e *search) isOn(x *state, n int) bool {
	if e.switches {
		return x.nodes[n].on && x.nodes[n].until <= x.clock
	}
	node := &e.In.Nodes[n]
	return node.State == repack.Online || node.Want != repack.Offline && e.Ready(n) <= x.clock
}

// inTime reports whether an action meets the deadlines of its VM, and those that rules set for VMs that
// migrate together.
func (s *step) inTime(a *repack.Action) bool {
	if s.late(s.x, a.VM, a.Start, a.End) {
		return false
	}
	if a.Kind != repack.Migrate || !s.Synced[a.VM] {
		return true
	}
	for i := range s.SyncSets {
		set := &s.SyncSets[i]
		if !slices.Contains(set.VMs, a.VM) {
			continue
		}
		at := a.Start
		if set.AtEnd {
			at = a.End
		}
		if s.x.vms[a.VM].migrations > 0 || s.x.joint[i] >= 0 && s.x.joint[i] != at {
			return false
		}
	}
	return true
}

// gatesAllow reports whether the gates let an action start.
func (s *step) gatesAllow(a *repack.Action) bool {
	for _, g := range s.GatesOf[a.VM] {
		if !s.Gates[g].May(a.VM, a.Kind, s.x.clock) {
			return false
		}
	}
	return true
}

// replay tells the gates what has happened up to a state.
func (e *search) replay(x *state) {
	if len(e.Gates) == 0 {
		return
	}
	for i := range e.Gates {
		e.Gates[i].Begin(e.first)
	}
	var past []*state
	for y := x; y.before != nil; y = y.before {
		past = append(past, y)
	}
	for _, y := range slices.Backward(past) {
		if y.does && y.action.VM != repack.Nowhere && y.action.Kind != repack.Allocate {
			for _, g := range e.GatesOf[y.action.VM] {
				e.Gates[g].Started(y.action.VM, y.action.Kind, y.clock)
			}
			continue
		}
		for vm := range y.vms {
			w := &y.before.vms[vm]
			if w.until <= y.before.clock || w.until > y.clock {
				continue
			}
			for _, g := range e.GatesOf[vm] {
				e.Gates[g].Ended(vm, lastKind(y.before, vm), y.clock)
			}
		}
	}
}

// lastKind is what a VM has done last.
func lastKind(x *state, vm int) repack.Kind {
	for !x.does || x.action.VM != vm {
		x = x.before
	}
	return x.action.Kind
}

// maxActions bounds the actions of a VM where soft rules on whole plans tell all pasts apart.
const maxActions = 4

// act queues the state after the start of an action.
func (e *search) act(x *state, a repack.Action) {
	y := e.follow(x, a)
	y.vms = slices.Clone(x.vms)
	v, w := &e.In.VMs[a.VM], &y.vms[a.VM]
	if e.Uncounted && e.counts(&a) && w.migrations+w.changes >= maxActions {
		e.cut = true
		return
	}
	if a.Kind == repack.Allocate {
		w.flags |= settled
		e.add(e.valued(y))
		return
	}
	y.cost += int64(a.End) * v.Weight
	w.from, w.until = int8(a.From), a.End
	if !w.has(moved) && v.State == repack.Running {
		w.flags |= firstFrom
	}
	w.flags |= moved
	switch a.Kind {
	case repack.Suspend:
		w.state = repack.Sleeping
	case repack.Shutdown:
		w.state, w.at = v.Want, repack.Nowhere
	case repack.Migrate:
		w.at = int8(a.To)
	default:
		w.state, w.at, w.from, w.flags = repack.Running, int8(a.To), repack.Nowhere, w.flags&^firstFrom
	}
	if e.gates || e.Uncounted {
		if a.Kind == repack.Migrate {
			w.migrations = min(maxActions, w.migrations+1)
			y.join(e, &a)
		} else {
			w.changes = min(maxActions, w.changes+1)
		}
	}
	if w.until <= y.clock { // at once
		w.from, w.until, w.flags = repack.Nowhere, 0, w.flags&^firstFrom
	}
	if e.timeless && !e.Synced[a.VM] { // nothing else starts until its end
		e.add(e.wait(y, a.End))
		return
	}
	e.add(e.valued(y))
}

// join notes when the VMs that migrate together do so.
func (x *state) join(e *search, a *repack.Action) {
	if !e.Synced[a.VM] {
		return
	}
	x.joint = slices.Clone(x.joint)
	for i := range e.SyncSets {
		if set := &e.SyncSets[i]; slices.Contains(set.VMs, a.VM) {
			x.joint[i] = a.Start
			if set.AtEnd {
				x.joint[i] = a.End
			}
		}
	}
}
