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
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
)

// WhatIf is what could be otherwise, for those who ask before they act.
type WhatIf struct {
	Nodes  map[cluster.NodeID]cluster.NodeState // nodes in another state
	Rules  *string                              // other rules in place of those that were stated
	Budget *energy.Watts                        // what the cluster may draw, in place of its budgets
	Submit *admission.Submission                // one vjob more
	Delete []cluster.VJobID                     // vjobs less
}

// WhatIfResult is what would be decided then.
type WhatIfResult struct {
	VJobs    []Outcome      // those that would fare otherwise than now, and the one that is supposed
	Plan     ctxswitch.Plan // the context switch that would begin
	Why      string         // why there would be none
	Breaches []string       // of rules as things would stand, before any plan
	Nodes    int            // that would take VMs
}

// Outcome is what is wanted of a vjob, now and on the supposition. The number of the one that
// is supposed is 0.
type Outcome struct {
	*cluster.VJob
	Now, Then queue.Verdict
}

// Hypothetical reports whether the vjob was never submitted.
func (l *Outcome) Hypothetical() bool { return l.ID == 0 }

// WhatIf prepares the answer to what would be decided if things were otherwise; the
// answer itself takes a while and needs the core no more. Nothing is changed. The
// error is a supposition that makes no sense.
func (c *Core) WhatIf(now time.Time, s WhatIf, b admission.Bounds) (answer func() WhatIfResult, err error) {
	c.now = now
	if !c.exec.Surveyed() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	present, then := c.view().Detach(), c.view().Detach()
	if err := c.applyWhatIf(then, s, b); err != nil {
		return nil, err
	}
	return func() WhatIfResult { return compare(present, then) }, nil
}

// applyWhatIf makes a picture one of the supposition.
func (c *Core) applyWhatIf(p *decide.View, s WhatIf, b admission.Bounds) error {
	for id, state := range s.Nodes {
		if err := p.SetNodeState(id, state); err != nil {
			return err
		}
	}
	if s.Rules != nil {
		if err := c.CheckRules(*s.Rules); err != nil {
			return err
		}
		p.ReplaceRules(c.rules.Text, *s.Rules)
	}
	if s.Budget != nil {
		if len(c.settings.Energy.Power) == 0 {
			return cluster.BadField("budget_watts", s.Budget.String(), "power models in the settings of the daemon (energy.models)")
		}
		p.SetClusterBudget(*s.Budget)
	}
	for _, id := range s.Delete {
		if err := p.Remove(id); err != nil {
			return err
		}
	}
	if s.Submit == nil {
		return nil
	}
	if err := s.Submit.Validate(b, p.Nodes()); err != nil {
		return err
	}
	if err := s.Submit.Route(c.settings.Arrangement); err != nil {
		return err
	}
	if err := c.Admit(c.now, s.Submit); err != nil {
		return err
	}
	c.add(p, s.Submit)
	return nil
}

// hypotheticalID is the number of a vjob that is only supposed, while it is decided on. No other
// vjob will ever have it; the next one in turn may meanwhile be given to a real one.
const hypotheticalID = cluster.VJobID(math.MaxInt64)

// add puts a vjob that nobody has submitted into the picture, in its place in the
// order.
func (c *Core) add(p *decide.View, s *admission.Submission) {
	job := s.VJob(hypotheticalID)
	job.Submitted = c.now
	own := c.order.WhatIf(job, c.now)
	at, _ := slices.BinarySearchFunc(p.VJobs, &own, func(r execute.Report, own *multifactor.Priority) int {
		other, _ := c.order.Rank(r.Job.ID, c.now) // all are there
		return other.Compare(own)
	})
	p.Add(job, at)
}

// compare decides on both pictures.
func compare(present, then *decide.View) WhatIfResult {
	before, fails := present.Decide()
	after, wouldFail := then.Decide()
	if err := cmp.Or(fails, wouldFail); err != nil {
		return WhatIfResult{Why: err.Error()}
	}
	f := WhatIfResult{Plan: after.Plan, Why: after.Why, Breaches: after.Breaches}
	now := map[cluster.VJobID]queue.Verdict{}
	for i, r := range present.VJobs {
		now[r.Job.ID] = before.Verdicts[i]
	}
	for i, r := range then.VJobs {
		lot := Outcome{VJob: r.Job, Now: now[r.Job.ID], Then: after.Verdicts[i]}
		if lot.ID == hypotheticalID || lot.Now.Target != lot.Then.Target {
			f.VJobs = append(f.VJobs, lot)
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

// renumber calls the newcomer 0, in what is planned and in all that is said.
func (f *WhatIfResult) renumber() {
	plain := func(text *string) { *text = strings.ReplaceAll(*text, hypotheticalID.String(), "0") }
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
		lot := &f.VJobs[i]
		if lot.ID == hypotheticalID {
			job := *lot.VJob
			job.ID, lot.VJob = 0, &job
		}
		plain(&lot.Now.Reason)
		plain(&lot.Then.Reason)
	}
	for _, list := range [][]string{f.Breaches, f.Plan.Leaves} {
		for i := range list {
			plain(&list[i])
		}
	}
	plain(&f.Why)
}
