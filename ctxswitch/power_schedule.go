package ctxswitch

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
)

// KeepBudgets adds dependencies to a plan so that its power budgets hold at every instant, however
// late actions are. Each action takes power that is free from the beginning or that earlier
// actions release, and waits for these. Actions that begin first in the plan take power first; if
// that fails, they take it in the order of the plan. If that fails as well, because more is drawn
// from the beginning than the limit, the first actions go with what there is: the plan then does
// not keep the budget by itself, and the executor has to. Links and room stay feasible, since no
// dependency is removed.
//
// A limit for a part of the time is kept all the time. A plan that keeps its budgets is returned
// unchanged.
func KeepBudgets(p Problem, plan Plan) Plan {
	if p.Power == nil || len(p.Power.Limits) == 0 || plan.Empty() {
		return plan
	}
	d := newPowerSchedule(&p, &plan)
	d.run()
	if d.short {
		if e := newPowerSchedule(&p, &plan); e.oneByOne() {
			d = e
		}
	}
	if !d.waits {
		return plan
	}
	return d.write()
}

// powerSchedule passes power from units that release it to units that take it.
type powerSchedule struct {
	*Power
	plan  *Plan
	units []unit
	of    []int           // the unit of each action
	at    []time.Duration // when each action starts, once its unit has begun
	slots slots
	free  [][]portion  // by limit, the oldest first
	lacks []milliwatts // by limit: what is drawn from the beginning beyond it
	paid  [][]int      // by limit: the units that have released some of that
	short bool         // a unit has started with less than it takes
	waits bool         // a unit has a new dependency
}

// unit is actions that start together, as transfer slots allow: a gang, or one live migration.
type unit struct {
	actions []ActionID
	takes   []milliwatts // by limit, when it starts
	gives   []milliwatts // when it has ended
	after   []ActionID   // including the new dependencies
	start   time.Duration
	end     time.Duration
	state   progress
}

// progress is how far a unit has come.
type progress uint8

const (
	_ progress = iota // it waits
	underWay
	over
)

// portion is power that a unit has released.
type portion struct {
	by   int // the unit; -1: it was free from the beginning
	much milliwatts
}

func newPowerSchedule(p *Problem, plan *Plan) *powerSchedule {
	d := &powerSchedule{Power: p.Power, plan: plan, of: make([]int, len(plan.Actions)), at: make([]time.Duration, len(plan.Actions)), slots: p.Transfers.slots()}
	for _, g := range plan.Gangs {
		for _, id := range g.Actions {
			d.of[id] = len(d.units)
			if len(g.Actions) > 0 && plan.Actions[id].Live {
				d.units = append(d.units, unit{actions: []ActionID{id}})
			}
		}
		if !plan.Actions[g.Actions[0]].Live {
			d.units = append(d.units, unit{actions: g.Actions})
		}
	}
	for i := range d.units {
		u := &d.units[i]
		u.takes, u.gives = make([]milliwatts, len(d.Limits)), make([]milliwatts, len(d.Limits))
		for _, id := range u.actions {
			u.after = append(u.after, plan.Actions[id].After...)
		}
		u.start = plan.Actions[u.actions[0]].Start
	}
	d.countPower(p.Current)
	return d
}

// countPower computes the power that is free from the beginning, and what units take and release.
func (d *powerSchedule) countPower(c *cluster.Configuration) {
	d.free, d.lacks, d.paid = make([][]portion, len(d.Limits)), make([]milliwatts, len(d.Limits)), make([][]int, len(d.Limits))
	for i := range d.Limits {
		l := &d.Limits[i]
		in := func(vm cluster.VMID, n cluster.NodeID) milliwatts {
			if !slices.Contains(l.Nodes, n) {
				return 0
			}
			return d.adds(vm, n)
		}
		left, draws := d.spare(l), map[cluster.VMID]milliwatts{}
		for _, vm := range c.VMs() {
			if host, runs := c.Host(vm); runs {
				draws[vm] = in(vm, host)
				left -= draws[vm]
			}
		}
		for _, a := range d.plan.Actions {
			u := &d.units[d.of[a.ID]]
			was, then := draws[a.VM], milliwatts(0)
			switch a.Kind {
			case cluster.Boot, cluster.Resume, cluster.Unpause, cluster.Migrate:
				then = in(a.VM, a.To)
			default: // it does not run any more
			}
			u.takes[i] += max(0, then-was)
			u.gives[i] += max(0, was-then)
			draws[a.VM] = then
		}
		d.lacks[i] = max(0, -left)
		if left > 0 {
			d.free[i] = []portion{{-1, left}}
		}
	}
}

// run advances from end to end and starts units as soon as they are ready and there is power; if
// no unit can start, the first starts with less.
func (d *powerSchedule) run() {
	order := make([]int, len(d.units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.units[a].start, d.units[b].start) })
	for left := len(order); left > 0; {
		first, begun := -1, false
		for _, u := range order {
			if d.units[u].state != 0 || !d.ready(u) {
				continue
			}
			if first < 0 {
				first = u
			}
			if d.affords(u) {
				d.take(u)
				begun = true
			}
		}
		if ended := d.endNext(); ended > 0 {
			left -= ended
		} else if !begun {
			d.take(first)
		}
	}
}

// oneByOne starts the units in the order of the plan, each with the power of those before it, and
// reports whether that is enough.
func (d *powerSchedule) oneByOne() bool {
	for id := range d.of {
		if u := d.of[id]; d.units[u].state != over {
			d.take(u)
			d.endNext()
		}
	}
	return !d.short
}

// ready reports whether all dependencies of a unit in the plan have ended.
func (d *powerSchedule) ready(u int) bool {
	return !slices.ContainsFunc(d.units[u].after, func(b ActionID) bool { return d.units[d.of[b]].state != over })
}

func (d *powerSchedule) affords(u int) bool {
	for i, need := range d.units[u].takes {
		for _, p := range d.free[i] {
			need -= p.much
		}
		if need > 0 && d.units[u].takes[i] > 0 {
			return false
		}
	}
	return true
}

// take starts a unit with the oldest power available. Missing power stays missing. If more was drawn from the beginning than the limit, the
// unit also waits for those that have released that: they may end later than those that release what it takes.
func (d *powerSchedule) take(u int) {
	for i, need := range d.units[u].takes {
		if need > 0 {
			for _, by := range d.paid[i] {
				d.wait(u, by)
			}
		}
		for need > 0 && len(d.free[i]) > 0 {
			p := &d.free[i][0]
			much := min(need, p.much)
			need, p.much = need-much, p.much-much
			if p.by >= 0 {
				d.wait(u, p.by)
			}
			if p.much == 0 {
				d.free[i] = d.free[i][1:]
			}
		}
		d.lacks[i] += need
		d.short = d.short || need > 0
	}
	d.begin(u)
}

// wait makes a unit wait for all actions of another.
func (d *powerSchedule) wait(u, by int) {
	t := &d.units[u]
	for _, b := range d.units[by].actions {
		if !slices.Contains(t.after, b) {
			t.after, d.waits = append(t.after, b), true
		}
	}
}

// begin starts a unit at the end of its dependencies.
func (d *powerSchedule) begin(u int) {
	t := &d.units[u]
	t.state, t.start = underWay, 0
	for _, b := range t.after {
		t.start = max(t.start, d.ends(b))
	}
	for _, id := range t.actions {
		if a := &d.plan.Actions[id]; a.Kind == cluster.Suspend || a.Kind == cluster.Migrate && !a.Live {
			t.start = d.slots.free(a.Kind, a.From, a.To, t.start) // it is paused for that
		}
	}
	for _, id := range t.actions {
		a := &d.plan.Actions[id]
		d.at[id] = d.slots.take(a.Kind, a.From, a.To, t.start, a.End-a.Start)
		t.end = max(t.end, d.ends(id))
	}
}

// ends is the time at which an action ends, once its unit has begun.
func (d *powerSchedule) ends(id ActionID) time.Duration {
	a := &d.plan.Actions[id]
	return d.at[id] + a.End - a.Start
}

// endNext ends the units that end next, and returns their number.
func (d *powerSchedule) endNext() (ended int) {
	next := time.Duration(-1)
	for i := range d.units {
		if u := &d.units[i]; u.state == underWay && (next < 0 || u.end < next) {
			next = u.end
		}
	}
	for i := range d.units {
		u := &d.units[i]
		if u.state != underWay || u.end > next {
			continue
		}
		u.state = over
		ended++
		for l, much := range u.gives {
			repaid := min(much, d.lacks[l])
			if repaid > 0 {
				d.lacks[l] -= repaid
				d.paid[l] = append(d.paid[l], i)
			}
			if much > repaid {
				d.free[l] = append(d.free[l], portion{i, much - repaid})
			}
		}
	}
	return ended
}

// write returns the plan with the new times, in their order.
func (d *powerSchedule) write() Plan {
	plan := *d.plan
	plan.Actions = slices.Clone(d.plan.Actions)
	for i := range plan.Actions {
		a, u := &plan.Actions[i], &d.units[d.of[i]]
		a.Start, a.End, a.After = d.at[i], d.ends(a.ID), slices.Clone(u.after)
		slices.Sort(a.After)
		a.After = slices.Compact(a.After)
	}
	plan.renumber()
	return plan
}

// renumber numbers the actions in order of their times, and updates all that depends on the
// numbers.
func (p *Plan) renumber() {
	order := make([]int, len(p.Actions))
	for i := range order {
		order[i] = i
	}
	depth := p.depths()
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(p.Actions[a].Start, p.Actions[b].Start), cmp.Compare(depth[a], depth[b]), cmp.Compare(a, b))
	})
	number := make([]ActionID, len(order))
	for k, i := range order {
		number[i] = ActionID(k)
	}
	actions, gangs := make([]Action, len(order)), slices.Clone(p.Gangs)
	p.Makespan = 0
	for i, a := range p.Actions {
		a.ID = number[i]
		for k := range a.After {
			a.After[k] = number[a.After[k]]
		}
		slices.Sort(a.After)
		actions[a.ID] = a
		p.Makespan = max(p.Makespan, a.End)
	}
	for g := range gangs {
		gangs[g].Actions = slices.Clone(gangs[g].Actions)
		for k, id := range gangs[g].Actions {
			gangs[g].Actions[k] = number[id]
		}
	}
	slices.SortFunc(gangs, func(a, b Gang) int { return cmp.Compare(slices.Min(a.Actions), slices.Min(b.Actions)) })
	p.Actions, p.Gangs, p.Cost = actions, gangs, planCost(actions)
}

// depths returns, by action, the length of the longest chain of dependencies.
func (p *Plan) depths() []int {
	depth := make([]int, len(p.Actions))
	var of func(i int) int
	of = func(i int) int {
		if depth[i] == 0 {
			for _, b := range p.Actions[i].After {
				depth[i] = max(depth[i], of(int(b)))
			}
			depth[i]++
		}
		return depth[i]
	}
	for i := range depth {
		of(i)
	}
	return depth
}
