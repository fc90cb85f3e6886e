package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/energy/budget"
	"vjob/queue"
	"vjob/queue/quota"
	"vjob/queue/reservation"
	"vjob/ruling"
)

// decide takes one decision: the policy says which vjobs should run, the planner
// says how to get there, and the executor begins to.
func (c *Core) decide() {
	c.settleKin()
	c.respite, c.judged = c.settings.Rest, true
	c.decided, c.decidedAt, c.retryAt = c.exec.Changes(), c.now, time.Time{}
	p := c.picture()
	c.desk.Decided(c.now)
	d, found, err := c.settings.decideWithout(p)
	c.judge(p, found)
	if err != nil {
		c.despair(err)
	} else {
		c.missed = exile{}
	}
	if d.verdicts == nil {
		return // those of the last decision are as good as any
	}
	c.reshape(p, &d.plan)
	c.ration(p, d.caps)
	c.adopt(d.plan)
	c.breaches = slices.Concat(p.unread, d.breaches)
	c.remember(p, d.verdicts)
	c.tellLate(p, d.verdicts)
	for _, v := range d.verdicts {
		if !v.Again.IsZero() {
			c.retry(v.Again)
		}
	}
}

// decision is what is wanted of each vjob of a picture, and how to get there.
type decision struct {
	verdicts []queue.Verdict
	plan     ctxswitch.Plan
	why      string                                // why there is no plan; "" if there is one, or none is needed
	breaches []string                              // of rules, as things stand
	caps     map[cluster.VJobID][]cluster.MilliCPU // of their members; see [Settings.allot]
	fault    error                                 // an error that is no verdict; nil: the decision is sound
}

// decide is the decision on a picture. It changes nothing.
func (s *Settings) decide(p *picture) (d decision) {
	wished, fault := s.consultWithin(p)
	p.admit(wished)
	d.fault, d.verdicts = fault, s.stand(p, wished)
	for range maxRefusals {
		goals, change := p.goals(d.verdicts)
		problem := p.problem(s, goals)
		d.breaches, d.why = ctxswitch.Breaches(problem), ""
		if !change && len(d.breaches) == 0 && settled(problem) && !p.thorough {
			break
		}
		plan, err := s.Planner.Plan(problem)
		if err == nil && s.overdrawn(p, wished, plan.Target) {
			d.verdicts = s.stand(p, wished)
			continue
		}
		if err == nil {
			d.plan = plan
			break
		}
		d.why = err.Error()
		no, ok := asNoPlan(err)
		if !ok {
			d.fault = err
			break
		}
		if d.plan, ok = s.clearing(p, d.verdicts, no); ok {
			d.why = ""
			break
		}
		if !giveUp(p, wished, no) {
			break
		}
		d.verdicts = s.stand(p, wished)
	}
	d.caps = s.allot(p, d.verdicts, d.plan.Target)
	return d
}

// maxRefusals bounds how many vjobs one decision leaves out because the planner
// finds no place for them although the policy thought there was one.
const maxRefusals = 16

// adopt writes a plan down and begins it.
func (c *Core) adopt(plan ctxswitch.Plan) {
	if plan.Empty() {
		return
	}
	c.exec.Adopt(c.now, c.nextPlan, c.settings.Policy.Name(), plan)
	c.nextPlan++
	c.decided = c.exec.Changes()
}

// picture is the cluster as one decision sees it.
type picture struct {
	reports []execute.Report // in the order of the desk
	past    *quota.Ledger    // what quotas count that was used before
	current *cluster.Configuration
	// intended is what the cluster is on its way to: what is under way has arrived
	// there. The policy chooses by it; the planner goes by current.
	intended *cluster.Configuration
	line     []ctxswitch.Applicant // those that are nowhere and could be somewhere, in priority order
	rules    []ruling.Rules        // but those of vjobs in the line
	unread   []string              // what is wrong with rules that nobody understands any more
	avoid    map[cluster.VMID][]cluster.NodeID
	pinned   map[cluster.VMID]bool
	claims   map[cluster.NodeID]cluster.Resources
	live     map[cluster.VMID]bool
	barred   map[cluster.VJobID]string // not to be started now, and why
	limits   []budget.Limit            // of power
	off      map[cluster.NodeID]bool   // nodes that draw no power for being on
	stopped  map[cluster.VJobID]bool   // for the limits
	seed     uint64
	now      time.Time
	supposed cluster.VJobID            // a vjob that nobody has submitted; 0: there is none
	aside    map[cluster.VJobID]string // no decision can be taken with them, and why
	confined map[cluster.VMID]bool     // those of them that run
	molded   map[cluster.VJobID]int    // the shapes that moldable vjobs have here
	thorough bool                      // the planner is asked even if nothing is to change
}

// picture collects what is known. Silent nodes take nothing and give nothing
// back; vjobs under way count on every node that they were promised.
func (c *Core) picture() *picture {
	p := &picture{
		reports: c.arrange(c.exec.Jobs()), past: c.desk.Ledger(),
		current: cluster.NewConfiguration(), intended: cluster.NewConfiguration(), avoid: map[cluster.VMID][]cluster.NodeID{},
		pinned: map[cluster.VMID]bool{}, claims: map[cluster.NodeID]cluster.Resources{},
		live: map[cluster.VMID]bool{}, barred: map[cluster.VJobID]string{}, seed: c.settings.Seed, now: c.now,
		aside: map[cluster.VJobID]string{}, confined: map[cluster.VMID]bool{}, molded: map[cluster.VJobID]int{},
		off: map[cluster.NodeID]bool{},
	}
	for _, n := range c.exec.Nodes() {
		node := n.Node
		p.off[n.ID] = !n.On
		node.State = c.standing(&n)
		p.current.SetNode(node)
		p.intended.SetNode(node)
		if c.settings.Live {
			for vm := range n.Locked {
				p.live[vm] = true
			}
		}
	}
	nodes := p.current.Nodes()
	p.rules, p.unread = c.ofCluster(nodes)
	c.mold(p)
	for i := range p.reports {
		c.place(p, &p.reports[i])
		c.state(p, &p.reports[i], nodes)
	}
	c.exiles(p)
	c.foresee(p)
	p.limitArrays()
	return p
}

// state puts the rules of a vjob into the picture. A vjob with rules that cannot be
// understood any more goes on without them if it runs, and else does not start.
func (c *Core) state(p *picture, r *execute.Report, nodes []cluster.Node) {
	if r.Job.Rules == "" {
		return
	}
	rules := ruling.Rules{VJob: r.Job.ID, Text: r.Job.Rules}
	if err := c.understood(rules, nodes); err != nil {
		p.barred[r.Job.ID] = err.Error()
		return
	}
	if last := len(p.line) - 1; last >= 0 && p.line[last].VJob == r.Job.ID {
		p.line[last].Rules = r.Job.Rules
		return
	}
	p.rules = append(p.rules, rules)
}

// place puts one vjob into the picture.
func (c *Core) place(p *picture, r *execute.Report) {
	if until := r.Failed.Add(c.backoff(r.Failures)); r.Failures > 0 && c.now.Before(until) {
		p.barred[r.Job.ID] = fmt.Sprintf("tried %d times, next try in %s: %s",
			r.Failures, until.Sub(c.now).Round(time.Second), r.Why)
		c.retry(until)
	}
	if r.Missing != "" {
		p.barred[r.Job.ID] = r.Missing
	}
	if why := c.kin.waits[r.Job.ID]; why != "" {
		p.barred[r.Job.ID] = why
	}
	if until := r.Failed.Add(shunFor); len(r.Shunned) > 0 && c.now.Before(until) {
		maps.Copy(p.avoid, r.Shunned)
		c.retry(until)
	}
	if applies(r) {
		need := c.exec.Need
		if _, molded := p.molded[r.Job.ID]; molded {
			need = func(vm cluster.VMID) cluster.Resources { return c.needs(r.Job, vm.Rank, 0, false) }
		}
		p.line = append(p.line, applicant(r.Job, need))
		return
	}
	fixed, arrives := !r.Idle || r.Blind, r.Bound == cluster.VMRunning
	for rank, m := range r.Record.Members {
		vm := r.Job.VMs[rank].ID
		need := c.exec.Need(vm)
		if fixed && !arrives && c.settings.Policy.Needs() != queue.Reserved {
			// It stands still or is about to: it gives its CPU up now and its memory
			// when it is gone. Otherwise others would be parked to make the same room.
			need.CPU = 0
		}
		switch {
		case m.Ended:
		case fixed && !arrives: // it is on its way out: room that it still has, and no more
			p.claim(need, c.exec.Holds(vm))
			if _, known := p.intended.Node(m.Node); known && r.Bound == cluster.VMPaused {
				p.intended.SetPaused(vm, need, m.Node)
			}
		case fixed:
			p.pin(vm, need, c.exec.Destination(vm), c.exec.Holds(vm))
			if at, ok := p.current.Host(vm); ok {
				p.intended.SetRunning(vm, need, at)
			}
		case r.Job.State == cluster.Running:
			p.current.SetRunning(vm, need, m.Node)
			p.intended.SetRunning(vm, need, m.Node)
		case r.Job.State == cluster.Paused:
			p.current.SetPaused(vm, need, m.Node)
			p.intended.SetPaused(vm, need, m.Node)
		case m.Image != nil:
			p.current.SetSleeping(vm, need, m.Image.Node)
			p.intended.SetSleeping(vm, need, m.Image.Node)
		default:
			p.current.SetWaiting(vm, need)
			p.intended.SetWaiting(vm, need)
		}
	}
}

// shunFor is how long after its last failed attempt a vjob stays away from the
// nodes on which it failed.
const shunFor = 10 * time.Minute

// retry asks for a decision at an instant.
func (c *Core) retry(at time.Time) {
	if c.retryAt.IsZero() || at.Before(c.retryAt) {
		c.retryAt = at
	}
}

// consult asks the policy, in the order of the picture. The error is a room that can
// judge nobody.
func (s *Settings) consult(p *picture) (verdicts []queue.Verdict, fault error) {
	counts := needs(p.intended)
	line := ctxswitch.NewLine(p.line)
	var rooms []*ctxswitch.Packing
	m := &queue.Moment{Now: p.now, Jobs: make([]queue.Job, 0, len(p.reports)), Room: func() queue.Room {
		rooms = append(rooms, ctxswitch.NewPacking(ctxswitch.Stock{
			Current: p.intended, Line: line, Rules: p.rules, Avoid: p.avoid, Pinned: p.confined, Needs: counts,
		}))
		return rooms[len(rooms)-1]
	}}
	verdicts, whose := make([]queue.Verdict, len(p.reports)), make([]int, 0, len(p.reports))
	for i, at := range p.lined {
		r := &p.reports[i]
		if p.aside[r.Job.ID] != "" {
			verdicts[i] = p.ofExile(r)
			continue
		}
		m.Jobs, whose = append(m.Jobs, p.job(i, at, counts)), append(whose, i)
	}
	for _, n := range p.intended.Nodes() {
		if n.Hosts() {
			m.Total = m.Total.Plus(n.Capacity)
		}
	}
	s.impose(m, p)
	for k, v := range reservation.Select(queue.Yielding{Policy: s.Policy}, m, s.leads(p)) {
		verdicts[whose[k]] = v
	}
	for _, room := range rooms {
		fault = cmp.Or(fault, room.Fault())
	}
	return verdicts, fault
}

// needs is what every VM of a configuration counts for.
func needs(c *cluster.Configuration) map[cluster.VMID]cluster.Resources {
	vms := c.VMs()
	needs := make(map[cluster.VMID]cluster.Resources, len(vms))
	for _, vm := range vms {
		needs[vm] = c.Need(vm)
	}
	return needs
}

func bound(r *execute.Report) queue.Wish {
	switch r.Bound {
	case cluster.VMRunning:
		return queue.Run
	case cluster.VMSleeping:
		return queue.Park
	case cluster.VMPaused:
		return queue.Pause
	default:
		return queue.Stay
	}
}

// settled reports whether the configuration needs no repair, rules aside: it is
// viable, and nothing has to leave a draining node.
func settled(p ctxswitch.Problem) bool {
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

func (p *picture) problem(s *Settings, goals []ctxswitch.Goal) ctxswitch.Problem {
	return ctxswitch.Problem{
		Current: p.current, Rules: p.rules, Avoid: p.avoid, Gangs: goals, Claims: p.claims, Pinned: p.pinned,
		Live: p.live, Costs: s.Execute.Costs, Network: s.Network, Seed: p.seed,
	}
}

// giveUp takes the wish back for a vjob that the planner cannot place: one that
// was to start stays ready; if it stands still in memory, it is saved, to be resumed
// elsewhere. It reports false when there is nothing to take back.
func giveUp(p *picture, verdicts []queue.Verdict, no *ctxswitch.NoPlan) bool {
	last := -1
	for i, r := range p.reports {
		starts := r.Idle && !r.Blind && r.Job.State.Ready() && verdicts[i].Wish == queue.Run
		if !starts {
			continue
		}
		last = i
		if r.Job.ID == no.VJob {
			break
		}
	}
	if last < 0 {
		return false
	}
	verdicts[last] = queue.Verdict{Wish: queue.Stay, Reason: "waits: " + no.Reason}
	if p.reports[last].Job.State == cluster.Paused {
		verdicts[last].Wish = queue.Park
	}
	return true
}

// remember keeps the verdicts for those who ask why.
func (c *Core) remember(p *picture, verdicts []queue.Verdict) {
	clear(c.verdicts)
	c.queueing = c.queueing[:0]
	for i, r := range p.reports {
		c.verdicts[r.Job.ID] = verdicts[i]
		if r.Job.State.Ready() && verdicts[i].Wish == queue.Stay && !r.Job.Held && !r.Job.Reservation.After(c.now) {
			c.queueing = append(c.queueing, r.Job.ID)
		}
	}
}
