// Package exact finds the best plan of a small problem and proves that it is, or proves that no plan
// exists.
//
// [Search] looks at the states to which plans lead, the most promising first (A*): where each VM is,
// what is under way and until when (state.go). In each state one more action starts, or time goes on
// to the next end (step.go). A lower bound of what is still to be done (bound.go) and dominance leave
// few states: of two with every VM in the same place, the one that is earlier and cheaper will do.
// Where few final placements are in question, they are listed first (ending.go).
package exact

import (
	"container/heap"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
	"vjob/repack/internal/schedule"
)

// Steps bounds a search: states that are kept or looked at. It takes less than a second.
const Steps = 200_000

// How many VMs and nodes are few.
const (
	maxVMs   = 10
	maxNodes = 6
)

// Small reports whether the problem, once it is [Relaxed], is for [Search]: a sum of completion times, few
// VMs and nodes.
func Small(m *problem.Problem) bool {
	return m.Objective == repack.Completion && Few(len(m.In.VMs), len(m.In.Nodes))
}

// Few reports whether so many VMs and nodes are few.
func Few(vms, nodes int) bool { return vms <= maxVMs && nodes <= maxNodes }

// Result is what a search tells.
type Result struct {
	Actions []repack.Action // of the best plan below the limit, by start; nil: none
	Cost    int64           // in the objective, with the penalties of soft rules
	Done    bool            // proved: the plan is the best, or without a plan, each costs the limit at least
	Steps   int             // of the search
}

// search is the search for the best plan.
type search struct {
	*placement.State
	limit    int64
	steps    int      // at most
	left     int      // of them
	any      bool     // any plan will do
	timeless bool     // and no rule looks at the time of day
	loose    bool     // see Bound
	passing  []int64  // by node and dimension, what VMs may occupy before the end
	first    []int    // where each VM is at first, for gates
	floor    int64    // penalties that every plan has
	cut      bool     // some plan that may be better has been left out
	gates    bool     // what a VM has done matters
	switches bool     // nodes are switched at any time; otherwise on first and off last
	reduced  []bool   // VMs that need not start later than they can, see reduce.go
	slots    bool     // nodes carry few transfers at once
	ordered  bool     // what starts in one instant starts in the order of VMs
	endings  []ending // all final placements in question; nil: too many
	seen     map[string][]*state
	queue    queue
	bound    bound
	key      []byte
}

// Search looks for the best plan that costs less than a limit. The placement has no VMs, and is
// changed. Without a limit it first looks for any plan, as whatever costs more need not be looked at then.
func Search(s *placement.State, limit int64, steps int) Result {
	if limit < problem.Never {
		return newSearch(s, limit, steps).run()
	}
	e := newSearch(s, limit, steps*2/3)
	e.anyPlan()
	first := e.run()
	if first.Done && first.Actions == nil {
		return first
	}
	if first.Actions != nil {
		limit = first.Cost
	}
	best := newSearch(s, limit, steps-first.Steps).run()
	best.Steps += first.Steps
	if best.Actions == nil {
		best.Actions, best.Cost = first.Actions, first.Cost
	}
	return best
}

func newSearch(s *placement.State, limit int64, steps int) *search {
	e := &search{
		State: s, limit: limit, steps: steps, left: steps, first: make([]int, len(s.In.VMs)), seen: map[string][]*state{},
		gates: len(s.Gates)+len(s.SyncSets) > 0, switches: len(s.Limits) > 0, bound: newBound(s.Problem), slots: s.In.LimitsTransfers(), passing: s.Room,
	}
	for vm := range e.first {
		e.first[vm] = s.In.VMs[vm].Host
	}
	e.reduce()
	for _, r := range s.In.Rules {
		if i, ok := r.Rule.(problem.Inevitable); ok {
			e.floor += r.Penalty * int64(i.Inevitable(s.In))
		}
	}
	return e
}

// run looks for the best plan below the limit, or for any.
func (e *search) run() Result {
	if e.findEndings(); e.endings != nil && len(e.endings) == 0 {
		return Result{Done: true, Steps: e.steps - e.left}
	}
	e.add(e.begin())
	for len(e.queue) > 0 {
		if e.left--; e.left < 0 || e.left%1024 == 0 && e.Aborted() {
			return Result{Steps: e.steps}
		}
		x := heap.Pop(&e.queue).(*state)
		switch {
		case x.ended:
			return Result{Actions: e.actions(x.before), Cost: x.cost, Done: !e.cut && e.comprehensive(), Steps: e.steps - e.left}
		case !x.dominated && e.breaksMore(x):
			heap.Push(&e.queue, x)
		case !x.dominated && x.least < e.limit:
			e.finish(x)
			e.expand(x)
		}
	}
	return Result{Done: !e.cut && e.comprehensive(), Steps: e.steps - e.left}
}

// add queues a state, unless it costs too much or is not better than one that is known.
func (e *search) add(x *state) {
	if x == nil || x.least >= e.limit {
		return
	}
	e.key = e.appendKey(e.key[:0], x)
	list := e.seen[string(e.key)]
	for _, y := range list {
		if e.dominates(y, x) {
			return
		}
	}
	list = slices.DeleteFunc(list, func(y *state) bool {
		y.dominated = y.dominated || e.dominates(x, y)
		return y.dominated
	})
	e.seen[string(e.key)] = append(list, x)
	e.left--
	heap.Push(&e.queue, x)
}

// finish queues the end of the plan that leads to a state, if all VMs are where they may end.
func (e *search) finish(x *state) {
	for vm := range x.vms {
		if x.vms[vm].wrong(e.Problem, vm) {
			return
		}
	}
	e.Record()
	defer e.RollBack(0)
	for _, vm := range e.Wanted {
		e.Move(vm, int(x.vms[vm].at))
	}
	if e.Breaches > 0 || slices.ContainsFunc(e.OpenNodes, e.Overloaded) || !e.powered(x) {
		return
	}
	cost := x.cost + e.Penalty
	if e.Uncounted {
		e.left -= 20 // as long as that takes
	}
	if cost < e.limit && (e.Uncounted || slices.ContainsFunc(e.MigrationPenalty, func(p int64) bool { return p > 0 })) {
		cost = x.cost + schedule.Of(e.Problem, e.actions(x)).Penalty(e.State)
	}
	if cost < e.limit {
		e.limit = cost
		end := &state{before: x, cost: cost, least: cost, ended: true}
		if e.any {
			end.least = -1
		}
		heap.Push(&e.queue, end)
	}
}

// actions are those that lead to a state, and the switching of nodes.
func (e *search) actions(x *state) (list []repack.Action) {
	list = []repack.Action{}
	var last repack.Ticks
	used := make([]bool, len(e.In.Nodes))
	for y := x; y != nil; y = y.before {
		if y.does {
			list = append(list, y.action)
			last = max(last, y.action.End)
			if y.action.To != repack.Nowhere {
				used[y.action.To] = true
			}
		}
	}
	slices.Reverse(list)
	for n := range e.In.Nodes {
		node := &e.In.Nodes[n]
		if !e.switches && node.State == repack.Offline && (node.Want == repack.Online || node.Want == repack.AnyState && (used[n] || e.KeepsImage[n])) {
			list = append(list, nodeAction(repack.NodeOn, n, 0, e.In.NodeOn))
		}
		if !e.switches && node.State == repack.Online && node.Want == repack.Offline {
			off := repack.Ticks(0)
			for i := range list {
				if a := &list[i]; !a.Kind.OnNode() && (a.From == n || a.To == n) {
					off = max(off, a.End)
				}
			}
			list = append(list, nodeAction(repack.NodeOff, n, off, e.In.NodeOff))
		}
	}
	slices.SortStableFunc(list, func(a, b repack.Action) int { return int(a.Start - b.Start) })
	return list
}

func nodeAction(kind repack.Kind, n int, start, takes repack.Ticks) repack.Action {
	return repack.Action{Kind: kind, VM: repack.Nowhere, From: repack.Nowhere, To: n, Start: start, End: start + takes}
}

// queue has the most promising state first, and of equals the one that has done most.
type queue []*state

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch {
	case a.least != b.least:
		return a.least < b.least
	case a.ended != b.ended:
		return a.ended
	default:
		return a.cost > b.cost
	}
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*state)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return x
}
