package scheduler

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/queue"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
)

// WhatIf is a set of changes to try out.
type WhatIf struct {
	Nodes  map[cluster.NodeID]cluster.NodeState // nodes in another state
	Rules  *string                              // replace the stated rules
	Budget *energy.Watts                        // replaces the budgets of the cluster
	Submit *admission.Submission                // one more vjob
	Delete []cluster.VJobID                     // vjobs that end
	// Place is the vjob of which to list placements, 0 for the one of Submit; nil: of no vjob.
	Place *cluster.VJobID
	// Alternatives is how many placements to list at most.
	Alternatives int
}

// WhatIfResult is what would be decided after the changes.
type WhatIfResult struct {
	VJobs    []WhatIfVJob   // those with another target than now, the lost ones, and the hypothetical one
	Plan     ctxswitch.Plan // the context switch that would begin
	Why      string         // why there is no plan
	Breaches []string       // of rules before any plan
	Nodes    int            // that would take VMs
	// Undrained are the drained nodes that would keep VMs, each with the reason.
	Undrained map[cluster.NodeID]string
	// Placements are those of the vjob that was asked for, the best first. Refusals are the nodes that
	// take none of its VMs.
	Placements []decide.Placement
	Refusals   []decide.Refusal
}

// WhatIfVJob is the verdict on a vjob now and after the changes. The id of a hypothetical vjob is 0.
type WhatIfVJob struct {
	*cluster.VJob
	Now, Then queue.Verdict
}

// Hypothetical reports whether the vjob was never submitted.
func (l *WhatIfVJob) Hypothetical() bool { return l.ID == 0 }

// WhatIf prepares the answer to what would be decided after some changes. The answer takes a while
// and does not use the core. Nothing changes. It fails if the changes are invalid.
func (c *Core) WhatIf(now time.Time, s WhatIf, b admission.Limits) (answer func() WhatIfResult, err error) {
	if !c.exec.AllSeen() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	present, then := c.vary(now), c.vary(now)
	if err := s.apply(c, now, then, b); err != nil {
		return nil, err
	}
	if s.Place == nil {
		return func() WhatIfResult { return compare(present, then) }, nil
	}
	id, standby := *s.Place, c.Power.standby()
	if id == 0 {
		id = hypotheticalID
	}
	if err := then.Placeable(id); err != nil {
		return nil, err
	}
	return func() WhatIfResult {
		room := then.Vary()
		f := compare(present, then)
		f.Placements, f.Refusals = room.Placements(id, s.Alternatives, standby)
		f.renumberPlacements()
		return f
	}, nil
}

// renumberPlacements replaces the hypothetical id by 0.
func (f *WhatIfResult) renumberPlacements() {
	for i := range f.Placements {
		one := WhatIfResult{Plan: f.Placements[i].Plan}
		one.renumber()
		f.Placements[i].Plan = one.Plan
	}
	for i := range f.Refusals {
		f.Refusals[i].Why = strings.ReplaceAll(f.Refusals[i].Why, hypotheticalID.String(), "0")
	}
}

// apply applies the changes to a variant of the view.
func (s *WhatIf) apply(c *Core, now time.Time, v *decide.Variant, b admission.Limits) error {
	for id, state := range s.Nodes {
		if err := v.SetNodeState(id, state); err != nil {
			return err
		}
	}
	if s.Rules != nil {
		if err := c.Rules.Check(*s.Rules); err != nil {
			return err
		}
		v.ReplaceRules(c.Rules.stated.Text, *s.Rules)
	}
	if s.Budget != nil {
		if len(c.settings.Energy.Power) == 0 {
			return cluster.Fault("budget_watts", "the settings of the daemon have no power models: add them (energy.models)")
		}
		v.SetClusterBudget(*s.Budget)
	}
	for _, id := range s.Delete {
		if err := v.Remove(id); err != nil {
			return err
		}
	}
	if s.Submit == nil {
		return nil
	}
	if err := s.Submit.Validate(b, v.Nodes()); err != nil {
		return err
	}
	if err := s.Submit.Route(c.settings.Ordering); err != nil {
		return err
	}
	if err := c.settings.admitPool(s.Submit.VJob(0), c.Pools.hierarchy()); err != nil {
		return err
	}
	if err := c.Admit(now, s.Submit); err != nil {
		return err
	}
	addTo(v, c.VJobs.order, now, s.Submit)
	return nil
}

// hypotheticalID is the id of the hypothetical vjob during the decision; no real vjob gets it.
const hypotheticalID = cluster.VJobID(math.MaxInt64)

// addTo adds a vjob that was not submitted to a variant, at its place in the order.
func addTo(v *decide.Variant, order *ordering.Order, now time.Time, s *admission.Submission) {
	job := s.VJob(hypotheticalID)
	job.Submitted = now
	own := order.WhatIf(job, now)
	at, _ := slices.BinarySearchFunc(v.VJobs, &own, func(r execute.Report, own *multifactor.Priority) int {
		other, _ := order.Rank(r.Job.ID, now) // all are there
		return other.Compare(own)
	})
	v.Add(job, at)
}

// compare decides on both variants.
func compare(present, then *decide.Variant) WhatIfResult {
	before, fails := present.Decide()
	after, wouldFail := then.Decide()
	if err := cmp.Or(fails, wouldFail); err != nil {
		return WhatIfResult{Why: err.Error()}
	}
	f := WhatIfResult{Plan: after.Plan, Why: after.Why, Breaches: after.Breaches, Undrained: after.Undrained()}
	now := map[cluster.VJobID]int{}
	for i, r := range before.VJobs {
		now[r.Job.ID] = i
	}
	for i, r := range after.VJobs {
		x := WhatIfVJob{VJob: r.Job, Then: after.Verdicts[i]}
		k, known := now[r.Job.ID]
		if known {
			x.Now = before.Verdicts[k]
		}
		lost := known && before.VJobs[k].Job.State != r.Job.State
		if lost {
			x.Then.Reason = "lost with its node, starts from its beginning; " + x.Then.Reason
		}
		if lost || x.ID == hypotheticalID || x.Now.Target != x.Then.Target {
			f.VJobs = append(f.VJobs, x)
		}
	}
	for _, n := range then.Nodes() {
		if n.Hosts() {
			f.Nodes++
		}
	}
	f.renumber()
	return f
}

// renumber replaces the hypothetical id by 0 in the plan and in all texts.
func (f *WhatIfResult) renumber() {
	renumber := func(text *string) { *text = strings.ReplaceAll(*text, hypotheticalID.String(), "0") }
	for i := range f.Plan.Actions {
		if vm := &f.Plan.Actions[i].VM; vm.VJob == hypotheticalID {
			vm.VJob = 0
		}
	}
	for i := range f.Plan.Gangs {
		if g := &f.Plan.Gangs[i]; g.VJob == hypotheticalID {
			g.VJob = 0
		}
	}
	for i := range f.VJobs {
		x := &f.VJobs[i]
		if x.ID == hypotheticalID {
			job := *x.VJob
			job.ID, x.VJob = 0, &job
		}
		renumber(&x.Now.Reason)
		renumber(&x.Then.Reason)
	}
	for _, list := range [][]string{f.Breaches, f.Plan.Leaves} {
		for i := range list {
			renumber(&list[i])
		}
	}
	f.Plan.Dropped = slices.Clone(f.Plan.Dropped)
	for i := range f.Plan.Dropped {
		d := &f.Plan.Dropped[i]
		renumber(&d.Rule)
		renumber(&d.Breach)
		renumber(&d.Why)
	}
	renumber(&f.Why)
}
