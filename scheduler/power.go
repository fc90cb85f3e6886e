package scheduler

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/energy/budget"
	"vjob/energy/dpm"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/powercap"
	"vjob/scheduler/recommendation"
)

// powerControl is the part of the core that concerns electric power: which nodes are on, how much the
// cluster may draw, what energy costs, and where VMs would draw less.
type powerControl struct {
	settings *Settings
	exec     *execute.Executor
	out      *journal.Step

	controller    *nodepower.Controller // power states of nodes
	cap           *powercap.Cap         // power limits
	policy        *nodepower.Policy     // which nodes should be on; nil: only users switch them
	prices        statedPrices
	consolidation consolidation
	moved         moves
	proposed      []recommendation.Proposal // to switch nodes, since the last step
}

// newPowerControl restores node power, budgets and prices from the journal.
func newPowerControl(s *Settings, loaded *journal.Loaded, exec *execute.Executor, past *dpm.History, out *journal.Step, now time.Time) *powerControl {
	p := &powerControl{settings: s, exec: exec, out: out, moved: newMoves(s)}
	models := s.Energy.Power
	exec.Power = models
	p.controller = nodepower.NewController(&s.Switching, models, loaded.Power, exec.PowerStates, out, now)
	var err error
	p.cap, err = powercap.New(powercap.Settings{Budgets: s.Budgets, Zone: s.zone(), Models: models}, loaded.Budgets, exec, p.controller, out, now)
	if err != nil {
		p.alarm(now, "the power budgets that were stated do not hold: "+err.Error())
	}
	if len(models) > 0 {
		exec.Admits = p.cap.Admits
	}
	if s.NodePower != nil {
		parts := nodepower.Parts{
			Exec: exec, Controller: p.controller, Power: p.cap, Models: models, Margin: s.Reservations.Margin, Seed: s.Seed, Past: past,
		}
		if s.Automation.Manual[journal.RecommendPower] {
			parts.Propose = p.propose
		}
		p.policy = nodepower.NewPolicy(s.NodePower, parts)
	}
	if p.prices, err = restorePrices(loaded.Prices); err != nil {
		p.alarm(now, "the prices of energy that were stated do not count: "+err.Error())
	}
	return p
}

func (p *powerControl) alarm(now time.Time, text string) {
	p.out.Events = append(p.out.Events, journal.Event{At: now, Kind: journal.EventAlarm, Text: text})
}

func (s *Settings) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// wake returns when node power wants another step; zero if never.
func (p *powerControl) wake() (switching, review time.Time) {
	if p.policy != nil {
		review = p.policy.Next()
	}
	return p.controller.Wake(), review
}

// stateOf returns the state in which a node counts for placing VMs.
func (p *powerControl) stateOf(n *execute.NodeReport) cluster.NodeState {
	state := p.controller.State(n.ID, n.State)
	if n.Silent && state == cluster.Online {
		state = cluster.Draining
	}
	return state
}

// propose asks for approval to switch a node.
func (p *powerControl) propose(id cluster.NodeID, want cycle.Want, why string) {
	r := journal.Recommendation{Kind: journal.RecommendPower, Reason: why}
	if want == cycle.WantOn {
		r.On = []cluster.NodeID{id}
	} else {
		r.Off = []cluster.NodeID{id}
	}
	p.proposed = append(p.proposed, recommendation.Proposal{Recommendation: r})
}

// handOver lets power management switch off the nodes that become empty.
func (p *powerControl) handOver(now time.Time, nodes []cluster.NodeID) {
	if p.policy != nil && len(nodes) > 0 {
		p.policy.Hand(now, nodes)
	}
}

// wanted returns the nodes that should come on; a decision keeps power for them.
func (p *powerControl) wanted() (list []decide.Wanted) {
	for _, id := range p.controller.Awaited() {
		list = append(list, decide.Wanted{Node: id, Watts: p.controller.Booting(id)})
	}
	return list
}

// switchNodes advances every node that is going off or on as far as possible.
func (c *Core) switchNodes() {
	if c.exec.AllSeen() && c.power.controller.Step(c.now, c.power.cap.Affords) {
		c.next.retry(c.now)
	}
}

// runNodePower runs the node power policy once a decision has been taken.
func (c *Core) runNodePower(decided bool) {
	if c.power.policy == nil || !c.exec.AllSeen() || !c.next.begun() {
		return
	}
	c.next.retry(c.power.policy.Tend(&nodepower.Scene{Now: c.now, Decided: decided, Waiting: c.last.queueing, View: c.vary}))
	if c.settings.Automation.Manual[journal.RecommendPower] {
		c.recommendPower()
	}
}

// recommendPower asks for approval to switch nodes, and closes what has become superfluous.
func (c *Core) recommendPower() {
	p := c.power
	c.book.Add(c.now, journal.RecommendPower, p.proposed)
	p.proposed = nil
	c.book.Supersede(c.now, "the node shall be so already", func(r *journal.Recommendation) bool {
		done := func(want cycle.Want) func(cluster.NodeID) bool {
			return func(id cluster.NodeID) bool { return p.policy.Wanted(id, want) }
		}
		return r.Kind == journal.RecommendPower && (slices.ContainsFunc(r.On, done(cycle.WantOn)) || slices.ContainsFunc(r.Off, done(cycle.WantOff)))
	})
}

// SetPower switches a node off or on for a user. Off waits until the node is empty, however long
// that takes.
func (c *Core) SetPower(now time.Time, id cluster.NodeID, want cycle.Want, by string) error {
	c.now = now
	n, known := c.exec.Node(id)
	if !known {
		return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
	}
	return c.power.controller.Order(now, &n.Node, n.Silent, want, by)
}

// PowerReplied takes the reply of a power driver.
func (c *Core) PowerReplied(now time.Time, ask power.Request, state power.State, err error) {
	c.now = now
	c.power.controller.Answered(now, ask, state, err)
}

// SetBudgets replaces the budgets stated through the API. On an error, a *cluster.FieldError,
// nothing changes.
func (c *Core) SetBudgets(now time.Time, lines []budget.Budget, by string) error {
	c.now = now
	changed, err := c.power.cap.State(now, lines, by)
	if changed {
		c.next.retry(now)
	}
	return err
}

// CheckBudgets returns what is wrong with budgets.
func (c *Core) CheckBudgets(lines []budget.Budget) error { return c.power.cap.Check(lines) }
