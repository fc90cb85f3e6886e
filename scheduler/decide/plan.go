package decide

import (
	"errors"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/queue"
)

// planning is the stage that makes a plan for the verdicts, and tries again with other targets while
// they prove infeasible.
type planning struct {
	*attempt
	retryFilter
	force    bool
	verdicts []queue.Verdict

	plan      ctxswitch.Plan
	why       string   // why there is no plan
	breaches  []string // of rules, before the plan
	fault     error    // makes the decision invalid
	unpowered map[cluster.VJobID]string
}

func newPlanning(a *attempt, targets, verdicts []queue.Verdict, force bool) *planning {
	return &planning{attempt: a, retryFilter: newRetryFilter(a.View, targets), verdicts: verdicts, force: force}
}

// run plans until a try succeeds, or nothing is left to change.
func (s *planning) run() {
	for s.try() {
		s.verdicts = s.placeSuspended(s.targets)
	}
}

// try makes a plan for the verdicts. It reports whether to try again because the targets have
// changed.
func (s *planning) try() (again bool) {
	goals, change := s.goals(s.verdicts)
	problem := s.problem(goals)
	s.breaches, s.why = ctxswitch.Breaches(problem), ""
	if !change && len(s.breaches) == 0 && needsNoRepair(problem) && len(s.prepared) == 0 && !s.force {
		return s.restore()
	}
	plan, err := s.makePlan(goals)
	if err == nil {
		return s.accept(plan)
	}
	s.why = err.Error()
	no, infeasible := errors.AsType[*ctxswitch.NoPlan](err)
	if !infeasible {
		s.fault = err
		return false
	}
	if plan, saved, ok := s.planWithPausedSaved(s.verdicts, no); ok {
		s.verdicts, s.why = saved, ""
		return s.accept(plan)
	}
	return s.dropStarters(no)
}

// accept takes a plan over unless it changes the targets. It reports whether to try again.
func (s *planning) accept(plan ctxswitch.Plan) (again bool) {
	if s.changesTargets(plan) {
		return true
	}
	s.plan = plan
	return false
}

// changesTargets reports whether the targets have changed because of a plan, which is dropped then: it
// moves VMs through images for which there is no space, places vjobs where they lack power, or is in the
// way of a reservation; or a vjob that an earlier try left out has a place after all.
func (s *planning) changesTargets(plan ctxswitch.Plan) bool {
	if s.exceedsImageSpace(s.verdicts, plan) {
		return true
	}
	if s.overdrawn(plan.Target) {
		return true
	}
	if s.breaksReservation(plan.Target) {
		return true
	}
	if s.breaksFailover(plan.Target) {
		return true
	}
	return s.restore()
}

// needsNoRepair reports whether the configuration, rules aside, is viable and no VM has to
// leave a draining node.
func needsNoRepair(p ctxswitch.Problem) bool {
	if !p.Current.Viable() {
		return false
	}
	for _, n := range p.Current.Nodes() {
		if n.State != cluster.Draining {
			continue
		}
		for _, vm := range p.Current.On(n.ID) {
			if !p.Pinned[vm] {
				return false
			}
		}
	}
	return true
}

// addStarters adds the applicants that should run to the layout.
func (a *attempt) addStarters(targets []queue.Verdict) {
	for i, at := range a.eachVJob {
		if at >= 0 && targets[i].Target == queue.Run {
			a.trial.start(&a.trial.applicants[at])
		}
	}
}

// goals translates the verdicts for the planner, in order. Change reports whether any vjob
// changes its state.
func (a *attempt) goals(verdicts []queue.Verdict) (goals []ctxswitch.Goal, change bool) {
	for i, r := range a.VJobs {
		if r.Busy() || a.quarantined[r.Job.ID] != "" {
			continue
		}
		state, barred := r.Job.State, a.excluded[r.Job.ID] != ""
		want, wanted := cluster.VMRunning, state == cluster.Running
		switch target := verdicts[i].Target; {
		case target == queue.Run:
			wanted = true
		case target == queue.Suspend && !barred && state == cluster.Running && r.Job.Container:
			a.unpin(r.Job)
			want, wanted = cluster.VMTerminated, true // it releases its resources and waits
		case target == queue.Suspend && !barred && state == cluster.Running && queue.IsEnded(r.Job):
			want, wanted = cluster.VMTerminated, true
		case target == queue.Suspend && !barred && (state == cluster.Running || state == cluster.Paused):
			want, wanted = cluster.VMSleeping, true
		case target == queue.Pause && !barred && state == cluster.Running:
			want = cluster.VMPaused
		}
		if wanted {
			goals = append(goals, ctxswitch.Goal{VJob: r.Job.ID, Want: want})
			change = change || want != cluster.VMRunning || state != cluster.Running
		}
	}
	return goals, change
}

// unpin lets the planner reuse the resources of a container.
func (a *attempt) unpin(job *cluster.VJob) {
	for i := range job.VMs {
		delete(a.trial.pinned, job.VMs[i].ID)
	}
}

// problem builds the planning problem for the goals.
func (a *attempt) problem(goals []ctxswitch.Goal) ctxswitch.Problem {
	l := &a.trial
	stays := func(id cluster.VJobID) bool {
		return !slices.ContainsFunc(goals, func(g ctxswitch.Goal) bool { return g.VJob == id && g.Want != cluster.VMRunning })
	}
	return ctxswitch.Problem{
		Current: l.current, Nodes: l.nodes, Rules: l.rules, Avoid: l.avoid, Incompatible: l.incompatible, Gangs: goals, Claims: l.claims, Pinned: a.pinned(stays), Places: a.startPlaces(),
		Unsavable: a.unsavable, Live: l.live, Costs: *a.costs, Network: a.settings.Network, Transfers: a.transfers(),
		Feeds: a.supply.Feeds(l.intended.Nodes(), a.Limits.Now, a.jobs()), Seed: a.settings.Seed,
	}
}

// transfers returns how many transfers nodes carry at once, and those that come before a plan made now.
func (a *attempt) transfers() ctxswitch.Transfers {
	return ctxswitch.Transfers{Limit: a.settings.Execute.Transfers, Busy: a.facts.TransfersAhead}
}

// makePlan makes a plan with which the prepared reservations could begin now, and leaves their own
// actions out.
func (a *attempt) makePlan(goals []ctxswitch.Goal) (ctxswitch.Plan, error) {
	problem := a.problem(goals)
	for _, id := range a.prepared {
		problem.Gangs = append(problem.Gangs, ctxswitch.Goal{VJob: id, Want: cluster.VMRunning})
	}
	plan, err := a.settings.Planner.Plan(problem)
	if err != nil || len(a.prepared) == 0 {
		return plan, err
	}
	return plan.Without(a.prepared, a.trial.current), nil
}
