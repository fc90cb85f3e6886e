package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/energy"
	"vjob/queue"
	"vjob/queue/rank"
	"vjob/ruling"
)

// Supposition is what could be otherwise, for those who ask before they act.
type Supposition struct {
	Nodes  map[cluster.NodeID]cluster.NodeState // nodes in another state
	Rules  *string                              // other rules in place of those that were stated
	Budget *energy.Watts                        // what the cluster may draw, in place of its budgets
	Submit *Submission                          // one vjob more
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
func (c *Core) Suppose(now time.Time, s Supposition, b Bounds) (answer func() Forecast, err error) {
	c.now = now
	if !c.exec.Surveyed() {
		return nil, fmt.Errorf("not all nodes have been looked at since the start: %w", cluster.ErrUnavailable)
	}
	retry := c.retryAt
	defer func() { c.retryAt = retry }()
	present, then := c.picture().apart(), c.picture().apart()
	if err := c.bend(then, s, b); err != nil {
		return nil, err
	}
	settings := c.settings
	return func() Forecast { return settings.compare(present, then) }, nil
}

// apart is the picture with vjobs of its own, that nobody else changes.
func (p *picture) apart() *picture {
	p.past = p.past.Clone()
	for i := range p.reports {
		p.reports[i].Job = p.reports[i].Job.Clone()
	}
	return p
}

// bend makes a picture one of the supposition.
func (c *Core) bend(p *picture, s Supposition, b Bounds) error {
	for id, state := range s.Nodes {
		n, known := p.current.Node(id)
		if !known {
			return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
		}
		n.State = state
		p.current.SetNode(n)
		p.intended.SetNode(n)
	}
	if s.Rules != nil {
		if err := c.CheckRules(*s.Rules); err != nil {
			return err
		}
		p.rules = slices.DeleteFunc(p.rules, func(r ruling.Rules) bool { return r.VJob == 0 && r.Text == c.rules.Text })
		if *s.Rules != "" {
			p.rules = append(p.rules, ruling.Rules{Text: *s.Rules})
		}
	}
	if s.Budget != nil {
		if len(c.settings.Energy.Power) == 0 {
			return cluster.BadField("budget_watts", s.Budget.String(), "power models in the settings of the daemon (energy.models)")
		}
		p.suppose(*s.Budget)
	}
	for _, id := range s.Delete {
		if err := p.remove(id); err != nil {
			return err
		}
	}
	if s.Submit == nil {
		return nil
	}
	nodes := make([]NodeStatus, 0)
	for _, n := range p.current.Nodes() {
		nodes = append(nodes, NodeStatus{Node: n})
	}
	if err := s.Submit.Validate(b, nodes); err != nil {
		return err
	}
	if err := s.Submit.Route(c.settings.Arrangement); err != nil {
		return err
	}
	if !s.Submit.Reservation.IsZero() {
		if err := c.confirm(c.now, s.Submit); err != nil {
			return err
		}
	}
	c.add(p, s.Submit)
	return nil
}

// remove takes a vjob out of the picture, with its room.
func (p *picture) remove(id cluster.VJobID) error {
	i := slices.IndexFunc(p.reports, func(r execute.Report) bool { return r.Job.ID == id })
	if i < 0 {
		return fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	for _, vm := range p.reports[i].Job.VMs {
		p.current.Remove(vm.ID)
		p.intended.Remove(vm.ID)
	}
	p.rules = slices.DeleteFunc(p.rules, func(r ruling.Rules) bool { return r.VJob == id })
	p.line = slices.DeleteFunc(p.line, func(a ctxswitch.Applicant) bool { return a.VJob == id })
	p.reports = slices.Delete(p.reports, i, i+1)
	return nil
}

// add puts a vjob that nobody has submitted into the picture, in its place in the
// order.
func (c *Core) add(p *picture, s *Submission) {
	last := cluster.VJobID(0)
	for i := range p.reports {
		last = max(last, p.reports[i].Job.ID)
	}
	job := s.VJob(last + 1)
	job.Submitted = c.now
	a := applicant(job, func(vm cluster.VMID) cluster.Resources { return c.needs(job, vm.Rank, 0, false) })
	a.Rules = job.Rules
	own := c.desk.Suppose(job, c.now)
	at, _ := slices.BinarySearchFunc(p.reports, &own, func(r execute.Report, own *rank.Rank) int {
		other, _ := c.desk.Rank(r.Job.ID, c.now) // all are there
		return other.Compare(own)
	})
	p.reports = slices.Insert(p.reports, at, execute.Report{
		Job: job, Idle: true, Bound: cluster.VMWaiting, Record: &gang.Record{VJob: job.ID},
	})
	place := 0 // in the line: behind those that come before it
	for i, k := range p.lined {
		if i < at && k >= 0 {
			place = k + 1
		}
	}
	p.line = slices.Insert(p.line, place, a)
	p.supposed = job.ID
}

// compare decides on both pictures.
func (s *Settings) compare(present, then *picture) Forecast {
	before, _, fails := s.decideWithout(present)
	after, _, wouldFail := s.decideWithout(then)
	if err := cmp.Or(fails, wouldFail); err != nil {
		return Forecast{Why: err.Error()}
	}
	f := Forecast{Plan: after.plan, Why: after.why, Breaches: after.breaches}
	now := map[cluster.VJobID]queue.Verdict{}
	for i, r := range present.reports {
		now[r.Job.ID] = before.verdicts[i]
	}
	for i, r := range then.reports {
		lot := Lot{VJob: r.Job, Now: now[r.Job.ID], Then: after.verdicts[i], Supposed: r.Job.ID == then.supposed}
		if lot.Supposed || lot.Now.Wish != lot.Then.Wish {
			f.VJobs = append(f.VJobs, lot)
		}
	}
	for _, n := range then.current.Nodes() {
		if n.Hosts() {
			f.Nodes++
		}
	}
	return f
}
