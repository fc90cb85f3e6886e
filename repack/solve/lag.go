package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// Lags estimate how long actions wait, node by node and without a schedule: what
// comes to a node waits until enough of what goes has gone, and that goes when it
// has come to its own node. A schedule is the truth; this is a thousand times
// faster and seldom wrong.

// mostChain bounds how far a changed lag is followed from node to node.
const mostChain = 64

// refresh brings the lags of what comes to these nodes up to date, and of what
// waits for that in turn.
func (s *state) refresh(nodes ...int) {
	todo := append(s.scratch[:0], nodes...)
	for i := 0; i < len(todo) && i < len(nodes)+mostChain; i++ {
		n := todo[i]
		for _, vm := range s.lagging(n) {
			if src := s.home[vm]; src != n && s.in.VMs[vm].State == repack.Running && s.crowded(src) {
				todo = append(todo, src)
			}
		}
	}
	s.scratch = todo
}

// crowded reports whether not everything can be on the node at once.
func (s *state) crowded(n int) bool {
	for d := range s.dims {
		if s.rush[n*s.dims+d] > s.room[n*s.dims+d] {
			return true
		}
	}
	return false
}

// lagging computes the lags of what comes to a node and returns the VMs of which
// they have changed.
func (s *state) lagging(n int) (changed []int) {
	set := func(vm int, lag repack.Ticks) {
		if s.lag[vm] != lag {
			s.waits += s.patience(vm) * int64(lag-s.lag[vm])
			s.lag[vm] = lag
			changed = append(changed, vm)
		}
	}
	var comes []int
	for _, vm := range s.here[n] {
		if !s.staysAt(vm, n) {
			comes = append(comes, vm)
		}
	}
	if len(comes) == 0 {
		return nil
	}
	if !s.crowded(n) {
		for _, vm := range comes {
			set(vm, s.ready(n))
		}
		return changed
	}
	free := make([]int64, s.dims)
	for d := range free {
		free[d] = s.room[n*s.dims+d] - s.rush[n*s.dims+d]
		for _, vm := range comes {
			free[d] += s.next[vm*s.dims+d]
		}
	}
	goes := slices.Clone(s.leave[n])
	when := func(vm int) repack.Ticks { return s.lag[vm] + s.parting[vm] }
	slices.SortFunc(goes, func(a, b int) int { return cmp.Or(cmp.Compare(when(a), when(b)), cmp.Compare(a, b)) })
	slices.SortFunc(comes, func(a, b int) int { return cmp.Or(cmp.Compare(s.key(a), s.key(b)), cmp.Compare(a, b)) })
	clock := s.ready(n)
	for i := 0; ; i++ {
		rest := comes[:0]
		for _, vm := range comes {
			if s.take(free, vm) {
				set(vm, clock)
			} else {
				rest = append(rest, vm)
			}
		}
		comes = rest
		if len(comes) == 0 || i == len(goes) {
			break
		}
		clock = max(clock, min(when(goes[i]), longest))
		for d := range free {
			free[d] += s.now[goes[i]*s.dims+d]
		}
	}
	for _, vm := range comes {
		set(vm, longest)
	}
	return changed
}

// longest is a lag that no node can be worth.
const longest = 1 << 20

// take takes the next demand of a VM from what is free, if it is there.
func (s *state) take(free []int64, vm int) bool {
	for d := range free {
		if need := s.next[vm*s.dims+d]; need > 0 && need > free[d] {
			return false
		}
	}
	for d := range free {
		free[d] -= s.next[vm*s.dims+d]
	}
	return true
}

// key is the order in which tasks that wait for the same room go, see [unit].
func (s *state) key(vm int) int64 { return s.urgency(vm, s.on(vm, s.at[vm])) }

// value is what the placement is estimated to cost.
func (s *state) value() int64 {
	return s.cost + s.waits + s.jam.cost() + s.penalty + s.lost*unplaced + int64(s.breaches)*1_000_000*unplaced
}

// unplaced is what a millionth of an average node costs that has no place: a VM
// that is nowhere costs more than any placement of it.
const unplaced = 1 << 20
