package brute

import (
	"slices"

	"vjob/repack"
)

// expand queues what may follow a state: the start of an action, or the next end of one.
func (s *search) expand(x *state) {
	for vm := range x.vms {
		if x.vms[vm].until <= x.clock {
			s.starts(x, vm)
		}
	}
	if s.switches {
		s.switchNodes(x)
	}
	next := repack.Forever
	note := func(until repack.Ticks) {
		if until > x.clock {
			next = min(next, until)
		}
	}
	for vm := range x.vms {
		note(x.vms[vm].until)
	}
	for n := range x.nodes {
		note(x.nodes[n].until)
		for _, until := range s.in.Nodes[n].Busy {
			note(until)
		}
	}
	if next < repack.Forever {
		s.add(s.settled(x, next))
	}
}

// settled is a state later on, in which nothing has been done but to wait.
func (s *search) settled(x *state, clock repack.Ticks) *state {
	y := &state{clock: clock, vms: slices.Clone(x.vms), nodes: x.nodes, before: x, cost: x.cost, past: x.past}
	for vm := range y.vms {
		if v := &y.vms[vm]; v.until <= clock {
			v.from, v.first, v.until = repack.Nowhere, false, 0
		}
	}
	return y
}

// starts queues the states after one more action of a VM that does nothing now.
func (s *search) starts(x *state, vm int) {
	v, w := &s.in.VMs[vm], &x.vms[vm]
	to := func(kind repack.Kind, n int, takes repack.Ticks) {
		if x.nodes[n].on && x.nodes[n].until <= x.clock && s.hasRoom(x, vm, n) {
			s.act(x, repack.Action{Kind: kind, VM: vm, From: w.at, To: n, Start: x.clock, End: x.clock + takes})
		}
	}
	leave := func(kind repack.Kind, takes repack.Ticks) {
		s.act(x, repack.Action{Kind: kind, VM: vm, From: w.at, To: repack.Nowhere, Start: x.clock, End: x.clock + takes})
	}
	switch {
	case v.Stays || w.grown:
	case w.state == repack.Running && v.Want == repack.Running:
		if !w.moved && shrinks(v) && s.growsNow(x, vm) {
			s.act(x, repack.Action{Kind: repack.Allocate, VM: vm, From: repack.Nowhere, To: w.at, Start: x.clock, End: x.clock})
		}
		for n := range s.in.Nodes {
			if n != w.at && !s.rooted[vm] {
				to(repack.Migrate, n, v.Takes.Migrate)
			}
		}
		if v.Keeps() && v.Sleepable {
			leave(repack.Suspend, v.Takes.Suspend)
		}
	case w.state == repack.Running && v.Want == repack.Sleeping:
		leave(repack.Suspend, v.Takes.Suspend)
	case w.state == repack.Running:
		leave(repack.Shutdown, v.Takes.Shutdown)
	case w.state == repack.Sleeping && v.Want == repack.Running:
		for n := range s.in.Nodes {
			switch {
			case n == w.at:
				to(repack.Resume, n, v.Takes.ResumeLocal)
			case !s.rooted[vm]:
				to(repack.Resume, n, v.Takes.ResumeRemote)
			}
		}
	case w.state == repack.Ready && v.Want == repack.Running:
		for n := range s.in.Nodes {
			to(repack.Boot, n, v.Takes.Boot)
		}
	}
}

// act queues the state after the start of an action.
func (s *search) act(x *state, a repack.Action) {
	y := &state{clock: x.clock, vms: slices.Clone(x.vms), nodes: x.nodes, before: x, action: a, acts: true, cost: x.cost, past: x.then(a)}
	v, w := &s.in.VMs[a.VM], &y.vms[a.VM]
	if !s.together(x, &a) || !s.hasSlots(x, &a) {
		return
	}
	if a.Kind == repack.Allocate {
		w.grown = true
		s.add(y)
		return
	}
	y.cost += int64(a.End) * v.Weight
	w.from, w.first, w.until, w.moved = a.From, !w.moved && v.State == repack.Running, a.End, true
	switch a.Kind {
	case repack.Suspend:
		w.state = repack.Sleeping
	case repack.Shutdown:
		w.state, w.at = repack.Ready, repack.Nowhere
		if v.Want == repack.Killed {
			w.state = repack.Killed
		}
	default:
		if a.Kind != repack.Migrate {
			w.from, w.first = repack.Nowhere, false
		}
		w.state, w.at = repack.Running, a.To
	}
	if !s.oneByOne {
		s.add(y)
		return
	}
	y.cost = 0
	z := s.settled(y, a.End)
	if s.breaks(y) {
		return
	}
	s.add(z)
}

// switchNodes queues the states after one more node is switched.
func (s *search) switchNodes(x *state) {
	for n := range x.nodes {
		node := &s.in.Nodes[n]
		switch {
		case node.State == repack.Online && node.Want != repack.Online && x.nodes[n].on && s.empty(x, n):
			s.add(s.switched(x, n, repack.NodeOff, s.in.NodeOff))
		case node.State == repack.Offline && node.Want != repack.Offline && !x.nodes[n].on:
			s.add(s.switched(x, n, repack.NodeOn, s.in.NodeOn))
		}
	}
}

func (s *search) switched(x *state, n int, kind repack.Kind, takes repack.Ticks) *state {
	y := &state{clock: x.clock, vms: x.vms, nodes: slices.Clone(x.nodes), before: x, cost: x.cost, acts: true}
	y.action = repack.Action{Kind: kind, VM: repack.Nowhere, From: repack.Nowhere, To: n, Start: x.clock, End: x.clock + takes}
	y.past = x.then(y.action)
	y.nodes[n] = nodeState{kind == repack.NodeOn, x.clock + takes}
	return y
}

// empty reports whether no VM is on a node, and none is to be resumed from there.
func (s *search) empty(x *state, n int) bool {
	for vm := range x.vms {
		w := &x.vms[vm]
		if w.from == n || w.at == n && (w.state == repack.Running || s.in.VMs[vm].Want == repack.Running) || w.until > x.clock && s.resumesFrom(x, vm, n) {
			return false
		}
	}
	return true
}

// resumesFrom reports whether the last action of a VM is a resume from an image on a node.
func (s *search) resumesFrom(x *state, vm, n int) bool {
	for y := x; y != nil; y = y.before {
		if y.acts && y.action.VM == vm {
			return y.action.Kind == repack.Resume && y.action.From == n
		}
	}
	return false
}

// hasRoom reports whether a VM fits on a node beside what is there. A node that is over its capacity at first
// may carry as much as then; whether it has come down meanwhile, the check of the whole plan says.
func (s *search) hasRoom(x *state, vm, n int) bool {
	for d := range s.in.Dims {
		need := s.in.VMs[vm].Next[d]
		if need > 0 && s.load(x, n, d)+need > max(s.in.Nodes[n].Capacity[d], s.first[n][d]) {
			return false
		}
	}
	return true
}

// growsNow reports whether a VM may have its next demand where it is.
func (s *search) growsNow(x *state, vm int) bool {
	v := &s.in.VMs[vm]
	for d := range s.in.Dims {
		more := v.Next[d] - v.Now[d]
		if more > 0 && s.load(x, v.Host, d)+more > s.in.Nodes[v.Host].Capacity[d] {
			return false
		}
	}
	return true
}

// load is what the VMs on a node occupy.
func (s *search) load(x *state, n, d int) (sum int64) {
	for vm := range x.vms {
		v, w := &s.in.VMs[vm], &x.vms[vm]
		switch {
		case w.state != repack.Running || w.at != n:
		case w.moved || w.grown:
			sum += v.Next[d]
		default:
			sum += v.Now[d]
		}
		switch {
		case w.from != n:
		case w.first:
			sum += v.Now[d]
		default:
			sum += v.Next[d]
		}
	}
	return sum
}

func shrinks(v *repack.VM) bool {
	for d := range v.Now {
		if v.Next[d] < v.Now[d] {
			return true
		}
	}
	return false
}

// rest is the least cost of what is still to be done: of VMs in the wrong state or on a node on which
// they may not end, and of one more for each node that is too full.
func (s *search) rest(x *state) (sum int64) {
	if s.oneByOne {
		for vm := range x.vms {
			if s.wrong(x, vm) {
				sum++
			}
		}
		return sum
	}
	for vm := range x.vms {
		if s.wrong(x, vm) {
			sum += s.next(x, vm)
		}
	}
	for n := range s.in.Nodes {
		if s.tooFull(x, n) {
			sum += s.leastLeaving(x, n)
		}
	}
	return sum
}

// wrong reports whether a VM has to act once more, whatever the others do.
func (s *search) wrong(x *state, vm int) bool {
	w := &x.vms[vm]
	return w.state != s.in.VMs[vm].Want || w.state == repack.Running && s.barred[vm][w.at]
}

// next is the least cost of one more action of a VM.
func (s *search) next(x *state, vm int) int64 {
	v, w := &s.in.VMs[vm], &x.vms[vm]
	takes := v.Takes.Migrate
	switch {
	case w.state == repack.Ready:
		takes = v.Takes.Boot
	case w.state == repack.Sleeping:
		takes = min(v.Takes.ResumeLocal, v.Takes.ResumeRemote)
	case v.Want == repack.Sleeping:
		takes = v.Takes.Suspend
	case v.Want != repack.Running:
		takes = v.Takes.Shutdown
	case v.Sleepable:
		takes = min(takes, v.Takes.Suspend)
	}
	return v.Weight * int64(max(x.clock, w.until)+takes)
}

// tooFull reports whether the VMs that may end on a node need more than it has.
func (s *search) tooFull(x *state, n int) bool {
	for d, free := range s.in.Nodes[n].Capacity {
		for vm := range x.vms {
			if w := &x.vms[vm]; w.state == repack.Running && w.at == n && !s.wrong(x, vm) {
				free -= s.in.VMs[vm].Next[d]
			}
		}
		if free < 0 {
			return true
		}
	}
	return false
}

func (s *search) leastLeaving(x *state, n int) int64 {
	least := NoLimit
	for vm := range x.vms {
		if w := &x.vms[vm]; w.state == repack.Running && w.at == n && !s.wrong(x, vm) {
			least = min(least, s.next(x, vm))
		}
	}
	return least
}
