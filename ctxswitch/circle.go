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

// detour sends the fewest and smallest VMs to pivot nodes whose leaving lets some
// other migration begin, and reports whether there were any. From the pivot they
// go on to where they belong.
func (q *sequence) detour() bool {
	var options [][]leaver
	for _, u := range q.pending {
		if list := q.obstacles(u); len(list) == 1 {
			options = append(options, q.evasions(list[0])...)
		}
	}
	slices.SortStableFunc(options, func(a, b []leaver) int {
		return cmp.Or(
			cmp.Compare(weight(a), weight(b)),
			cmp.Compare(len(a), len(b)),
			a[0].vm.Compare(b[0].vm),
		)
	})
	for _, option := range options {
		if pivots, ok := q.pivots(option); ok {
			for i, l := range option {
				q.evade(l, pivots[i])
			}
			return true
		}
	}
	return false
}

func weight(list []leaver) (sum cluster.MiB) {
	for _, l := range list {
		sum += l.need.Memory
	}
	return sum
}

// evasions lists the sets of VMs whose leaving removes the obstacle: each that
// does so alone, and the smallest ones together.
func (q *sequence) evasions(o obstacle) (options [][]leaver) {
	var leavers []leaver
	for _, u := range q.pending {
		if u == o.unit && !u.live {
			continue // its own gang would be paused twice and gain nothing
		}
		for _, m := range u.moves {
			if q.at[m.vm] == o.node && !q.evaded[m.vm] {
				leavers = append(leavers, leaver{m, u})
			}
		}
	}
	slices.SortFunc(leavers, func(a, b leaver) int {
		return cmp.Or(
			cmp.Compare(a.need.Memory, b.need.Memory),
			cmp.Compare(a.need.CPU, b.need.CPU),
			a.vm.Compare(b.vm),
		)
	})
	var together []move
	for i, l := range leavers {
		if o.clearedBy([]move{l.move}) {
			options = append(options, []leaver{l})
		}
		together = append(together, l.move)
		if i > 0 && o.clearedBy(together) {
			return append(options, leavers[:i+1])
		}
	}
	return options
}

// pivots finds a node for each VM that is to evade: one that takes VMs, is
// neither where it comes from nor where it goes, has the room, and may host it.
// Of several, the one that it fills best.
func (q *sequence) pivots(option []leaver) (nodes []int, ok bool) {
	taken := map[int]cluster.Resources{}
	for _, l := range option {
		best, least := -1, cluster.Resources{}
		for n := range q.nodes {
			if n == l.from || n == l.to || !q.mayPass(l.vm, n) {
				continue
			}
			b := q.books[n]
			if !b.lacks(l.need.Plus(taken[n])).IsZero() {
				continue
			}
			if room := b.room(); best < 0 || q.target.scarce.of(room) < q.target.scarce.of(least) {
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
	var best *unit
	var useful bool
	for _, vjob := range q.movers() {
		u, ok := q.suspension(vjob)
		if !ok {
			continue
		}
		unblocks := q.unblocks(u)
		better := best == nil || unblocks && !useful
		if !better && unblocks == useful {
			a, b := u.size().Memory, best.size().Memory
			better = a < b || a == b && q.rank[u.vjob] > q.rank[best.vjob]
		}
		if better {
			best, useful = u, unblocks
		}
	}
	if best == nil {
		return false
	}
	back := &unit{kind: cluster.Resume, vjob: best.vjob}
	for _, m := range best.moves {
		m.to = q.target.place[m.vm]
		back.moves = append(back.moves, m)
	}
	q.enter(best)
	q.pending = slices.DeleteFunc(q.pending, func(u *unit) bool { return u.vjob == best.vjob })
	q.later = append(q.later, back)
	return true
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
// or whether no other is left.
func (q *sequence) unblocks(suspension *unit) bool {
	others := false
	for _, u := range q.pending {
		if u.vjob == suspension.vjob {
			continue
		}
		others = true
		clears := true
		for _, o := range q.obstacles(u) {
			var from []move
			for _, m := range suspension.moves {
				if m.from == o.node {
					from = append(from, m)
				}
			}
			clears = clears && o.clearedBy(from)
		}
		if clears {
			return true
		}
	}
	return !others
}
