package placement

import (
	"cmp"
	"slices"

	"vjob/repack"
)

// Delays are estimated node by node and without a schedule. An arrival waits until enough
// departures have left, and those leave when they have reached their own nodes. This is a
// thousand times faster than a schedule and seldom wrong.

// maxDelayChain bounds how far a changed delay is followed from node to node.
const maxDelayChain = 64

// RefreshDelays updates the delays of the arrivals on these nodes, and of the arrivals that
// wait for them in turn.
func (s *State) RefreshDelays(nodes ...int) {
	todo := append(s.scratch[:0], nodes...)
	for i := 0; i < len(todo) && i < len(nodes)+maxDelayChain; i++ {
		n := todo[i]
		for _, vm := range s.delaysOn(n) {
			if src := s.Home[vm]; src != n && s.In.VMs[vm].State == repack.Running && s.crowded(src) {
				todo = append(todo, src)
			}
		}
	}
	s.scratch = todo
}

// crowded reports whether the node lacks room for all its VMs, arrivals and departures at
// once.
func (s *State) crowded(n int) bool {
	for d := range s.Dims {
		if s.PeakLoad[n*s.Dims+d] > s.Room[n*s.Dims+d] {
			return true
		}
	}
	return false
}

// queues are buffers for the delays of one node.
type queues struct {
	comes, goes, changed []int
	free                 []int64
}

// delaysOn computes the delays of the arrivals on a node. It returns the VMs with new
// delays; the list is valid until the next call.
func (s *State) delaysOn(n int) []int {
	q := &s.delayBuffers
	q.changed, q.comes = q.changed[:0], q.comes[:0]
	for _, vm := range s.VMsOn.At(n) {
		if !s.StaysAt(vm, n) {
			q.comes = append(q.comes, vm)
		}
	}
	switch {
	case len(q.comes) == 0:
	case s.crowded(n):
		s.queueArrivals(n)
	default:
		for _, vm := range q.comes {
			s.setDelay(vm, s.Ready(n))
		}
	}
	return q.changed
}

// setDelay sets the delay of a VM.
func (s *State) setDelay(vm int, delay repack.Ticks) {
	if s.Delays[vm] != delay {
		s.delayCost += s.WaitCost(vm) * int64(delay-s.Delays[vm])
		s.Delays[vm] = delay
		s.delayBuffers.changed = append(s.delayBuffers.changed, vm)
	}
}

// queueArrivals lets arrivals onto a node as soon as departures have left enough room.
func (s *State) queueArrivals(n int) {
	q := &s.delayBuffers
	free := append(q.free[:0], s.Room[n*s.Dims:(n+1)*s.Dims]...)
	for d := range free {
		free[d] -= s.PeakLoad[n*s.Dims+d]
		for _, vm := range q.comes {
			free[d] += s.Next[vm*s.Dims+d]
		}
	}
	goes := append(q.goes[:0], s.Leaving.At(n)...)
	q.free, q.goes = free, goes
	when := func(vm int) repack.Ticks { return s.Delays[vm] + s.DepartureTime[vm] }
	slices.SortFunc(goes, func(a, b int) int { return cmp.Or(cmp.Compare(when(a), when(b)), cmp.Compare(a, b)) })
	slices.SortFunc(q.comes, func(a, b int) int { return cmp.Or(cmp.Compare(s.key(a), s.key(b)), cmp.Compare(a, b)) })
	clock, comes := s.Ready(n), q.comes
	for i := 0; ; i++ {
		rest := comes[:0]
		for _, vm := range comes {
			if s.reserve(free, vm) {
				s.setDelay(vm, clock)
			} else {
				rest = append(rest, vm)
			}
		}
		comes = rest
		if len(comes) == 0 || i == len(goes) {
			break
		}
		clock = max(clock, min(when(goes[i]), maxDelay))
		for d := range free {
			free[d] += s.Now[goes[i]*s.Dims+d]
		}
	}
	for _, vm := range comes {
		s.setDelay(vm, maxDelay)
	}
}

// maxDelay is a delay that no node is worth.
const maxDelay = 1 << 20

// reserve takes the next demand of a VM from the free capacity, if there is enough.
func (s *State) reserve(free []int64, vm int) bool {
	for d := range free {
		if need := s.Next[vm*s.Dims+d]; need > 0 && need > free[d] {
			return false
		}
	}
	for d := range free {
		free[d] -= s.Next[vm*s.Dims+d]
	}
	return true
}

// key orders tasks that wait for the same room, see package schedule.
func (s *State) key(vm int) int64 { return s.SmithRatio(vm, s.Duration(vm, s.NodeOf[vm])) }

// Value returns the estimated cost of the placement.
func (s *State) Value() int64 {
	return s.cost + s.delayCost + s.Congestion.cost() + s.Penalty + s.unplacedBulk*unplacedCost + int64(s.Breaches)*1_000_000*unplacedCost
}

// unplacedCost is the cost of a millionth of an average node without a place: a VM without a
// place costs more than any placement of it.
const unplacedCost = 1 << 20
