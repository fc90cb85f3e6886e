package scheduler

import (
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
	"vjob/ruling"
)

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
	p.spare()
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

// pin counts a member that must not be touched: where it will be, and as a claim on
// every other node that it may need until then.
func (p *picture) pin(vm cluster.VMID, need cluster.Resources, at cluster.NodeID, holds []cluster.NodeID) {
	p.pinned[vm] = true
	if _, known := p.current.Node(at); !known && len(holds) > 0 {
		at = holds[len(holds)-1]
	}
	if _, known := p.current.Node(at); known {
		p.current.SetRunning(vm, need, at)
	}
	p.claim(need, slices.DeleteFunc(holds, func(n cluster.NodeID) bool { return n == at }))
}

// claim counts room that is spoken for on nodes.
func (p *picture) claim(need cluster.Resources, nodes []cluster.NodeID) {
	for _, n := range nodes {
		p.claims[n] = p.claims[n].Plus(need)
	}
}
