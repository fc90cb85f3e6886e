package exact

import (
	"encoding/binary"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// state is where everything is at an instant, and how it came about.
type state struct {
	clock repack.Ticks
	vms   []vmState
	nodes []nodeState    // only if nodes are switched at any time
	joint []repack.Ticks // by set of VMs that migrate together: when they start or end; -1 if none has

	before *state
	action repack.Action // that led here from the state before
	does   bool          // there is one; otherwise time went on
	past   uint64        // tells apart what was done when, in any order; for soft rules on whole plans
	news   news          // what has ended at this instant, or is new
	acts   int           // how many there are so far
	rank   int8          // of the last start in this instant; the next has a higher one

	broken            int64        // penalties of soft rules on whole plans that the plan has broken so far, at least
	judged            bool         // they have been counted
	cost, rest, least int64        // of the actions so far, at least of what follows, and both
	starts            repack.Ticks // sum of the starts of all actions, which tells apart plans of one cost
	dominated         bool
	ended             bool // no more is to be done after the state before
}

// vmState is what a VM is, or will be when its action has ended.
type vmState struct {
	until      repack.Ticks // when its action ends; 0 if nothing is under way
	state      repack.VMState
	at         int8 // where it runs, or its image is
	from       int8 // the node that it occupies besides until then
	flags      uint8
	migrations uint8 // so far; counted if rules look at that
	changes    uint8 // of its state
}

// The flags of a VM.
const (
	moved     uint8 = 1 << iota // it has acted, so it has its next demand
	firstFrom                   // it occupies from with its first demand
	settled                     // it has its next demand where it ran at first, and stays there
)

func (w *vmState) has(flag uint8) bool { return w.flags&flag != 0 }

// wrong reports whether the VM may not end like that.
func (w *vmState) wrong(m *problem.Problem, vm int) bool {
	return w.state != m.In.VMs[vm].Want || w.state == repack.Running && (!m.Open[w.at] || m.Banned[vm].Has(int(w.at)))
}

// follow returns a state at the same instant, after the start of an action.
func (e *search) follow(x *state, a repack.Action) *state {
	y := &state{
		clock: x.clock, vms: x.vms, nodes: x.nodes, joint: x.joint, before: x, action: a, does: true, news: x.news, rank: e.rank(&a), acts: x.acts + 1,
		past: x.past, cost: x.cost, broken: x.broken, starts: x.starts + a.Start,
	}
	if e.counts(&a) {
		y.past += hash(&a)
	}
	return y
}

// hash tells actions apart.
func hash(a *repack.Action) uint64 {
	h := uint64(a.VM+2)<<48 ^ uint64(a.Kind)<<40 ^ uint64(a.To+2)<<32 ^ uint64(a.Start)
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	return h * 0xbf58476d1ce4e5b9
}

// nodeState is whether a node is on, or will be from an instant on.
type nodeState struct {
	on    bool
	until repack.Ticks
}

// begin is the state before the first instant.
func (e *search) begin() *state {
	x := &state{vms: make([]vmState, len(e.In.VMs)), news: everything, rank: -1}
	for vm := range x.vms {
		v := &e.In.VMs[vm]
		x.vms[vm] = vmState{state: v.State, at: int8(v.Host), from: repack.Nowhere}
	}
	if e.switches {
		x.nodes = make([]nodeState, len(e.In.Nodes))
		for n := range x.nodes {
			x.nodes[n].on = e.In.Nodes[n].State == repack.Online
		}
	}
	for range e.SyncSets {
		x.joint = append(x.joint, -1)
	}
	return e.valued(x)
}

// valued computes what a state costs at least; nil if it leads to no plan.
func (e *search) valued(x *state) *state {
	rest, ok := e.bound.rest(e, x)
	if !ok {
		return nil
	}
	x.rest, x.least = rest, x.cost+rest+e.floor+x.broken
	if e.any {
		x.least = int64(x.acts) + 3*e.astray(x)
	}
	return x
}

// astray counts the VMs that may not end as they are.
func (e *search) astray(x *state) (count int64) {
	for vm := range x.vms {
		count += int64(b(x.vms[vm].wrong(e.Problem, vm)))
	}
	return count
}

// appendKey writes what two states must have in common for one to dominate the other.
func (e *search) appendKey(text []byte, x *state) []byte {
	for i := range x.vms {
		w := &x.vms[i]
		text = append(text, byte(w.state)|w.flags<<3|byte(b(w.until > x.clock))<<7, byte(w.at+1)|byte(w.from+1)<<4)
		if e.Synced[i] || len(e.GatesOf[i]) > 0 {
			text = append(text, w.migrations|w.changes<<4)
		}
	}
	if e.Uncounted && !e.any {
		text = binary.LittleEndian.AppendUint64(text, x.past)
	}
	for n := range x.nodes {
		at := x.nodes[n].until
		if at <= x.clock {
			at = 0
		}
		text = binary.AppendVarint(text, int64(at)<<1|int64(b(x.nodes[n].on)))
	}
	for n := range e.In.Nodes {
		if ready := e.Ready(n); ready > 0 && !e.switches {
			text = append(text, byte(b(ready <= x.clock)))
		}
	}
	for _, at := range x.joint {
		switch {
		case at >= x.clock:
			at -= x.clock
		case at >= 0:
			at = -2 // over
		}
		text = binary.AppendVarint(text, int64(at))
	}
	if e.tied(x) && e.awaits(x.clock) {
		text = binary.AppendVarint(text, int64(x.clock))
	}
	return text
}

// awaits reports whether something ends after an instant that began before the plan, or with it.
func (e *search) awaits(clock repack.Ticks) bool {
	for n := range e.In.Nodes {
		if e.Ready(n) > clock || slices.ContainsFunc(e.In.Nodes[n].Busy, func(until repack.Ticks) bool { return until > clock }) {
			return true
		}
	}
	return false
}

// tied reports whether VMs must still join others that migrate together. What follows such a state may
// happen earlier only as a whole.
func (e *search) tied(x *state) bool {
	return slices.ContainsFunc(x.joint, func(at repack.Ticks) bool { return at >= x.clock })
}

func b(set bool) int {
	if set {
		return 1
	}
	return 0
}

// dominates reports whether all that may follow another state may follow this one, no later and no
// dearer. Of plans that cost the same, those with the least sum of starts count, see reduce.go.
func (e *search) dominates(x, y *state) bool {
	if e.any {
		return e.suffices(x, y)
	}
	if x.clock > y.clock || x.cost > y.cost || x.cost == y.cost && x.starts > y.starts || x.clock == y.clock && x.rank > y.rank {
		return false
	}
	earlier := repack.Ticks(0)
	if e.tied(y) {
		earlier = y.clock - x.clock
	}
	for vm := range x.vms {
		if x.vms[vm].until > max(y.vms[vm].until, y.clock)-earlier {
			return false
		}
	}
	return true
}

// suffices reports whether all that may follow another state may follow this one, if any plan will do. If
// nothing depends on the time of day it may do so at another time.
func (e *search) suffices(x, y *state) bool {
	earlier := repack.Ticks(0)
	if e.timeless || e.tied(y) {
		earlier = y.clock - x.clock
	}
	if !e.timeless && x.clock > y.clock || x.rank > y.rank {
		return false
	}
	for vm := range x.vms {
		if x.vms[vm].until > max(y.vms[vm].until, y.clock)-earlier {
			return false
		}
	}
	return true
}

// nextEnd is when the next action ends, or a node comes on, or the next VM must start to end together
// with others.
func (e *search) nextEnd(x *state) repack.Ticks {
	next := repack.Forever
	note := func(at repack.Ticks) {
		if at > x.clock {
			next = min(next, at)
		}
	}
	for vm := range x.vms {
		note(x.vms[vm].until)
	}
	for n := range x.nodes {
		note(x.nodes[n].until)
	}
	for n := range e.In.Nodes {
		for _, until := range e.In.Nodes[n].Busy {
			note(until)
		}
	}
	if !e.switches {
		for n := range e.In.Nodes {
			note(e.Ready(n))
		}
	}
	for i, at := range x.joint {
		for _, vm := range e.SyncSets[i].VMs {
			if e.SyncSets[i].AtEnd && x.vms[vm].migrations == 0 {
				note(at - e.In.VMs[vm].Takes.Migrate)
			}
		}
	}
	return next
}

// wait returns the state at a later instant.
func (e *search) wait(x *state, clock repack.Ticks) *state {
	if e.idles(x) {
		return nil
	}
	y := &state{
		clock: clock, vms: slices.Clone(x.vms), nodes: x.nodes, joint: x.joint, before: x, rank: -1, acts: x.acts, past: x.past, cost: x.cost, broken: x.broken, starts: x.starts,
	}
	for vm := range y.vms {
		w := &y.vms[vm]
		if w.until > clock {
			continue
		}
		if w.until > x.clock {
			y.news.note(vm, int(w.from))
			for _, n := range e.copies(x, vm) {
				y.news.note(vm, n)
			}
		}
		w.from, w.until, w.flags = repack.Nowhere, 0, w.flags&^firstFrom
	}
	for n := range e.In.Nodes {
		if ready := e.Ready(n); ready > x.clock && ready <= clock {
			y.news.note(repack.Nowhere, n)
		}
		for _, until := range e.In.Nodes[n].Busy {
			if until > x.clock && until <= clock {
				y.news.note(repack.Nowhere, n)
			}
		}
	}
	return e.valued(y)
}
