package ctxswitch

import (
	"cmp"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/repack"
)

// Pausing and continuing in place takes next to no time and moves no VM, so the instance does
// not model it: there, VMs that pause never had CPU, and VMs that continue always have it.
// What is left is to delay the steps that need the CPU which others give up.

// addInPlace adds the steps of VMs that pause or continue in place: pauses come first of all,
// unpauses last.
func (d *planBuilder) addInPlace() {
	var last repack.Ticks
	for i := range d.steps {
		last = max(last, d.steps[i].until)
	}
	for i, vm := range d.vms {
		s := pendingAction{vm: i, from: d.in.VMs[i].Host, to: d.in.VMs[i].Host}
		switch {
		case d.pauses(vm):
			s.kind, s.at, s.until, s.copies = cluster.Pause, -1, -1, -1
		case d.unpauses(vm):
			s.kind, s.at, s.until, s.copies = cluster.Unpause, last, last, last
		default:
			continue
		}
		d.steps = append(d.steps, s)
	}
}

// orderForCPU makes steps that need CPU wait for the pauses that free it, and unpauses wait for
// the VMs that leave. No step waits for an unpause, so there are no cycles.
func (d *planBuilder) orderForCPU() {
	stopping, wants := map[int][]int{}, map[int]cluster.MilliCPU{} // by node
	for i := range d.steps {
		if s := &d.steps[i]; s.kind == cluster.Pause {
			stopping[s.from] = append(stopping[s.from], i)
		}
	}
	for i := range d.steps {
		switch s := &d.steps[i]; {
		case s.kind == cluster.Unpause:
			wants[s.to] += d.cpu(s)
		case s.arrives() && d.cpu(s) > 0:
			for _, j := range stopping[s.to] {
				s.after = append(s.after, d.gangs[d.steps[j].gang].steps...)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(wants)) {
		if wants[n] > 0 {
			d.delayUnpauses(n, wants[n])
		}
	}
}

// delayUnpauses makes the unpauses on a node wait until there is CPU for them beside all VMs that
// are there, arrive, or pass through: for as many of the leaving VMs as that takes.
func (d *planBuilder) delayUnpauses(n int, wants cluster.MilliCPU) {
	short := wants - d.nodes[n].Capacity.Minus(d.Claims[d.nodes[n].ID]).CPU
	for i, vm := range d.vms {
		if v := &d.in.VMs[i]; v.State == repack.Running && v.Host == n && !d.unpauses(vm) {
			short += d.uses(vm)
		}
	}
	var leaving, going []int
	for i := range d.steps {
		s := &d.steps[i]
		switch {
		case s.kind == cluster.Unpause && s.to == n:
			going = append(going, i)
		case s.leaves(&d.in) && s.from == n && d.cpu(s) > 0:
			leaving = append(leaving, i)
		}
		if s.arrives() && s.to == n {
			short += d.cpu(s)
		}
	}
	slices.SortStableFunc(leaving, func(a, b int) int { return cmp.Compare(d.steps[a].until, d.steps[b].until) })
	var waits []int
	for _, i := range leaving {
		if short <= 0 {
			break
		}
		short -= d.cpu(&d.steps[i])
		waits = append(waits, d.releasers(i)...)
	}
	for _, i := range going {
		d.steps[i].after = append(d.steps[i].after, waits...)
	}
}

// uses is the CPU that a VM uses on its node before the plan.
func (d *planBuilder) uses(vm cluster.VMID) cluster.MilliCPU {
	if d.pauses(vm) {
		return d.Current.Need(vm).CPU
	}
	return d.count(vm).CPU
}

// cpu is the CPU that a step frees or takes.
func (d *planBuilder) cpu(s *pendingAction) cluster.MilliCPU { return d.uses(d.vms[s.vm]) }

// arrives reports whether a step brings its VM to a node.
func (s *pendingAction) arrives() bool {
	return s.kind == cluster.Boot || s.kind == cluster.Resume || s.kind == cluster.Migrate
}

// leaves reports whether a step takes its VM, or the CPU of the VM, from a node. Deleting an
// image frees nothing that other VMs wait for.
func (s *pendingAction) leaves(in *repack.Instance) bool {
	return s.kind == cluster.Pause || s.kind == cluster.Suspend || s.kind == cluster.Migrate ||
		s.kind == cluster.Stop && in.VMs[s.vm].State == repack.Running
}

// releasers returns the steps after which the CPU that a step gives up is free: a paused gang
// frees it as a whole.
func (d *planBuilder) releasers(i int) []int {
	if s := &d.steps[i]; s.live || s.kind == cluster.Stop {
		return []int{i}
	}
	return d.gangs[d.steps[i].gang].steps
}
