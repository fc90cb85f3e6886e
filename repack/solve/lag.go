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

// queues are buffers for the lags of one node.
type queues struct {
	comes, goes, changed []int
	free                 []int64
}

// lagging computes the lags of what comes to a node and returns the VMs of which
// they have changed, until the next call.
func (s *state) lagging(n int) []int {
	q := &s.queues
	q.changed, q.comes = q.changed[:0], q.comes[:0]
	for _, vm := range s.here[n] {
		if !s.staysAt(vm, n) {
			q.comes = append(q.comes, vm)
		}
	}
	switch {
	case len(q.comes) == 0:
	case s.crowded(n):
		s.inTurn(n)
	default:
		for _, vm := range q.comes {
			s.delay(vm, s.ready(n))
		}
	}
	return q.changed
}

// delay sets the lag of a VM.
func (s *state) delay(vm int, lag repack.Ticks) {
	if s.lag[vm] != lag {
		s.waits += s.patience(vm) * int64(lag-s.lag[vm])
		s.lag[vm] = lag
		s.queues.changed = append(s.queues.changed, vm)
	}
}

// inTurn lets what comes to a node in as soon as what goes has left enough room.
func (s *state) inTurn(n int) {
	q := &s.queues
	free := append(q.free[:0], s.room[n*s.dims:(n+1)*s.dims]...)
	for d := range free {
		free[d] -= s.rush[n*s.dims+d]
		for _, vm := range q.comes {
			free[d] += s.next[vm*s.dims+d]
		}
	}
	goes := append(q.goes[:0], s.leave[n]...)
	q.free, q.goes = free, goes
	when := func(vm int) repack.Ticks { return s.lag[vm] + s.parting[vm] }
	slices.SortFunc(goes, func(a, b int) int { return cmp.Or(cmp.Compare(when(a), when(b)), cmp.Compare(a, b)) })
	slices.SortFunc(q.comes, func(a, b int) int { return cmp.Or(cmp.Compare(s.key(a), s.key(b)), cmp.Compare(a, b)) })
	clock, comes := s.ready(n), q.comes
	for i := 0; ; i++ {
		rest := comes[:0]
		for _, vm := range comes {
			if s.take(free, vm) {
				s.delay(vm, clock)
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
		s.delay(vm, longest)
	}
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
