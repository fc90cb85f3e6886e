package ctxswitch

import (
	"cmp"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/placement"
	"vjob/repack"
)

// planBuilder turns the plan of an instance into a [Plan]: actions by VM and node, with the
// actions that they wait for, not yet numbered.
type planBuilder struct {
	*repacking
	steps []pendingAction
	gangs []stepGroup
}

// rankOf sorts actions that free room before actions that take it.
func rankOf(k cluster.ActionKind) int {
	return slices.Index([]cluster.ActionKind{
		cluster.Pause, cluster.Stop, cluster.Suspend, cluster.Migrate, cluster.Resume, cluster.Boot, cluster.Unpause,
	}, k)
}

// pendingAction is an action that is not yet numbered.
type pendingAction struct {
	kind     cluster.ActionKind
	vm       int
	from, to int
	live     bool
	rate     int64
	at       repack.Ticks // when it starts and ends in the plan of the instance
	until    repack.Ticks
	copies   repack.Ticks // when it begins to copy, if it waits for a transfer slot after its start; else at
	gang     int
	after    []int
	depth    int
	start    time.Duration
	end      time.Duration
}

// stepGroup is the steps of one gang.
type stepGroup struct {
	vjob  cluster.VJobID
	kind  cluster.ActionKind
	steps []int
}

// kinds are the actions on VMs.
var kinds = map[repack.Kind]cluster.ActionKind{
	repack.Migrate: cluster.Migrate, repack.Boot: cluster.Boot, repack.Shutdown: cluster.Stop,
	repack.Suspend: cluster.Suspend, repack.Resume: cluster.Resume,
}

// kindOf is the inverse of kinds.
var kindOf = map[cluster.ActionKind]repack.Kind{
	cluster.Migrate: repack.Migrate, cluster.Boot: repack.Boot, cluster.Stop: repack.Shutdown,
	cluster.Suspend: repack.Suspend, cluster.Resume: repack.Resume,
}

// assemble turns the plan of an instance into a context switch.
func (q *repacking) assemble(plan *repack.Plan) Plan {
	d := &planBuilder{repacking: q}
	d.takeActions(plan)
	d.deleteImages()
	d.addInPlace()
	d.groupSteps()
	d.orderForCPU()
	d.shareWaits()
	d.separatePauses()
	order := d.order()
	return d.write(order)
}

// takeActions copies the actions on VMs and their dependencies.
func (d *planBuilder) takeActions(plan *repack.Plan) {
	number := make([]int, len(plan.Actions))
	d.steps = make([]pendingAction, 0, len(plan.Actions)+len(d.ends))
	for i := range plan.Actions {
		a := &plan.Actions[i]
		kind, ok := kinds[a.Kind]
		if !ok {
			number[i] = -1
			continue
		}
		number[i] = len(d.steps)
		s := pendingAction{
			kind: kind, vm: a.VM, from: a.From, to: a.To, at: a.Start, until: a.End, rate: a.Rate,
			live: kind == cluster.Migrate && !d.in.VMs[a.VM].Paused,
		}
		s.copies = s.at
		if d.Transfers.Limit > 0 && s.pauses() {
			s.copies = max(s.at, s.until-d.in.Lasts(a))
		}
		for _, j := range a.After {
			if number[j] >= 0 {
				s.after = append(s.after, number[j])
			}
		}
		d.steps = append(d.steps, s)
	}
}

// deleteImages deletes the images of VMs that are to end and do not run; these actions wait for
// nothing.
func (d *planBuilder) deleteImages() {
	for _, vm := range d.ends {
		d.steps = append(d.steps, pendingAction{kind: cluster.Stop, vm: vm, from: d.in.VMs[vm].Host, to: repack.Nowhere})
	}
}

// groupSteps groups the steps: those of one vjob and kind that start together, all stops of a
// vjob, and all its live migrations.
func (d *planBuilder) groupSteps() {
	type key struct {
		vjob cluster.VJobID
		kind cluster.ActionKind
		at   repack.Ticks
	}
	of := map[key]int{}
	for i := range d.steps {
		s := &d.steps[i]
		k := key{d.vms[s.vm].VJob, s.kind, s.at}
		if s.live || s.kind == cluster.Stop {
			k.at = 0
		}
		g, ok := of[k]
		if !ok {
			g = len(d.gangs)
			of[k] = g
			d.gangs = append(d.gangs, stepGroup{vjob: k.vjob, kind: k.kind})
		}
		s.gang = g
		d.gangs[g].steps = append(d.gangs[g].steps, i)
	}
}

// shareWaits gives all steps of a gang the same dependencies, except live migrations.
func (d *planBuilder) shareWaits() {
	for _, g := range d.gangs {
		if d.steps[g.steps[0]].live {
			continue
		}
		var all []int
		for _, i := range g.steps {
			all = append(all, d.steps[i].after...)
		}
		for _, i := range g.steps {
			d.steps[i].after = slices.Clone(all)
		}
	}
}

// separatePauses orders all other steps of a vjob before or after those that pause it.
func (d *planBuilder) separatePauses() {
	of := map[cluster.VJobID][]int{}
	for i := range d.steps {
		job := d.vms[d.steps[i].vm].VJob
		of[job] = append(of[job], i)
	}
	for g := range d.gangs {
		first := d.steps[d.gangs[g].steps[0]]
		if !first.pauses() {
			continue
		}
		var last repack.Ticks
		for _, i := range d.gangs[g].steps {
			last = max(last, d.steps[i].until)
		}
		for _, j := range of[d.gangs[g].vjob] {
			switch o := &d.steps[j]; {
			case o.gang == g:
			case o.at >= last:
				o.after = append(o.after, d.gangs[g].steps...)
			default:
				for _, i := range d.gangs[g].steps {
					d.steps[i].after = append(d.steps[i].after, j)
				}
			}
		}
	}
}

// pauses reports whether the vjob is paused during the step.
func (s *pendingAction) pauses() bool {
	return s.kind == cluster.Suspend || s.kind == cluster.Resume || s.kind == cluster.Migrate && !s.live
}

// order sorts the steps by their earliest start: at the end of the steps that they wait for, with transfer
// slots, which they take in the order of the plan of the instance.
func (d *planBuilder) order() (order []int) {
	for i := range d.steps { // in order of the plan: dependencies come first
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.steps[a].copies, d.steps[b].copies) })
	free, begins := d.Transfers.slots(), map[int]time.Duration{}
	for _, i := range order {
		s := &d.steps[i]
		slices.Sort(s.after)
		s.after = slices.Compact(s.after)
		for _, j := range s.after {
			s.start, s.depth = max(s.start, d.steps[j].end), max(s.depth, d.steps[j].depth+1)
		}
		if d.stopsFor(s) {
			if _, known := begins[s.gang]; !known {
				begins[s.gang] = d.begins(s.gang, s.start, free)
			}
			s.start = begins[s.gang]
		}
		takes := d.duration(s)
		s.start = free.take(s.kind, d.name(s.from), d.name(s.to), s.start, takes)
		s.end = s.start + takes
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &d.steps[a], &d.steps[b]
		return cmp.Or(
			cmp.Compare(x.start, y.start), cmp.Compare(x.depth, y.depth), cmp.Compare(rankOf(x.kind), rankOf(y.kind)),
			d.vms[x.vm].Compare(d.vms[y.vm]), cmp.Compare(a, b),
		)
	})
	return order
}

// stopsFor reports whether a gang that runs is paused for a step.
func (d *planBuilder) stopsFor(s *pendingAction) bool {
	state, _ := d.Current.State(d.vms[s.vm])
	return s.kind != cluster.Resume && s.pauses() && state == cluster.VMRunning
}

// begins returns when a gang is paused for its steps, once something else allows that: as soon as a
// transfer slot is free on each of their nodes.
func (d *planBuilder) begins(gang int, at time.Duration, free slots) time.Duration {
	for _, i := range d.gangs[gang].steps {
		s := &d.steps[i]
		at = free.free(s.kind, d.name(s.from), d.name(s.to), at)
	}
	return at
}

// duration is the duration of a step: the estimate of the costs, or longer at the rate that its
// links leave it.
func (d *planBuilder) duration(s *pendingAction) time.Duration {
	takes := d.Costs.Duration(s.kind, d.memory(s), s.remote())
	if s.rate > 0 {
		takes = max(takes, time.Duration(s.until-s.copies)*placement.Tick)
	}
	return takes
}

func (d *planBuilder) memory(s *pendingAction) cluster.MiB { return d.count(d.vms[s.vm]).Memory }

func (s *pendingAction) remote() bool { return s.from != repack.Nowhere && s.from != s.to }

// write returns the plan in that order.
func (d *planBuilder) write(order []int) Plan {
	id := make([]ActionID, len(d.steps))
	for number, i := range order {
		id[i] = ActionID(number)
	}
	plan := Plan{Actions: make([]Action, 0, len(order))}
	for _, i := range order {
		s := &d.steps[i]
		a := Action{
			ID: id[i], Kind: s.kind, VM: d.vms[s.vm], From: d.name(s.from), To: d.name(s.to), Live: s.live, Rate: perSecond(s.rate),
			Start: s.start, End: s.end, Cost: localCost(s.kind, d.memory(s), s.remote()),
		}
		for _, j := range s.after {
			a.After = append(a.After, id[j])
		}
		slices.Sort(a.After)
		plan.Actions = append(plan.Actions, a)
		plan.Makespan = max(plan.Makespan, a.End)
	}
	for _, g := range d.gangs {
		gang := Gang{VJob: g.vjob, Kind: g.kind}
		for _, i := range g.steps {
			gang.Actions = append(gang.Actions, id[i])
		}
		slices.SortFunc(gang.Actions, func(a, b ActionID) int {
			return cmp.Or(cmp.Compare(plan.Actions[a].VM.Rank, plan.Actions[b].VM.Rank), cmp.Compare(a, b))
		})
		plan.Gangs = append(plan.Gangs, gang)
	}
	slices.SortFunc(plan.Gangs, func(a, b Gang) int { return cmp.Compare(slices.Min(a.Actions), slices.Min(b.Actions)) })
	plan.Cost = planCost(plan.Actions)
	plan.Target = d.reached(plan.Actions)
	return plan
}

func (d *planBuilder) name(n int) cluster.NodeID {
	if n == repack.Nowhere {
		return ""
	}
	return d.nodes[n].ID
}

// reached returns the configuration after the actions, with the needs that VMs have then.
func (q *repacking) reached(actions []Action) *cluster.Configuration {
	c := q.Current.Clone()
	for vm, need := range q.Next { // VMs without an action may need more, too
		if host, ok := c.Host(vm); ok {
			c.SetRunning(vm, need, host)
		}
	}
	for _, a := range actions {
		switch a.Kind {
		case cluster.Stop:
			c.Remove(a.VM)
		case cluster.Suspend:
			c.SetSleeping(a.VM, q.Current.Need(a.VM), a.From)
		case cluster.Pause:
			c.SetPaused(a.VM, q.Current.Need(a.VM), a.From)
		default:
			c.SetRunning(a.VM, q.need(a.VM), a.To)
		}
	}
	return c
}
