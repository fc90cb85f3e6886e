package ctxswitch

import (
	"cmp"
	"slices"

	"vjob/cluster"
)

// This file breaks circles of migrations in which each waits for the room of the
// next (thesis §8.1.2, figure 8.3): in order of what it costs, by moving a gang in
// parts, by a detour over a pivot node, by suspending a vjob and resuming it.
//
// Each way is bounded, so that the plan ends: parts get fewer, a VM makes at most
// one detour, and a suspended vjob has no migrations left.

// split moves those members of a paused gang for which there is room now.
func (q *sequence) split() bool {
	for i, u := range q.pending {
		if len(u.moves) < 2 {
			continue
		}
		part := &unit{kind: u.kind, vjob: u.vjob, live: u.live}
		var rest []move
		for _, m := range u.moves {
			part.moves = append(part.moves, m)
			if !q.fits(part) {
				part.moves = part.moves[:len(part.moves)-1]
				rest = append(rest, m)
			}
		}
		if len(part.moves) > 0 {
			q.enter(part)
			q.pending[i] = &unit{kind: u.kind, vjob: u.vjob, live: u.live, moves: rest}
			return true
		}
	}
	return false
}

// obstacle is what stands in the way of a pending unit on one node.
type obstacle struct {
	unit   *unit
	node   int
	lacks  cluster.Resources
	rivals []cluster.VMID // that a spread rule wants gone
}

// obstacles lists what stands in the way of a unit, in order of nodes.
func (q *sequence) obstacles(u *unit) (list []obstacle) {
	for _, a := range u.arrivals() {
		o := obstacle{unit: u, node: a.node, lacks: q.books[a.node].lacks(a.need)}
		for _, m := range u.moves {
			if m.to == a.node {
				o.rivals = append(o.rivals, q.rivals(m.vm, m.to)...)
			}
		}
		if !o.lacks.IsZero() || len(o.rivals) > 0 {
			list = append(list, o)
		}
	}
	return list
}

// clearedBy reports whether the obstacle is gone once these VMs have left.
func (o *obstacle) clearedBy(moves []move) bool {
	var freed cluster.Resources
	for _, m := range moves {
		freed = freed.Plus(m.need)
	}
	for _, vm := range o.rivals {
		if !slices.ContainsFunc(moves, func(m move) bool { return m.vm == vm }) {
			return false
		}
	}
	return o.lacks.Fits(freed)
}

// leaver is a pending move out of the way, and the unit that it belongs to.
type leaver struct {
	move
	unit *unit
}

// detours is how many sets of VMs are tried for a detour, the cheapest first,
// before a vjob is suspended instead: a full cluster has many circles, no pivot,
// and no time to lose.
const detours = 64

// detour sends the fewest and smallest VMs to pivot nodes whose leaving lets some
// other migration begin, and reports whether there were any. From the pivot they
// go on to where they belong.
func (q *sequence) detour() bool {
	leavers := q.leavers()
	var options [][]leaver
	for _, u := range q.pending {
		if list := q.obstacles(u); len(list) == 1 {
			options = append(options, evasions(list[0], leavers[list[0].node])...)
		}
	}
	slices.SortStableFunc(options, func(a, b []leaver) int {
		return cmp.Or(
			cmp.Compare(weight(a), weight(b)),
			cmp.Compare(len(a), len(b)),
			a[0].vm.Compare(b[0].vm),
		)
	})
	most := q.most()
	for _, option := range options[:min(detours, len(options))] {
		if pivots, ok := q.pivots(option, most); ok {
			for i, l := range option {
				q.evade(l, pivots[i])
			}
			return true
		}
	}
	return false
}

// leavers lists by node, the smallest first, the VMs there that have yet to leave
// and could make a detour.
func (q *sequence) leavers() map[int][]leaver {
	byNode := map[int][]leaver{}
	for _, u := range q.pending {
		for _, m := range u.moves {
			if !q.evaded[m.vm] {
				byNode[m.from] = append(byNode[m.from], leaver{m, u})
			}
		}
	}
	for _, list := range byNode {
		slices.SortFunc(list, func(a, b leaver) int {
			return cmp.Or(
				cmp.Compare(a.need.Memory, b.need.Memory),
				cmp.Compare(a.need.CPU, b.need.CPU),
				a.vm.Compare(b.vm),
			)
		})
	}
	return byNode
}

func weight(list []leaver) (sum cluster.MiB) {
	for _, l := range list {
		sum += l.need.Memory
	}
	return sum
}

// evasions lists the sets of VMs whose leaving removes the obstacle: each that
// does so alone, and the smallest ones together.
func evasions(o obstacle, leavers []leaver) (options [][]leaver) {
	var together []leaver
	for _, l := range leavers {
		if l.unit == o.unit && !l.unit.live {
			continue // its own gang would be paused twice and gain nothing
		}
		if o.clearedBy([]move{l.move}) {
			options = append(options, []leaver{l})
		}
		together = append(together, l)
		if len(together) > 1 && o.clearedBy(moves(together)) {
			return append(options, together)
		}
	}
	return options
}

func moves(list []leaver) []move {
	out := make([]move, len(list))
	for i, l := range list {
		out[i] = l.move
	}
	return out
}

// most is the largest free CPU and the largest free memory of all nodes that
// could be pivots.
func (q *sequence) most() (most cluster.Resources) {
	for n := range q.nodes {
		if q.nodes[n].Hosts() {
			room := q.books[n].room()
			most.CPU, most.Memory = max(most.CPU, room.CPU), max(most.Memory, room.Memory)
		}
	}
	return most
}

// pivots finds a node for each VM that is to evade: one that takes VMs, is
// neither where it comes from nor where it goes, has the room, and may host it.
// Of several, the one that it fills best. No node has more room than most.
func (q *sequence) pivots(option []leaver, most cluster.Resources) (nodes []int, ok bool) {
	taken := map[int]cluster.Resources{}
	for _, l := range option {
		if !fits(l.need, most) {
			return nil, false
		}
		best, least := -1, int64(0)
		for n := range q.nodes {
			if n == l.from || n == l.to || !q.books[n].lacks(l.need.Plus(taken[n])).IsZero() || !q.mayPass(l.vm, n) {
				continue
			}
			if room := q.target.scarce.of(q.books[n].room()); best < 0 || room < least {
				best, least = n, room
			}
		}
		if best < 0 {
			return nil, false
		}
		taken[best] = taken[best].Plus(l.need)
		nodes = append(nodes, best)
	}
	return nodes, true
}

// mayPass reports whether the rules that hold at every instant let the VM be on
// node n. Gather does not: while its VMs move one after another they are apart.
func (q *sequence) mayPass(vm cluster.VMID, n int) bool {
	if !q.nodes[n].Hosts() || len(q.rivals(vm, n)) > 0 {
		return false
	}
	nowhere := func(cluster.VMID) (cluster.NodeID, bool) { return "", false }
	for _, r := range q.target.rules[vm] {
		if !r.Allows(vm, q.nodes[n].ID, nowhere) {
			return false
		}
	}
	return true
}

// evade moves one VM to its pivot; the rest of its way stays pending.
func (q *sequence) evade(l leaver, pivot int) {
	first := l.move
	first.to = pivot
	q.enter(&unit{kind: cluster.Migrate, vjob: l.unit.vjob, live: l.unit.live, moves: []move{first}})
	q.evaded[l.vm] = true
	for i := range l.unit.moves {
		if l.unit.moves[i].vm == l.vm {
			l.unit.moves[i].from = pivot
		}
	}
}

// interrupt suspends one vjob of the circle as a whole and has it resumed in its
// places at the end of the plan. Of those that let another migration begin it
// takes the one with the least memory, then the one of the lowest priority.
func (q *sequence) interrupt() bool {
	var candidates []*unit
	for _, vjob := range q.movers() {
		if u, ok := q.suspension(vjob); ok {
			candidates = append(candidates, u)
		}
	}
	if len(candidates) == 0 {
		return false
	}
	slices.SortStableFunc(candidates, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(a.size().Memory, b.size().Memory), cmp.Compare(q.rank[b.vjob], q.rank[a.vjob]))
	})
	arriving := map[int][]*unit{}
	for _, u := range q.pending {
		for _, a := range u.arrivals() {
			arriving[a.node] = append(arriving[a.node], u)
		}
	}
	best := max(0, slices.IndexFunc(candidates, func(u *unit) bool { return q.unblocks(u, arriving) }))
	q.suspend(candidates[best])
	return true
}

// suspend gives a suspension its place, and has the vjob resumed later.
func (q *sequence) suspend(u *unit) {
	back := &unit{kind: cluster.Resume, vjob: u.vjob}
	for _, m := range u.moves {
		m.to = q.target.place[m.vm]
		back.moves = append(back.moves, m)
	}
	q.enter(u)
	q.pending = slices.DeleteFunc(q.pending, func(p *unit) bool { return p.vjob == u.vjob })
	q.later = append(q.later, back)
}

// movers lists the vjobs with pending migrations, in order.
func (q *sequence) movers() []cluster.VJobID {
	list := make([]cluster.VJobID, 0, len(q.pending))
	for _, u := range q.pending {
		list = append(list, u.vjob)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// suspension is the unit that suspends all running members of a vjob where they
// are by then; ok is false when one of them may not be touched, has to boot or
// resume in this very plan, or could not come back because its node drains: half
// a gang never sleeps.
func (q *sequence) suspension(vjob cluster.VJobID) (u *unit, ok bool) {
	u = &unit{kind: cluster.Suspend, vjob: vjob}
	for _, vm := range q.staff[vjob] {
		n, runs := q.at[vm]
		if !runs || q.fixed[vm] || !q.nodes[q.target.place[vm]].Hosts() {
			return nil, false
		}
		u.moves = append(u.moves, move{vm: vm, from: n, to: -1, need: q.count(vm)})
	}
	return u, true
}

// unblocks reports whether the suspension lets a migration of another vjob begin,
// or leaves none that waits. The pending units are given by where they go.
func (q *sequence) unblocks(suspension *unit, arriving map[int][]*unit) bool {
	if !slices.ContainsFunc(q.pending, func(u *unit) bool { return u.vjob != suspension.vjob }) {
		return true
	}
	for _, left := range suspension.moves {
		for _, u := range arriving[left.from] {
			if u.vjob != suspension.vjob && q.freedBy(suspension, u) {
				return true
			}
		}
	}
	return false
}

// freedBy reports whether nothing stands in the way of the unit after the
// suspension.
func (q *sequence) freedBy(suspension, u *unit) bool {
	for _, o := range q.obstacles(u) {
		var from []move
		for _, m := range suspension.moves {
			if m.from == o.node {
				from = append(from, m)
			}
		}
		if !o.clearedBy(from) {
			return false
		}
	}
	return true
}
