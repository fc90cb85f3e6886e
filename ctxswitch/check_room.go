package ctxswitch

import (
	"slices"

	"vjob/cluster"
)

// holding is room that a VM holds on a node: from the start of an action (-1: the beginning)
// until all of some actions have ended (empty: forever). A migrating VM has two at a time.
type holding struct {
	vm    cluster.VMID
	node  cluster.NodeID
	need  cluster.Resources
	from  int
	until []ActionID
}

// occupancy follows the holdings of a VM. When a VM pauses, the holding of its CPU ends and that
// of its memory continues.
type occupancy struct {
	*check
	vm   cluster.VMID
	open []holding
}

// onNode reports whether a VM in that state is on a node.
func onNode(s cluster.VMState) bool { return s == cluster.VMRunning || s == cluster.VMPaused }

// arrive begins what a VM holds where it is.
func (l *occupancy) arrive(at situation, from int) {
	need := l.count(l.vm)
	switch at.state {
	case cluster.VMRunning:
	case cluster.VMPaused:
		need.CPU = 0
	default:
		return
	}
	l.open = append(l.open, holding{vm: l.vm, node: at.place, need: need, from: from})
}

// act changes it by an action that leads to a situation.
func (l *occupancy) act(a Action, then situation) {
	switch a.Kind {
	case cluster.Pause:
		for i := range l.open {
			h := &l.open[i]
			part := *h
			part.need.Memory, part.until = 0, l.release(a)
			l.holds = append(l.holds, part)
			h.need.CPU = 0
		}
	case cluster.Unpause:
		need := cluster.Resources{CPU: l.count(l.vm).CPU}
		l.open = append(l.open, holding{vm: l.vm, node: then.place, need: need, from: int(a.ID)})
	default:
		l.leave(l.release(a))
		l.arrive(then, int(a.ID))
	}
}

// leave ends all that is held once some actions have ended; none: it is held for good.
func (l *occupancy) leave(until []ActionID) {
	for _, h := range l.open {
		h.until = until
		l.holds = append(l.holds, h)
	}
	l.open = nil
}

// over reports whether h is certainly over when o begins.
func (c *check) over(h, o holding) bool {
	return o.from >= 0 && len(h.until) > 0 && c.before[o.from].hasAll(h.until)
}

// room checks that whatever arrives fits in the worst case.
//
// Two holdings of a node exclude each other when one is certainly over when the
// other begins. That relation is an order, because a VM's holding begins before
// it ends. Holdings of which none excludes another can coincide: let everything
// end that any of them waits for, and nothing else. So the worst that an arrival
// can meet is the heaviest antichain of the holdings that it does not exclude.
// (Where a gang frees room together, an antichain may weigh more than what can
// really coincide: the check then refuses too much, never too little.)
//
// A node that is overloaded from the start is no fault of the plan; adding to it
// is, and shows as an arrival that does not fit.
func (c *check) room() {
	byNode := map[cluster.NodeID][]holding{}
	for _, h := range c.holds {
		byNode[h.node] = append(byNode[h.node], h)
	}
	for _, n := range c.p.Current.Nodes() {
		room := n.Capacity.Minus(c.p.Claims[n.ID])
		for _, h := range byNode[n.ID] {
			if h.from >= 0 {
				c.arrival(n.ID, room, h, byNode[n.ID])
			}
		}
	}
}

// arrival checks one holding that begins in the plan.
func (c *check) arrival(node cluster.NodeID, room cluster.Resources, h holding, all []holding) {
	var met []holding
	for _, o := range all {
		if o.vm == h.vm && o.from == h.from || c.over(o, h) || c.over(h, o) {
			continue
		}
		met = append(met, o)
	}
	for d := range dimensions {
		need := d.of(h.need)
		if need == 0 {
			continue
		}
		weights := make([]int64, len(met))
		for i, o := range met {
			weights[i] = d.of(o.need)
		}
		if worst := need + heaviest(weights, func(i, j int) bool { return c.over(met[i], met[j]) }); worst > d.of(room) {
			name := [...]string{"thousandths of a CPU", "MiB"}[d]
			c.fault("node %s may have to give %d %s while action %d brings VM %s, it has %d",
				node, worst, name, h.from, h.vm, d.of(room))
		}
	}
}

// heaviest is the weight of the heaviest antichain of an order. By Dilworth's theorem it
// is the least weight of chains that cover everything by its own weight: the sum of all
// weights less what chains can link, a greatest flow.
func heaviest(weight []int64, before func(i, j int) bool) (sum int64) {
	n := len(weight)
	follows := make([][]bool, n)
	for i := range n {
		sum += weight[i]
		follows[i] = make([]bool, n)
		for j := range n {
			follows[i][j] = i != j && before(i, j)
		}
	}
	return sum - linked(weight, follows)
}

// linked is the greatest flow from the ends of holdings to the beginnings of
// those that may follow them, each giving and taking at most its weight.
func linked(weight []int64, follows [][]bool) (total int64) {
	n := len(weight)
	give, take := slices.Clone(weight), slices.Clone(weight)
	flow := make([][]int64, n) // from end i to beginning j
	for i := range flow {
		flow[i] = make([]int64, n)
	}
	// push sends more from the end i along a path of links to be made and unmade.
	var push func(i int, most int64, seen []bool) int64
	push = func(i int, most int64, seen []bool) int64 {
		seen[i] = true
		for j := range n {
			if !follows[i][j] {
				continue
			}
			if sent := min(most, take[j]); sent > 0 {
				take[j] -= sent
				flow[i][j] += sent
				return sent
			}
			for k := range n {
				if seen[k] || flow[k][j] == 0 {
					continue
				}
				if sent := push(k, min(most, flow[k][j]), seen); sent > 0 {
					flow[k][j] -= sent
					flow[i][j] += sent
					return sent
				}
			}
		}
		return 0
	}
	for i := range n {
		for give[i] > 0 {
			sent := push(i, give[i], make([]bool, n))
			if sent == 0 {
				break
			}
			give[i] -= sent
			total += sent
		}
	}
	return total
}

// dimension is one of the resources.
type dimension uint8

const (
	cpu dimension = iota
	_             // memory
	dimensions
)

// of is the amount of the resource, in its own unit.
func (d dimension) of(r cluster.Resources) int64 {
	if d == cpu {
		return int64(r.CPU)
	}
	return int64(r.Memory)
}
