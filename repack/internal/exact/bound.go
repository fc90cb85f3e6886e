package exact

import (
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// bound is a lower bound of the cost of what follows a state, with all that it needs again and again.
type bound struct {
	free    []int64 // of each node, by dimension
	room    []int64 // of one node while VMs leave it
	leaving [][]departure
	gone    []repack.Ticks // when each VM leaves the node where it is, at the earliest
	cost    []int64        // least cost of having each VM end on each node, by VM and node
	away    []int64        // least cost of having it elsewhere than on the node where it is
}

func newBound(m *problem.Problem) bound {
	return bound{
		free: make([]int64, len(m.Room)), room: make([]int64, m.Dims), leaving: make([][]departure, len(m.In.Nodes)), gone: make([]repack.Ticks, len(m.In.VMs)),
		cost: make([]int64, len(m.In.VMs)*len(m.In.Nodes)), away: make([]int64, len(m.In.VMs)),
	}
}

// rest returns the bound. It is not ok if no plan follows the state.
func (b *bound) rest(e *search, x *state) (sum int64, ok bool) {
	b.prepare(e, x)
	for vm := range x.vms {
		v, w := &e.In.VMs[vm], &x.vms[vm]
		if v.Want == repack.Running || w.state == v.Want {
			continue
		}
		takes := v.Takes.Shutdown
		if v.Want == repack.Sleeping {
			takes = v.Takes.Suspend
		}
		if e.late(x, vm, x.clock, x.clock+takes) {
			return 0, false
		}
		sum += v.Weight * int64(x.clock+takes)
	}
	rest := b.separate(e)
	if e.endings != nil && rest < problem.Never {
		rest = b.cheapestEnding(e)
	}
	return sum + rest, rest < problem.Never
}

// cheapestEnding is the least cost of the final placements in question.
func (b *bound) cheapestEnding(e *search) int64 {
	least := int64(problem.Never)
	for i := range e.endings {
		sum := e.endings[i].penalty
		for k, n := range e.endings[i].at {
			if sum += b.cost[e.Wanted[k]*len(e.In.Nodes)+int(n)]; sum >= least {
				break
			}
		}
		least = min(least, sum)
	}
	return least
}

// separate adds up the least cost of each VM, and on top of that what the cheapest cost that leave nodes
// on which not all fit that are there.
func (b *bound) separate(e *search) (sum int64) {
	for _, vm := range e.Wanted {
		least, second := int64(problem.Never), int64(problem.Never)
		for _, n := range e.OpenNodes {
			switch c := b.cost[vm*len(e.In.Nodes)+n]; {
			case c < least:
				least, second = c, least
			case c < second:
				second = c
			}
		}
		if least >= problem.Never {
			return problem.Never
		}
		sum += least
		b.away[vm] = second
	}
	for _, n := range e.OpenNodes {
		if sum += b.crowding(e, n); sum >= problem.Never {
			return problem.Never
		}
	}
	return sum
}

// crowding is the least cost of the VMs that leave a node so that the others fit.
func (b *bound) crowding(e *search, n int) int64 {
	var stay []int
	for _, vm := range e.Wanted {
		if b.cost[vm*len(e.In.Nodes)+n] == 0 {
			stay = append(stay, vm)
		}
	}
	over := b.room
	for d := range over {
		over[d] = -e.Room[n*e.Dims+d]
		for _, vm := range stay {
			over[d] += e.Next[vm*e.Dims+d]
		}
	}
	return b.relief(e, stay, over, problem.Never)
}

// relief is the least cost of VMs to remove until nothing is over, below a limit.
func (b *bound) relief(e *search, vms []int, over []int64, limit int64) int64 {
	if slices.Max(over) <= 0 {
		return 0
	}
	for i, vm := range vms {
		if b.away[vm] >= limit {
			continue
		}
		for d := range over {
			over[d] -= e.Next[vm*e.Dims+d]
		}
		limit = min(limit, b.away[vm]+b.relief(e, vms[i+1:], over, limit-b.away[vm]))
		for d := range over {
			over[d] += e.Next[vm*e.Dims+d]
		}
	}
	return limit
}

// prepare computes the free room of a state, what will leave, and the cost of each VM on each node.
func (b *bound) prepare(e *search, x *state) {
	b.freeRoom(e, x)
	b.departures(e, x)
	for _, vm := range e.Wanted {
		for n := range e.In.Nodes {
			b.cost[vm*len(e.In.Nodes)+n] = b.costOn(e, x, vm, n)
		}
	}
}

// freeRoom computes the free room of each node.
func (b *bound) freeRoom(e *search, x *state) []int64 {
	copy(b.free, e.passing)
	for vm := range x.vms {
		w := &x.vms[vm]
		if w.state == repack.Running {
			demand := e.Now
			if w.has(moved | settled) {
				demand = e.Next
			}
			for d := range e.Dims {
				b.free[int(w.at)*e.Dims+d] -= demand[vm*e.Dims+d]
			}
		}
		if w.from != repack.Nowhere {
			demand := e.Next
			if w.has(firstFrom) {
				demand = e.Now
			}
			for d := range e.Dims {
				b.free[int(w.from)*e.Dims+d] -= demand[vm*e.Dims+d]
			}
		}
	}
	return b.free
}

// vacancy is when a VM has room on a node at the earliest.
func (b *bound) vacancy(e *search, x *state, vm, n int) repack.Ticks {
	ready := e.ready(x, n)
	room, need := b.room, e.Next[vm*e.Dims:(vm+1)*e.Dims]
	copy(room, b.free[n*e.Dims:])
	if fits(need, room) {
		return ready
	}
	for _, l := range b.leaving[n] {
		for d := range room {
			now, next := e.Now[l.vm*e.Dims+d], e.Next[l.vm*e.Dims+d]
			switch l.share {
			case firstDemand:
				room[d] += now
			case nextDemand:
				room[d] += next
			case shrinkage:
				room[d] += max(0, now-next)
			case remainder:
				room[d] += min(now, next)
			}
		}
		if fits(need, room) {
			return max(ready, l.at)
		}
	}
	return repack.Forever
}

func fits(need, room []int64) bool {
	for d := range need {
		if need[d] > 0 && need[d] > room[d] {
			return false
		}
	}
	return true
}

// ready is when a node takes VMs at the earliest.
func (e *search) ready(x *state, n int) repack.Ticks {
	switch {
	case !e.switches:
		return max(x.clock, e.Ready(n))
	case x.nodes[n].on:
		return max(x.clock, x.nodes[n].until)
	case e.In.Nodes[n].State == repack.Online:
		return repack.Forever
	default:
		return x.clock + e.In.NodeOn
	}
}

// costOn is the least cost of having a VM end on a node.
func (b *bound) costOn(e *search, x *state, vm, n int) int64 {
	v, w := &e.In.VMs[vm], &x.vms[vm]
	switch {
	case !e.Open[n] || e.Banned[vm].Has(n):
		return problem.Never
	case w.state == repack.Running && int(w.at) == n:
		return 0
	case v.Stays || w.has(settled) || e.Rooted[vm] && v.State == repack.Running && int(w.at) != n:
		return problem.Never
	}
	t, vacant := max(x.clock, w.until), b.vacancy(e, x, vm, n)
	if vacant == repack.Forever {
		return problem.Never
	}
	direct := func(takes repack.Ticks) int64 {
		if end := max(t, vacant) + takes; !e.late(x, vm, t, end) { // it may go by another node first
			return v.Weight * int64(end)
		}
		return problem.Never
	}
	twice := func(first, then repack.Ticks) int64 {
		if end := max(t+first, vacant) + then; !e.late(x, vm, t, end) {
			return v.Weight * int64(t+first+end)
		}
		return problem.Never
	}
	switch {
	case w.state == repack.Ready:
		return min(direct(v.Takes.Boot), twice(v.Takes.Boot, v.Takes.Migrate))
	case w.state == repack.Sleeping:
		takes := v.Takes.ResumeRemote
		if int(w.at) == n {
			takes = v.Takes.ResumeLocal
		}
		if e.Rooted[vm] {
			return direct(takes)
		}
		return min(direct(takes), twice(min(v.Takes.ResumeLocal, v.Takes.ResumeRemote), v.Takes.Migrate))
	case e.Rooted[vm]:
		return problem.Never
	case e.Suspendable(v):
		return min(direct(v.Takes.Migrate), twice(v.Takes.Suspend, v.Takes.ResumeRemote))
	default:
		return direct(v.Takes.Migrate)
	}
}

// late reports whether a VM misses a deadline if its next action starts and its last one ends then.
func (e *search) late(x *state, vm int, start, end repack.Ticks) bool {
	if len(e.Deadlines) == 0 {
		return false
	}
	d, ok := e.Deadlines[vm]
	return ok && (end > d.End || start > d.Start && !x.vms[vm].has(moved))
}
