package ctxswitch

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// sequence is a plan in the making. Units get their place one after another; each
// waits for the units that free the room which it takes, and for nothing else.
//
// Migrations come before boots and resumes, which free nothing: so nothing that
// others wait for ever waits for them, and what is left when all migrations have
// found their place fits by itself, because the target is viable.
type sequence struct {
	*survey
	target  *layout
	books   []*books
	done    []*unit // by number
	pending []*unit // migrations, smallest first
	later   []*unit // boots and resumes, in order of priority
	at      map[cluster.VMID]int
	visits  map[visit][]stay
	last    map[cluster.VMID]int     // unit that last acted on the VM
	history map[cluster.VJobID][]int // units of the vjob
	evaded  map[cluster.VMID]bool    // made its detour
}

// visit is a spread rule on one node, stay a VM of the rule that is or was there.
type visit struct {
	rule *cluster.Rule
	node int
}

type stay struct {
	vm   cluster.VMID
	left int // unit after which the VM is gone, -1 when it is there
}

// plan orders what leads to the target, or says what is stuck.
func (s *survey) plan(target *layout) (Plan, *NoPlan) {
	q := s.sequence(target)
	var leaving []*unit
	leaving, q.pending, q.later = s.units(target)
	for _, u := range leaving { // nothing stands in their way (thesis §8.1.2)
		q.enter(u)
	}
	for len(q.pending) > 0 {
		if q.pass() || q.split() || q.detour() || q.interrupt() {
			continue
		}
		return Plan{}, q.stuck(q.pending[0])
	}
	slices.SortStableFunc(q.later, func(a, b *unit) int { return s.rank[a.vjob] - s.rank[b.vjob] })
	for _, u := range q.later {
		if !q.fits(u) {
			return Plan{}, q.stuck(u)
		}
		q.enter(u)
	}
	return q.assemble(), nil
}

func (s *survey) sequence(target *layout) *sequence {
	q := &sequence{
		survey: s, target: target, books: make([]*books, len(s.nodes)),
		at: map[cluster.VMID]int{}, visits: map[visit][]stay{},
		last: map[cluster.VMID]int{}, history: map[cluster.VJobID][]int{}, evaded: map[cluster.VMID]bool{},
	}
	free := make([]cluster.Resources, len(s.nodes))
	for i, n := range s.nodes {
		free[i] = n.Capacity.Minus(s.Claims[n.ID])
	}
	for _, vm := range s.Current.VMs() {
		if host, ok := s.Current.Host(vm); ok {
			n := target.number[host]
			q.at[vm] = n
			free[n] = free[n].Minus(s.count(vm))
			q.arrive(vm, n)
		}
	}
	for i := range free {
		q.books[i] = newBooks(free[i])
	}
	return q
}

// pass gives every pending migration its place that has room now, and reports
// whether there was one.
func (q *sequence) pass() (progress bool) {
	q.pending = slices.DeleteFunc(q.pending, func(u *unit) bool {
		if !q.fits(u) {
			return false
		}
		q.enter(u)
		progress = true
		return true
	})
	return progress
}

// fits reports whether there is room for all arrivals of the unit, now or once
// units that have their place have ended.
func (q *sequence) fits(u *unit) bool {
	for _, a := range u.arrivals() {
		if !q.books[a.node].lacks(a.need).IsZero() {
			return false
		}
	}
	if u.arrives() {
		for _, m := range u.moves {
			if len(q.rivals(m.vm, m.to)) > 0 {
				return false
			}
		}
	}
	return true
}

// enter gives the unit its place: after the units that free its room, after
// those that acted on the same VMs, and after all of the vjob where either
// pauses it.
func (q *sequence) enter(u *unit) {
	number := len(q.done)
	after := q.predecessors(u)
	for _, a := range u.arrivals() {
		after = append(after, q.books[a.node].take(a.need)...)
	}
	if u.arrives() {
		for _, m := range u.moves {
			after = append(after, q.departures(m.vm, m.to)...)
		}
	}
	slices.Sort(after)
	u.after = slices.Compact(after)
	for _, before := range u.after {
		u.start = max(u.start, q.done[before].end)
	}
	u.end = u.start
	for _, m := range u.moves {
		u.end = max(u.end, u.start+q.duration(u, m))
	}
	q.done = append(q.done, u)
	q.history[u.vjob] = append(q.history[u.vjob], number)
	for _, m := range u.moves {
		q.last[m.vm] = number
		if u.releases() {
			if n, runs := q.at[m.vm]; runs {
				q.books[n].give(m.need, number, u.end)
				q.leave(m.vm, n, number)
				delete(q.at, m.vm)
			}
		}
		if u.arrives() {
			q.at[m.vm] = m.to
			q.arrive(m.vm, m.to)
		}
	}
}

// predecessors are the units that the unit follows whatever the room.
func (q *sequence) predecessors(u *unit) (after []int) {
	for _, before := range q.history[u.vjob] {
		if u.pauses() || q.done[before].pauses() {
			after = append(after, before)
		}
	}
	for _, m := range u.moves {
		if before, ok := q.last[m.vm]; ok {
			after = append(after, before)
		}
	}
	return after
}

func (q *sequence) duration(u *unit, m move) time.Duration {
	return q.Costs.Duration(u.kind, m.need.Memory, m.from >= 0 && m.from != m.to)
}

// arrive and leave keep who of a spread rule is on a node. The rule holds at
// every instant: a VM arrives once the others have certainly left.
func (q *sequence) arrive(vm cluster.VMID, n int) {
	for _, v := range q.spreads(vm, n) {
		q.visits[v] = append(q.visits[v], stay{vm, -1})
	}
}

func (q *sequence) leave(vm cluster.VMID, n, number int) {
	for _, v := range q.spreads(vm, n) {
		for i := range q.visits[v] {
			if s := &q.visits[v][i]; s.vm == vm && s.left < 0 {
				s.left = number
			}
		}
	}
}

func (q *sequence) spreads(vm cluster.VMID, n int) (list []visit) {
	for _, r := range q.target.rules[vm] {
		if r.Kind == cluster.Spread {
			list = append(list, visit{r, n})
		}
	}
	return list
}

// rivals are VMs from which a spread rule keeps vm away and that are on node n.
func (q *sequence) rivals(vm cluster.VMID, n int) (list []cluster.VMID) {
	for _, v := range q.spreads(vm, n) {
		for _, s := range q.visits[v] {
			if s.vm != vm && s.left < 0 {
				list = append(list, s.vm)
			}
		}
	}
	return list
}

// departures are the units that took rivals of vm away from node n.
func (q *sequence) departures(vm cluster.VMID, n int) (after []int) {
	for _, v := range q.spreads(vm, n) {
		for _, s := range q.visits[v] {
			if s.vm != vm && s.left >= 0 {
				after = append(after, s.left)
			}
		}
	}
	return after
}

// stuck says what a unit waits for in vain.
func (q *sequence) stuck(u *unit) *NoPlan {
	m := u.moves[0]
	for _, x := range u.moves {
		if !q.books[x.to].lacks(x.need).IsZero() || len(q.rivals(x.vm, x.to)) > 0 {
			m = x
			break
		}
	}
	return &NoPlan{VJob: u.vjob, Reason: fmt.Sprintf(
		"vjob %s: %s of VM %s to node %s waits in a circle: no other node can take a VM meanwhile, and no vjob in the circle can be suspended",
		u.vjob, u.kind, m.vm, q.target.nodes[m.to].ID)}
}
