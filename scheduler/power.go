package scheduler

import (
	"fmt"
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

// Power is the part of the core that concerns electric power: which nodes are on, how much the
// cluster may draw, and what energy costs.
type Power struct {
	settings *Settings
	exec     *execute.Executor
	retry    func(time.Time)
	out      *journal.Step

	controller *nodepower.Controller // power states of nodes
	cap        *powercap.Cap         // power limits
	policy     *nodepower.Policy     // which nodes should be on; nil: only users switch them
	prices     statedPrices
	proposed   []recommendation.Proposal    // to switch nodes, since the last step
	ignored    map[journal.AlarmKind]string // statements of the journal that do not hold, and why
}

// newPower restores node power, budgets and prices from the journal.
func newPower(s *Settings, loaded *journal.Loaded, exec *execute.Executor, past *dpm.History, retry func(time.Time), out *journal.Step, now time.Time) *Power {
	p := &Power{settings: s, exec: exec, retry: retry, out: out, ignored: map[journal.AlarmKind]string{}}
	models := s.Energy.Power
	exec.Power = models
	p.controller = nodepower.NewController(&s.Switching, models, loaded.Power, exec.PowerStates, out, now)
	var err error
	p.cap, err = powercap.New(powercap.Settings{Budgets: s.Budgets, Zone: s.zone(), Models: models}, loaded.Budgets, exec, p.controller, out, now)
	if err != nil {
		p.alarm(now, journal.AlarmBudgets, "the power budgets that were stated do not hold: "+err.Error())
	}
	if len(models) > 0 {
		exec.Admits = p.cap.Admits
	}
	if s.NodePower != nil {
		parts := nodepower.Parts{
			Exec: exec, Controller: p.controller, Power: p.cap, Models: models, Margin: s.Reservations.Margin, Seed: s.Seed, Past: past,
		}
		if s.Improve.Automation.Manual[journal.RecommendPower] {
			parts.Propose = p.propose
		}
		p.policy = nodepower.NewPolicy(s.NodePower, parts)
	}
	if p.prices, err = restorePrices(loaded.Prices); err != nil {
		p.alarm(now, journal.AlarmPrices, "the prices of energy that were stated do not count: "+err.Error())
	}
	return p
}

// alarm raises an alarm that lasts until the statements are replaced.
func (p *Power) alarm(now time.Time, kind journal.AlarmKind, text string) {
	p.ignored[kind] = text
	p.out.Events = append(p.out.Events, journal.Event{At: now, Kind: journal.EventAlarm, Text: text})
}

func (s *Settings) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// wake returns when node power wants another step; zero if never.
func (p *Power) wake() (switching, review time.Time) {
	if p.policy != nil {
		review = p.policy.Next()
	}
	return p.controller.Wake(), review
}

// stateOf returns the state in which a node counts for placing VMs.
func (p *Power) stateOf(n *execute.NodeReport) cluster.NodeState {
	state := p.controller.State(n.ID, n.State)
	if n.Silent && state == cluster.Online {
		state = cluster.Draining
	}
	return state
}

// propose asks for approval to switch a node.
func (p *Power) propose(id cluster.NodeID, want cycle.Want, why string) {
	r := journal.Recommendation{Kind: journal.RecommendPower, Reason: why}
	if want == cycle.WantOn {
		r.On = []cluster.NodeID{id}
	} else {
		r.Off = []cluster.NodeID{id}
	}
	p.proposed = append(p.proposed, recommendation.Proposal{Recommendation: r})
}

// wanted returns the nodes that should come on; a decision keeps power for them.
func (p *Power) wanted() (list []decide.Wanted) {
	for _, id := range p.controller.Awaited() {
		list = append(list, decide.Wanted{Node: id, Watts: p.controller.Booting(id)})
	}
	return list
}

// standby returns the nodes that are off and can be switched on.
func (p *Power) standby() (list []cluster.NodeID) {
	for _, id := range p.exec.Names() {
		if own := p.controller.Switch(id); own != nil && own.Phase == cycle.Off {
			list = append(list, id)
		}
	}
	return list
}

// step advances every node that is going off or on as far as possible.
func (p *Power) step(now time.Time) {
	if p.exec.AllSeen() && p.controller.Step(now, p.cap.Affords) {
		p.retry(now)
	}
}

// tend runs the node power policy. It returns which nodes to switch after approval.
func (p *Power) tend(s *nodepower.Scene) (proposed []recommendation.Proposal) {
	p.retry(p.policy.Tend(s))
	proposed, p.proposed = p.proposed, nil
	return proposed
}

// Set switches a node off or on for a user. Off waits until the node is empty, however long that takes.
func (p *Power) Set(now time.Time, id cluster.NodeID, want cycle.Want, by string) error {
	n, known := p.exec.Node(id)
	if !known {
		return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
	}
	return p.controller.Order(now, &n.Node, n.Silent, want, by)
}

// Replied takes the reply of a power driver.
func (p *Power) Replied(now time.Time, ask power.Request, state power.State, err error) {
	p.controller.Answered(now, ask, state, err)
}

// SetBudgets replaces the budgets stated through the API. On an error, a *cluster.FieldError,
// nothing changes.
func (p *Power) SetBudgets(now time.Time, lines []budget.Budget, by string) error {
	changed, err := p.cap.State(now, lines, by)
	if err == nil {
		delete(p.ignored, journal.AlarmBudgets)
	}
	if changed {
		p.retry(now)
	}
	return err
}

// CheckBudgets returns what is wrong with budgets.
func (p *Power) CheckBudgets(lines []budget.Budget) error { return p.cap.Check(lines) }
