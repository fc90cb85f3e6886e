package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/queue"
	"vjob/queue/rank"
	"vjob/scheduler/intake"
	"vjob/scheduler/pass"
)

// Supposition is what could be otherwise, for those who ask before they act.
type Supposition struct {
	Nodes  map[cluster.NodeID]cluster.NodeState // nodes in another state
	Rules  *string                              // other rules in place of those that were stated
	Budget *energy.Watts                        // what the cluster may draw, in place of its budgets
	Submit *intake.Submission                   // one vjob more
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

// Lot is what is wanted of a vjob, now and on the supposition.
type Lot struct {
	*cluster.VJob
	Now, Then queue.Verdict
	Supposed  bool // there is no such vjob now
}

// Suppose prepares the answer to what would be decided if things were otherwise; the
// answer itself takes a while and needs the core no more. Nothing is changed. The
// error is a supposition that makes no sense.
func (c *Core) Suppose(now time.Time, s Supposition, b intake.Bounds) (answer func() Forecast, err error) {
	c.now = now
	if !c.exec.Surveyed() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	present, then := c.picture().Apart(), c.picture().Apart()
	supposed, err := c.bend(then, s, b)
	if err != nil {
		return nil, err
	}
	return func() Forecast { return compare(present, then, supposed) }, nil
}

// bend makes a picture one of the supposition, and tells the vjob in it that nobody has
// submitted; 0: there is none.
func (c *Core) bend(p *pass.Picture, s Supposition, b intake.Bounds) (supposed cluster.VJobID, err error) {
	for id, state := range s.Nodes {
		if err := p.Decree(id, state); err != nil {
			return 0, err
		}
	}
	if s.Rules != nil {
		if err := c.CheckRules(*s.Rules); err != nil {
			return 0, err
		}
		p.Restate(c.rules.Text, *s.Rules)
	}
	if s.Budget != nil {
		if len(c.settings.Energy.Power) == 0 {
			return 0, cluster.BadField("budget_watts", s.Budget.String(), "power models in the settings of the daemon (energy.models)")
		}
		p.Draw(*s.Budget)
	}
	for _, id := range s.Delete {
		if err := p.Remove(id); err != nil {
			return 0, err
		}
	}
	if s.Submit == nil {
		return 0, nil
	}
	if err := s.Submit.Validate(b, p.Nodes()); err != nil {
		return 0, err
	}
	if err := s.Submit.Route(c.settings.Arrangement); err != nil {
		return 0, err
	}
	if err := c.Admit(c.now, s.Submit); err != nil {
		return 0, err
	}
	return c.add(p, s.Submit), nil
}

// add puts a vjob that nobody has submitted into the picture, in its place in the
// order.
func (c *Core) add(p *pass.Picture, s *intake.Submission) cluster.VJobID {
	last := cluster.VJobID(0)
	for i := range p.VJobs {
		last = max(last, p.VJobs[i].Job.ID)
	}
	job := s.VJob(last + 1)
	job.Submitted = c.now
	own := c.desk.Suppose(job, c.now)
	at, _ := slices.BinarySearchFunc(p.VJobs, &own, func(r execute.Report, own *rank.Rank) int {
		other, _ := c.desk.Rank(r.Job.ID, c.now) // all are there
		return other.Compare(own)
	})
	p.Add(job, at)
	return job.ID
}

// compare decides on both pictures.
func compare(present, then *pass.Picture, supposed cluster.VJobID) Forecast {
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
		lot := Lot{VJob: r.Job, Now: now[r.Job.ID], Then: after.Verdicts[i], Supposed: r.Job.ID == supposed}
		if lot.Supposed || lot.Now.Wish != lot.Then.Wish {
			f.VJobs = append(f.VJobs, lot)
		}
	}
	for _, n := range then.Nodes() {
		if n.Hosts() {
			f.Nodes++
		}
	}
	return f
}
