package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// Relocate makes the plan that carries out moves of running VMs, after a decision with nothing else to do. It
// returns why there is none: they are not where the moves take them from, or what [Decision.Consolidate] would
// reject. Then nothing may be moved in part.
func (d *Decision) Relocate(moves []cluster.Move) (plan ctxswitch.Plan, caps map[cluster.VJobID][]cluster.MilliCPU, why string) {
	well := withoutPanic(func() {
		r := d.final.newRelocation(d)
		if why = r.changed(moves); why != "" {
			return
		}
		var out relocated
		if out, why = r.plan(moves); why == "" {
			why = r.takesFailover(moves, nil)
		}
		plan, caps = out.plan, out.caps
	})
	if !well {
		why = "no decision can be taken with some vjobs"
	}
	if why != "" {
		return ctxswitch.Plan{}, nil, why
	}
	return plan, caps, ""
}

// changed returns what has changed since moves were proposed; "" if they are still possible.
func (r *relocation) changed(moves []cluster.Move) string {
	var list []string
	held := r.held()
	for _, m := range moves {
		at, runs := r.trial.current.Host(m.VM)
		node, known := r.trial.current.Node(m.To)
		switch {
		case !runs:
			list = append(list, fmt.Sprintf("%s does not run any more", m.VM))
		case at != m.From:
			list = append(list, fmt.Sprintf("%s runs on %s now, not on %s", m.VM, at, m.From))
		case held[m.VM.VJob]:
			list = append(list, fmt.Sprintf("%s is %s", m.VM, heldByOwner))
		case r.problem.Pinned[m.VM]:
			list = append(list, fmt.Sprintf("%s cannot be moved now", m.VM))
		case !known || !node.Hosts():
			list = append(list, fmt.Sprintf("%s takes no VMs now", m.To))
		}
	}
	return strings.Join(list, "; ")
}

// relocation moves running VMs to given nodes after a decision with nothing else to do, and no other VM.
type relocation struct {
	*attempt
	verdicts []queue.Verdict                       // of the vjobs of the view
	caps     map[cluster.VJobID][]cluster.MilliCPU // before
	problem  ctxswitch.Problem                     // without the moves
}

func (a *attempt) newRelocation(d *Decision) relocation {
	verdicts := d.Verdicts[:len(a.VJobs)]
	goals, _ := a.goals(verdicts)
	return relocation{attempt: a, verdicts: verdicts, caps: d.Caps, problem: a.problem(goals)}
}

// relocated is a plan that moves VMs.
type relocated struct {
	plan  ctxswitch.Plan
	caps  map[cluster.VJobID][]cluster.MilliCPU // as in [Decision]
	yield [2]float64                            // the fraction of its CPU that every running vjob may use, before and after
}

// plan makes the plan that moves VMs to nodes. It returns why there is none: the moves break a rule, need
// more than migrations, leave a vjob with less CPU, or break a power limit.
func (r *relocation) plan(moves []cluster.Move) (out relocated, why string) {
	problem := r.problem
	problem.Places, problem.Pinned = map[cluster.VMID]cluster.NodeID{}, make(map[cluster.VMID]bool, problem.Current.Size())
	to, moving := map[cluster.VMID]cluster.NodeID{}, map[cluster.VJobID]bool{}
	for _, m := range moves {
		to[m.VM], moving[m.VM.VJob] = m.To, true
	}
	for _, vm := range r.trial.current.VMs() {
		at, runs := r.trial.current.Host(vm)
		switch {
		case !moving[vm.VJob] || r.problem.Pinned[vm]:
			problem.Pinned[vm] = true
		case to[vm] != "":
			problem.Places[vm] = to[vm]
		case runs:
			problem.Places[vm] = at
		}
	}
	plan, err := ctxswitch.Repacker{}.Plan(problem)
	switch {
	case err != nil:
		return out, err.Error()
	case plan.Empty():
		return out, "there is nothing to move"
	case len(plan.Dropped) > 0:
		return out, plan.Dropped[0].String()
	case len(plan.Leaves) > 0:
		return out, "rules would be broken: " + plan.Leaves[0]
	case slices.ContainsFunc(plan.Actions, func(a ctxswitch.Action) bool { return a.Kind != cluster.Migrate }):
		return out, "vjobs would have to be suspended on the way"
	}
	return r.share(problem, plan)
}

// share computes the CPU shares after a plan, and the times that power limits allow.
func (r *relocation) share(problem ctxswitch.Problem, plan ctxswitch.Plan) (out relocated, why string) {
	power := powering{r.attempt}
	out = relocated{plan: plan, caps: power.caps(r.verdicts, plan.Target)}
	out.yield = [2]float64{r.yield(r.caps), r.yield(out.caps)}
	if why := r.loses(&out); why != "" {
		return out, why
	}
	if r.sharesCPU() && len(r.Limits.Now) > 0 {
		out.plan, problem.Power = power.delay(plan, out.caps), power.draw(out.caps)
	}
	if faults := ctxswitch.Check(problem, out.plan); len(faults) > 0 {
		return out, faults[0]
	}
	return out, ""
}

// loses returns why vjobs would get less CPU, now or under future budgets; "" if none would.
func (r *relocation) loses(out *relocated) string {
	if _, refusals := newShareProblem(r.View, out.plan.Target, r.verdicts, r.Limits.Now).Select(); len(refusals) > 0 {
		return "some would have to stop for the power budgets"
	}
	for id, before := range r.caps {
		for rank, most := range out.caps[id] {
			if most < before[rank]-before[rank]/50-1 {
				return fmt.Sprintf("vjob %s would get less CPU", id)
			}
		}
	}
	for i, change := range r.Limits.Changes {
		if slices.ContainsFunc(r.Limits.Changes[:i], func(c LimitChange) bool { return slices.Equal(c.Limits, change.Limits) }) {
			continue
		}
		if more := r.stopsAt(out.plan.Target, change); more != 0 {
			return fmt.Sprintf("vjob %s would have to stop for the power budgets from %s on", more, change.At.UTC().Format("2006-01-02 15:04 MST"))
		}
	}
	return ""
}

// yield returns the fraction of their reservations that all vjobs with caps may use together; 1
// without caps.
func (r *relocation) yield(caps map[cluster.VJobID][]cluster.MilliCPU) float64 {
	given, reserved := cluster.MilliCPU(0), cluster.MilliCPU(0)
	for i := range r.VJobs {
		job := r.VJobs[i].Job
		for rank, most := range caps[job.ID] {
			given, reserved = given+most, reserved+job.VMs[rank].Reserved.CPU
		}
	}
	if reserved <= 0 {
		return 1
	}
	return min(1, float64(given)/float64(reserved))
}

// stopsAt returns a vjob that future budgets would stop only where a plan leads; 0 if none.
func (r *relocation) stopsAt(target *cluster.Configuration, change LimitChange) cluster.VJobID {
	q := newShareProblem(r.View, target, r.runningVerdicts(), change.Limits)
	runs, _ := q.Select()
	for k, i := range q.jobs {
		if id := r.VJobs[i].Job.ID; !runs[k] && !slices.Contains(change.Stops, id) {
			return id
		}
	}
	return 0
}

// left returns how long a vjob is expected to run on: any time up to its walltime is as likely. Without a walltime it
// is a day, or the horizon of a search if that is more.
func (r *relocation) left(report int, horizon time.Duration) time.Duration {
	job := &r.VJobs[report]
	if job.Job.Walltime == 0 {
		return max(horizon, 24*time.Hour)
	}
	return max(0, job.Job.Walltime-job.Ran) / walltimeDivisor
}
