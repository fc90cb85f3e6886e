package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/energy/budget"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
	"vjob/scheduler/decide"
	"vjob/scheduler/nodepower"
	"vjob/scheduler/powercap"
)

// restorePower restores node power and budgets from the journal.
func (c *Core) restorePower(loaded *journal.Loaded) {
	s, models := &c.settings, c.settings.Energy.Power
	c.exec.Power = models
	c.controller = nodepower.NewController(&s.Switching, models, loaded.Power, c.exec, &c.out, c.now)
	var err error
	c.powerCap, err = powercap.New(powercap.Settings{Budgets: s.Budgets, Zone: s.zone(), Models: models}, loaded.Budgets, c.exec, c.controller, &c.out, c.now)
	if err != nil {
		c.alarm(0, "the power budgets that were stated do not hold: "+err.Error())
	}
	if len(models) > 0 {
		c.exec.Admits = c.powerCap.Admits
	}
	if s.NodePower != nil {
		c.nodePower = nodepower.NewPolicy(s.NodePower, nodepower.Parts{
			Exec: c.exec, Controller: c.controller, Power: c.powerCap, Models: models, Margin: s.Reservations.Margin, Seed: s.Seed,
		})
	}
}

func (s *Settings) zone() *time.Location {
	if s.Zone == nil {
		return time.UTC
	}
	return s.Zone
}

// switchNodes advances every node that is going off or on as far as possible.
func (c *Core) switchNodes() {
	if c.exec.AllSeen() && c.controller.Step(c.now, c.powerCap.Affords) {
		c.next.retry(c.now)
	}
}

// runNodePower runs the node power policy once a decision has been taken.
func (c *Core) runNodePower(decided bool) {
	if c.nodePower == nil || !c.exec.AllSeen() || !c.next.begun() {
		return
	}
	c.next.retry(c.nodePower.Tend(&nodepower.Scene{Now: c.now, Decided: decided, Waiting: c.last.queueing, View: c.vary}))
}

// stateOf returns the state in which a node counts for placing VMs.
func (c *Core) stateOf(n *execute.NodeReport) cluster.NodeState {
	state := c.controller.State(n.ID, n.State)
	if n.Silent && state == cluster.Online {
		state = cluster.Draining
	}
	return state
}

// wanted returns the nodes that should come on; a decision keeps power for them.
func (c *Core) wanted() (list []decide.Wanted) {
	for _, id := range c.controller.Awaited() {
		list = append(list, decide.Wanted{Node: id, Watts: c.controller.Booting(id)})
	}
	return list
}

// SetPower switches a node off or on for a user. Off waits until the node is empty, however long
// that takes.
func (c *Core) SetPower(now time.Time, id cluster.NodeID, want cycle.Want, by string) error {
	c.now = now
	n, known := c.exec.Node(id)
	if !known {
		return fmt.Errorf("node %s: %w", id, cluster.ErrNotFound)
	}
	return c.controller.Order(now, &n.Node, n.Silent, want, by)
}

// PowerReplied takes the reply of a power driver.
func (c *Core) PowerReplied(now time.Time, ask power.Request, state power.State, err error) {
	c.now = now
	c.controller.Answered(now, ask, state, err)
}

// SetBudgets replaces the budgets stated through the API. On an error, a *cluster.FieldError,
// nothing changes.
func (c *Core) SetBudgets(now time.Time, lines []budget.Budget, by string) error {
	c.now = now
	changed, err := c.powerCap.State(now, lines, by)
	if changed {
		c.next.retry(now)
	}
	return err
}

// CheckBudgets returns what is wrong with budgets.
func (c *Core) CheckBudgets(lines []budget.Budget) error { return c.powerCap.Check(lines) }
