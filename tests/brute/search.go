package brute

import (
	"container/heap"
	"encoding/binary"
	"slices"

	"vjob/repack"
)

// search is an exhaustive search for plans, see [Cheapest].
type search struct {
	in       *repack.Instance
	limit    int64
	left     int  // states that may still be looked at
	oneByOne bool // no two actions at one time, and costs are ignored
	rooted   []bool
	barred   [][]bool
	first    [][]int64 // what the VMs on each node occupy at first
	history  bool      // rules look at times, so states with different pasts are different
	switches bool      // nodes are switched at any time; otherwise on first and off last
	seen     map[string][]*state
	queue    queue
}

// state is where everything is at an instant, and the way to it.
type state struct {
	clock  repack.Ticks
	vms    []vmState
	nodes  []nodeState
	before *state
	action repack.Action // that led here from the state before, unless that was waiting
	acts   bool
	cost   int64  // of the actions so far
	least  int64  // of a plan with these actions
	past   uint64 // tells apart what was done when
	whole  *repack.Plan
}

// vmState is what a VM is or will be when its action has ended.
type vmState struct {
	state repack.VMState
	at    int          // where it runs, or its image is; Nowhere
	from  int          // the node that it occupies besides until then; Nowhere
	until repack.Ticks // when its action ends
	moved bool         // it has its next demand as it has acted
	first bool         // it occupies from with its first demand
	grown bool         // it has its next demand where it ran at first, and stays there
}

// nodeState is whether a node is on, or will be.
type nodeState struct {
	on    bool
	until repack.Ticks
}

func newSearch(in *repack.Instance, limit int64, states int) *search {
	s := &search{in: in, limit: limit, left: states, rooted: rooted(in), barred: barred(in), history: !Timeless(in), switches: hasRule(in, "maxOnline"), seen: map[string][]*state{}}
	first := &state{vms: make([]vmState, len(in.VMs)), nodes: make([]nodeState, len(in.Nodes))}
	for vm := range in.VMs {
		first.vms[vm] = vmState{state: in.VMs[vm].State, at: in.VMs[vm].Host, from: repack.Nowhere}
	}
	for n := range in.Nodes {
		node := &in.Nodes[n]
		first.nodes[n].on = node.State == repack.Online
	}
	if !s.switches {
		for n := range in.Nodes {
			if node := &in.Nodes[n]; node.State == repack.Offline && node.Want != repack.Offline {
				first = s.switched(first, n, repack.NodeOn, in.NodeOn)
			}
		}
	}
	for n := range in.Nodes {
		s.first = append(s.first, nil)
		for d, capacity := range in.Nodes[n].Capacity {
			s.first[n] = append(s.first[n], s.load(first, n, d))
			s.history = s.history || s.first[n][d] > capacity
		}
	}
	s.add(first)
	return s
}

func (s *search) run() Answer {
	for len(s.queue) > 0 {
		if s.left--; s.left < 0 {
			return Answer{}
		}
		x := heap.Pop(&s.queue).(*state)
		if x.whole != nil {
			return Answer{Plan: x.whole, Cost: x.least, Done: true}
		}
		s.finish(x)
		s.expand(x)
	}
	return Answer{Done: true}
}

// add queues a state, unless it costs too much or one as good is known.
func (s *search) add(x *state) {
	if x.least = x.cost + s.rest(x); x.least >= s.limit {
		return
	}
	k := s.key(x)
	list := s.seen[k]
	for _, y := range list {
		if s.oneByOne || s.asGood(y, x) {
			return
		}
	}
	if x.acts && s.breaks(x) {
		s.left--
		return
	}
	s.seen[k] = append(slices.DeleteFunc(list, func(y *state) bool { return s.asGood(x, y) }), x)
	heap.Push(&s.queue, x)
}

// key is the same for states that differ in time and cost only.
func (s *search) key(x *state) string {
	text := make([]byte, 0, 64)
	for i := range x.vms {
		v := &x.vms[i]
		flags := byte(v.state)
		for bit, set := range [...]bool{v.moved, v.first, v.grown, v.until > x.clock} {
			if set {
				flags |= 8 << bit
			}
		}
		text = append(text, flags, byte(v.at+1), byte(v.from+1))
	}
	for n := range x.nodes {
		if at := x.nodes[n].until; at > x.clock {
			text = binary.AppendVarint(text, int64(at))
		}
		if x.nodes[n].on {
			text = append(text, byte(n))
		}
	}
	if s.history {
		text = binary.LittleEndian.AppendUint64(text, x.past)
	}
	return string(text)
}

// then is the past with one more action. The order of actions that start together does not matter.
func (x *state) then(a repack.Action) uint64 {
	h := uint64(a.VM+2)<<48 ^ uint64(a.Kind)<<40 ^ uint64(a.To+2)<<32 ^ uint64(a.Start)
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	return x.past + h*0xbf58476d1ce4e5b9
}

// asGood reports whether all that a state allows is allowed by another, no later and no dearer.
func (s *search) asGood(y, x *state) bool {
	if y.clock > x.clock || y.cost > x.cost {
		return false
	}
	for vm := range y.vms {
		if y.vms[vm].until > max(x.vms[vm].until, x.clock) {
			return false
		}
	}
	return true
}

// breaks reports whether a rule is broken already.
func (s *search) breaks(x *state) bool {
	plan := s.plan(x)
	for vm := range x.vms {
		v := &s.in.VMs[vm]
		at := repack.Ticks(1) << 50 // some time later
		if w := &x.vms[vm]; v.Keeps() && !v.Steady() && !w.moved && !w.grown {
			plan.Actions = append(plan.Actions, repack.Action{Kind: repack.Allocate, VM: vm, From: repack.Nowhere, To: v.Host, Start: at, End: at})
		}
	}
	t, _ := repack.Trace(s.in, plan)
	for _, r := range s.in.Rules {
		if r.Penalty > 0 {
			continue
		}
		for _, b := range r.Check(t) {
			if b.At <= x.clock {
				return true
			}
		}
	}
	return false
}

// plan has the actions that lead to a state.
func (s *search) plan(x *state) *repack.Plan {
	p := &repack.Plan{}
	for ; x != nil; x = x.before {
		if x.acts {
			p.Actions = append(p.Actions, x.action)
		}
	}
	slices.Reverse(p.Actions)
	return p
}

// finish queues the plan that ends with a state, if it is right.
func (s *search) finish(x *state) {
	if s.rest(x) > 0 || x.least > x.cost {
		return
	}
	plan := s.plan(x)
	var last repack.Ticks
	for i := range plan.Actions {
		last = max(last, plan.Actions[i].End)
	}
	for vm := range x.vms {
		if x.vms[vm].state != s.in.VMs[vm].Want {
			return
		}
	}
	for n := range x.nodes {
		if node := &s.in.Nodes[n]; !s.switches && node.State == repack.Online && node.Want == repack.Offline {
			plan.Actions = append(plan.Actions, repack.Action{
				Kind: repack.NodeOff, VM: repack.Nowhere, From: repack.Nowhere, To: n, Start: last, End: last + s.in.NodeOff,
			})
		}
	}
	report, err := repack.Check(s.in, plan)
	if err != nil || !report.Valid() {
		return
	}
	cost := report.Figures.Objective + report.Figures.Penalty
	if cost < s.limit {
		heap.Push(&s.queue, &state{clock: x.clock, least: cost, whole: plan})
	}
}

// queue has the most promising state first.
type queue []*state

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].least != q[j].least {
		return q[i].least < q[j].least
	}
	return q[i].cost > q[j].cost
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*state)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
