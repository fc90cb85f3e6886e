package ctxswitch

import (
	"cmp"
	"slices"

	"vjob/cluster"
)

// assemble numbers the actions of all units by their start and groups them.
func (q *sequence) assemble() Plan {
	type ref struct{ unit, move int }
	var refs []ref
	depth := make([]int, len(q.done)) // breaks ties where actions take no time
	for i, u := range q.done {
		for _, before := range u.after {
			depth[i] = max(depth[i], depth[before]+1)
		}
		for j := range u.moves {
			refs = append(refs, ref{i, j})
		}
	}
	slices.SortFunc(refs, func(a, b ref) int {
		x, y := q.done[a.unit], q.done[b.unit]
		return cmp.Or(
			cmp.Compare(x.start, y.start),
			cmp.Compare(depth[a.unit], depth[b.unit]),
			cmp.Compare(rankOf(x.kind), rankOf(y.kind)),
			x.moves[a.move].vm.Compare(y.moves[b.move].vm),
		)
	})
	ids := make([][]ActionID, len(q.done)) // of each unit
	for id, r := range refs {
		ids[r.unit] = append(ids[r.unit], ActionID(id))
	}
	plan := Plan{Actions: make([]Action, 0, len(refs))}
	for id, r := range refs {
		u := q.done[r.unit]
		a := q.action(u, u.moves[r.move])
		a.ID = ActionID(id)
		for _, before := range u.after {
			a.After = append(a.After, ids[before]...)
		}
		slices.Sort(a.After)
		plan.Actions = append(plan.Actions, a)
		plan.Makespan = max(plan.Makespan, a.End)
	}
	plan.Gangs = q.gangs(ids)
	plan.Cost = planCost(plan.Actions)
	plan.Target = q.result()
	return plan
}

// rankOf shows what frees room before what takes it.
func rankOf(k cluster.ActionKind) int {
	return slices.Index([]cluster.ActionKind{cluster.Stop, cluster.Suspend, cluster.Migrate, cluster.Resume, cluster.Boot}, k)
}

func (q *sequence) action(u *unit, m move) Action {
	remote := m.from >= 0 && m.from != m.to
	return Action{
		Kind: u.kind, VM: m.vm, From: q.name(m.from), To: q.name(m.to), Live: u.live,
		Start: u.start, End: u.start + q.duration(u, m),
		Cost: localCost(u.kind, m.need.Memory, remote),
	}
}

func (q *sequence) name(n int) cluster.NodeID {
	if n < 0 {
		return ""
	}
	return q.nodes[n].ID
}

// gangs makes a gang of each unit, but one of all stops and one of all live
// migrations of a vjob. They come in order of their first start, which is an
// order in which the gangs of a vjob can follow each other: what pauses a vjob
// waits for all of it that came before, and what boots frees nothing that
// others could wait for.
func (q *sequence) gangs(ids [][]ActionID) []Gang {
	type key struct {
		vjob cluster.VJobID
		kind cluster.ActionKind
	}
	var list []Gang
	shared := map[key]int{}
	for i, u := range q.done {
		k := key{u.vjob, u.kind}
		at, found := shared[k]
		if !found || u.pauses() || u.kind == cluster.Boot {
			at = len(list)
			list = append(list, Gang{VJob: u.vjob, Kind: u.kind})
		}
		if u.live || u.kind == cluster.Stop {
			shared[k] = at
		}
		list[at].Actions = append(list[at].Actions, ids[i]...)
	}
	slices.SortFunc(list, func(a, b Gang) int {
		return cmp.Compare(slices.Min(a.Actions), slices.Min(b.Actions))
	})
	rank := make(map[ActionID]int)
	for i, u := range q.done {
		for j, id := range ids[i] {
			rank[id] = u.moves[j].vm.Rank
		}
	}
	for i := range list {
		slices.SortFunc(list[i].Actions, func(a, b ActionID) int {
			return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(a, b))
		})
	}
	return list
}

// result is the configuration that the plan leads to, with the needs that VMs
// have then.
func (q *sequence) result() *cluster.Configuration {
	c := q.Current.Clone()
	for _, vm := range c.VMs() { // those that nobody touches may need more all the same
		if host, ok := c.Host(vm); ok {
			c.SetRunning(vm, q.need(vm), host)
		}
	}
	for _, u := range q.done {
		for _, m := range u.moves {
			switch u.kind {
			case cluster.Stop:
				c.Remove(m.vm)
			case cluster.Suspend:
				c.SetSleeping(m.vm, q.Current.Need(m.vm), q.name(m.from))
			default:
				c.SetRunning(m.vm, q.need(m.vm), q.name(m.to))
			}
		}
	}
	return c
}
