package ctxswitch

import (
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/queue"
	"vjob/ruling"
)

// Stock is what a [Packing] packs, and where.
type Stock struct {
	Current *cluster.Configuration // nodes, where VMs run and where images lie
	Rules   []ruling.Rules
	Avoid   map[cluster.VMID][]cluster.NodeID
	Claims  map[cluster.NodeID]cluster.Resources // spoken for by actions under way
	// Pinned VMs count where they run, whether their vjob is taken or not.
	Pinned map[cluster.VMID]bool
	// Needs has every VM that may be taken, with what it counts for. Other VMs are
	// not there, even if they run: their vjob would be suspended or stopped. A vjob
	// of which nothing is here needs no room, e.g. because it is claimed already.
	Needs map[cluster.VMID]cluster.Resources
	// Effort bounds how often VMs that were placed before are moved to make room
	// for another: a search around some nodes counts once, packing everything anew
	// eight times. 0 is [DefaultEffort], less is none.
	Effort int
}

// DefaultEffort keeps a pass over 1,000 vjobs on 1,000 nodes well under 100 ms.
const DefaultEffort = 64

const (
	displaceEffort = 1
	repackEffort   = 8
)

// Packing is a [queue.Room] that places VMs for trial, by searches that are quick
// and find less than [Repacker] does later, so that what it takes can as a rule be
// placed. It is filled once, and not safe for concurrent use.
type Packing struct {
	empty  *layout // nothing but what is pinned
	now    *layout
	items  map[cluster.VJobID][]*item
	lost   map[cluster.VJobID]string // why the vjob cannot run at all
	taken  []*item
	effort int
}

var _ queue.Room = (*Packing)(nil)

// NewPacking is an empty room.
func NewPacking(s Stock) *Packing {
	p := &Packing{
		empty:  newLayout(s.Current.Nodes(), s.Claims, packRules(s.Rules, s.Current, s.Avoid)),
		items:  map[cluster.VJobID][]*item{},
		lost:   map[cluster.VJobID]string{},
		effort: s.Effort,
	}
	if p.effort == 0 {
		p.effort = DefaultEffort
	}
	var all, group []member
	vms := slices.SortedFunc(maps.Keys(s.Needs), cluster.VMID.Compare)
	for i, vm := range vms {
		m := member{vm: vm, need: s.Needs[vm], node: -1}
		n, known := p.empty.number[s.Current.Place(vm)]
		_, m.runs = s.Current.Host(vm)
		if known {
			m.node = n
		}
		switch {
		case s.Pinned[vm] && m.runs:
			p.empty.pin(vm, m.need, n)
		case known && unreadable(p.empty.nodes[n].State, m.runs):
			p.lost[vm.VJob] = fmt.Sprintf("node %s, which is %s and holds what there is of VM %s", p.empty.nodes[n].ID, p.empty.nodes[n].State, vm)
		default:
			group = append(group, m)
		}
		if i+1 == len(vms) || vms[i+1].VJob != vm.VJob {
			p.items[vm.VJob] = gather(p.empty, group)
			all, group = append(all, group...), nil
		}
	}
	p.empty.scarce = scarcest(all, p.empty.capacity())
	for _, items := range p.items {
		slices.SortFunc(items, foremost(p.empty.scarce))
	}
	p.now = p.empty.clone()
	return p
}

// unreadable reports whether what a node in this state holds of a VM cannot be
// reached: its copy, or its image.
func unreadable(s cluster.NodeState, runs bool) bool {
	return s == cluster.Down || s == cluster.Offline && !runs
}

// Take adds the vjob if there is room: first where its VMs are, then where they
// fit best, and within the effort by moving what was placed before.
func (p *Packing) Take(id cluster.VJobID) (ok bool, short queue.Shortage) {
	if why, lost := p.lost[id]; lost {
		return false, queue.Shortage{Rule: why}
	}
	items := p.items[id]
	var sum cluster.Resources
	for _, it := range items {
		if !it.whole || p.now.nodes[it.home].State != cluster.Draining { // there it may stay
			sum = sum.Plus(it.need)
		}
	}
	if short = p.now.shortage(nil, sum); !short.Missing.IsZero() {
		return false, short
	}
	failed := p.now.seatAll(items, true)
	if failed == nil {
		p.taken = append(p.taken, items...)
		return true, queue.Shortage{}
	}
	for _, it := range items[:slices.Index(items, failed)] {
		p.now.lift(it)
	}
	if p.rearrange(items) {
		p.taken = append(p.taken, items...)
		return true, queue.Shortage{}
	}
	return false, p.now.shortage(failed, sum)
}

// rearrange looks for places for the items by moving others: a few of them, or
// all of them. Nothing changes when it finds none.
func (p *Packing) rearrange(items []*item) bool {
	if p.effort >= displaceEffort {
		p.effort -= displaceEffort
		if l := p.now.clone(); l.squeeze(items) == nil {
			p.now = l
			return true
		}
	}
	if p.effort >= repackEffort {
		p.effort -= repackEffort
		l := p.empty.clone()
		if l.seatAll(sorted(slices.Concat(p.taken, items), hardest(l.scarce)), true) == nil {
			p.now = l
			return true
		}
	}
	return false
}

// shortage says why the item has no place when the vjob needs so much in sum.
func (l *layout) shortage(it *item, sum cluster.Resources) queue.Shortage {
	var short queue.Shortage
	missing := sum.Minus(l.total())
	short.Missing = cluster.Resources{CPU: max(0, missing.CPU), Memory: max(0, missing.Memory)}
	if !short.Missing.IsZero() || it == nil {
		return short
	}
	for n := range l.nodes {
		if l.nodes[n].Hosts() && fits(it.need, l.free[n]) {
			if r := l.forbids(it, n); r != nil {
				short.Rule = r.String()
				return short
			}
		}
	}
	return short
}
