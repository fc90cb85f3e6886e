package exact

import (
	"vjob/repack"
)

// departure is room that becomes free on a node, at the earliest.
type departure struct {
	at    repack.Ticks
	vm    int
	share share
}

// share is which room of a VM becomes free.
type share uint8

const (
	firstDemand share = iota
	nextDemand
	shrinkage // of a VM that stays
	remainder // of one that shrinks and then leaves
)

// rounds is how often the departures of VMs are delayed by those that leave room for them.
const rounds = 3

// departures finds when VMs leave their nodes at the earliest. A VM that migrates waits until some node
// has room for it, which depends on the departures there: from times that are too early, each round
// makes them later, and all are lower bounds.
func (b *bound) departures(e *search, x *state) {
	for vm := range x.vms {
		b.gone[vm] = b.leaves(e, x, vm, x.clock)
	}
	b.file(e, x)
	for range rounds {
		if !b.delay(e, x) {
			return
		}
		b.file(e, x)
	}
}

// leaves is when a VM leaves its node at the earliest, if some other node has room for it from a time on.
func (b *bound) leaves(e *search, x *state, vm int, vacant repack.Ticks) repack.Ticks {
	v, w := &e.In.VMs[vm], &x.vms[vm]
	t := max(x.clock, w.until)
	switch {
	case w.state != repack.Running || v.Stays || w.has(settled) || e.late(x, vm, x.clock, x.clock):
		return repack.Forever
	case v.Want == repack.Sleeping:
		return t + v.Takes.Suspend
	case v.Want != repack.Running:
		return t + v.Takes.Shutdown
	}
	at := repack.Forever
	if !e.Rooted[vm] && vacant < repack.Forever {
		at = max(t, vacant) + v.Takes.Migrate
	}
	if e.Suspendable(v) {
		at = min(at, t+v.Takes.Suspend)
	}
	return at
}

// delay makes departures later for which no node has room in time, and reports whether any is.
func (b *bound) delay(e *search, x *state) (later bool) {
	for _, vm := range e.Wanted {
		w := &x.vms[vm]
		if b.gone[vm] == repack.Forever || w.state != repack.Running || !b.crowded(e, int(w.at)) {
			continue
		}
		vacant := repack.Forever
		for n := range e.In.Nodes {
			if n != int(w.at) && !e.BannedAlways[vm].Has(n) {
				vacant = min(vacant, b.vacancy(e, x, vm, n))
			}
		}
		if at := b.leaves(e, x, vm, vacant); at > b.gone[vm] {
			b.gone[vm], later = at, true
		}
	}
	return later
}

// crowded reports whether some VM has no room on a node now.
func (b *bound) crowded(e *search, n int) bool {
	free := b.free[n*e.Dims : (n+1)*e.Dims]
	for _, vm := range e.Wanted {
		if !fits(e.Next[vm*e.Dims:(vm+1)*e.Dims], free) {
			return true
		}
	}
	return false
}

// file lists the departures from each node.
func (b *bound) file(e *search, x *state) {
	for n := range b.leaving {
		b.leaving[n] = b.leaving[n][:0]
	}
	for vm := range x.vms {
		b.depart(e, x, vm)
	}
}

// depart notes when the room of a VM becomes free.
func (b *bound) depart(e *search, x *state, vm int) {
	v, w := &e.In.VMs[vm], &x.vms[vm]
	if w.from != repack.Nowhere {
		of := nextDemand
		if w.has(firstFrom) {
			of = firstDemand
		}
		b.note(int(w.from), departure{w.until, vm, of})
	}
	if w.state != repack.Running {
		return
	}
	n, of := int(w.at), nextDemand
	if !w.has(moved | settled) {
		if of = firstDemand; !v.Stays && v.Keeps() && shrinks(v) {
			b.note(n, departure{x.clock, vm, shrinkage})
			of = remainder
		}
	}
	if b.gone[vm] < repack.Forever {
		b.note(n, departure{b.gone[vm], vm, of})
	}
}

// note files a departure, the first in time first.
func (b *bound) note(n int, d departure) {
	list := append(b.leaving[n], d)
	for i := len(list) - 1; i > 0 && list[i-1].at > list[i].at; i-- {
		list[i-1], list[i] = list[i], list[i-1]
	}
	b.leaving[n] = list
}
