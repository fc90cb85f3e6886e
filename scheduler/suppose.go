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

// Supposition is what could be otherwise, for those who ask before they act.
type Supposition struct {
	Nodes  map[cluster.NodeID]cluster.NodeState // nodes in another state
	Rules  *string                              // other rules in place of those that were stated
	Budget *energy.Watts                        // what the cluster may draw, in place of its budgets
	Submit *admission.Submission                // one vjob more
	Delete []cluster.VJobID                     // vjobs less
}

// Forecast is what would be decided then.
type Forecast struct {
	VJobs    []Lot          // those that would fare otherwise than now, and the one that is supposed
	Plan     ctxswitch.Plan // the context switch that would begin
	Why      string         // why there would be none
	Breaches []string       // of rules as things would stand, before any plan
	Nodes    int            // that would take VMs
}

// Lot is what is wanted of a vjob, now and on the supposition. The number of the one that
// is supposed is 0.
type Lot struct {
	*cluster.VJob
	Now, Then queue.Verdict
}

// Supposed reports whether the vjob was never submitted.
func (l *Lot) Supposed() bool { return l.ID == 0 }

// Suppose prepares the answer to what would be decided if things were otherwise; the
// answer itself takes a while and needs the core no more. Nothing is changed. The
// error is a supposition that makes no sense.
func (c *Core) Suppose(now time.Time, s Supposition, b admission.Bounds) (answer func() Forecast, err error) {
	c.now = now
	if !c.exec.Surveyed() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	present, then := c.picture().Apart(), c.picture().Apart()
	if err := c.bend(then, s, b); err != nil {
		return nil, err
	}
	return func() Forecast { return compare(present, then) }, nil
}

// bend makes a picture one of the supposition.
func (c *Core) bend(p *decide.View, s Supposition, b admission.Bounds) error {
	for id, state := range s.Nodes {
		if err := p.Decree(id, state); err != nil {
			return err
		}
	}
	if s.Rules != nil {
		if err := c.CheckRules(*s.Rules); err != nil {
			return err
		}
		p.Restate(c.rules.Text, *s.Rules)
	}
	if s.Budget != nil {
		if len(c.settings.Energy.Power) == 0 {
			return cluster.BadField("budget_watts", s.Budget.String(), "power models in the settings of the daemon (energy.models)")
		}
		p.Draw(*s.Budget)
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

// newcomer is the number of a vjob that is only supposed, while it is decided on. No other
// vjob will ever have it; the next one in turn may meanwhile be given to a real one.
const newcomer = cluster.VJobID(math.MaxInt64)

// add puts a vjob that nobody has submitted into the picture, in its place in the
// order.
func (c *Core) add(p *decide.View, s *admission.Submission) {
	job := s.VJob(newcomer)
	job.Submitted = c.now
	own := c.order.WhatIf(job, c.now)
	at, _ := slices.BinarySearchFunc(p.VJobs, &own, func(r execute.Report, own *multifactor.Priority) int {
		other, _ := c.order.Rank(r.Job.ID, c.now) // all are there
		return other.Compare(own)
	})
	p.Add(job, at)
}

// compare decides on both pictures.
func compare(present, then *decide.View) Forecast {
	before, fails := present.Decide()
	after, wouldFail := then.Decide()
	if err := cmp.Or(fails, wouldFail); err != nil {
		return Forecast{Why: err.Error()}
	}
	f := Forecast{Plan: after.Plan, Why: after.Why, Breaches: after.Breaches}
	now := map[cluster.VJobID]queue.Verdict{}
	for i, r := range present.VJobs {
		now[r.Job.ID] = before.Verdicts[i]
	}
	for i, r := range then.VJobs {
		lot := Lot{VJob: r.Job, Now: now[r.Job.ID], Then: after.Verdicts[i]}
		if lot.ID == newcomer || lot.Now.Target != lot.Then.Target {
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
func (f *Forecast) renumber() {
	plain := func(text *string) { *text = strings.ReplaceAll(*text, newcomer.String(), "0") }
	for i := range f.Plan.Actions {
		if vm := &f.Plan.Actions[i].VM; vm.VJob == newcomer {
			vm.VJob = 0
		}
	}
	for i := range f.Plan.Gangs {
		if g := &f.Plan.Gangs[i]; g.VJob == newcomer {
			g.VJob = 0
		}
	}
	for i := range f.VJobs {
		lot := &f.VJobs[i]
		if lot.ID == newcomer {
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
