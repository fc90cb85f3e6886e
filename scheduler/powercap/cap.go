// Package powercap keeps the power of the nodes within the budgets between two decisions. [Cap] holds
// the budgets of the settings and those stated through the API, and answers whether VMs may use
// more, and nodes come on, under the limits of the last decision (energy paper, bounded power).
// Package decide shares the power among vjobs.
package powercap

import (
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/scheduler/decide"
)

// Settings are the configured budgets and the power models of nodes.
type Settings struct {
	Budgets *budget.Schedule
	Zone    *time.Location // in which the windows of budgets are read
	Models  map[cluster.NodeID]energy.Power
}

// Executor observes nodes. Package execute implements it.
type Executor interface {
	Names() []cluster.NodeID
	Node(id cluster.NodeID) (execute.NodeReport, bool)
	// MaxPower returns the most that a node may draw while its VMs use so much more than they may.
	MaxPower(id cluster.NodeID, more cluster.MilliCPU) energy.Watts
}

// Controller observes nodes that are being switched. Package nodepower implements it.
type Controller interface {
	// Least returns what a node draws at least while it is being switched.
	Least(id cluster.NodeID) energy.Watts
	// Booting returns what a node draws while it comes on and after that.
	Booting(id cluster.NodeID) energy.Watts
}

// Cap holds the budgets. It belongs to the core of the loop.
type Cap struct {
	settings   Settings
	exec       Executor
	controller Controller
	out        *journal.Step // where what is stated is written

	stated journal.Budgets  // through the API, beside those of the settings
	book   *budget.Schedule // the same, read
	groups map[budget.Group][]cluster.NodeID

	limits  []budget.Limit                  // that are kept, as of the last decision
	changes []decide.LimitChange            // that are to come
	kept    map[cluster.NodeID]energy.Watts // for nodes that shall come on, as of the last decision
}

// New restores the budgets of the journal. If they no longer parse it returns an error and a cap
// without them.
func New(s Settings, stated journal.Budgets, exec Executor, controller Controller, out *journal.Step, now time.Time) (*Cap, error) {
	g := &Cap{settings: s, exec: exec, controller: controller, out: out, stated: stated, groups: map[budget.Group][]cluster.NodeID{}}
	lines, err := budget.Parse(stated.Text)
	if err == nil {
		g.book, err = budget.New(s.Zone, lines)
	}
	g.limits = g.Books().At(now)
	return g, err
}

// Books returns the budgets that hold side by side.
func (g *Cap) Books() budget.Schedules { return budget.Schedules{g.settings.Budgets, g.book} }

// Adopt takes over the limits of a decision.
func (g *Cap) Adopt(l *decide.PowerLimits) { g.limits, g.changes, g.kept = l.Now, l.Changes, l.Kept }

// Limited reports whether any limit holds.
func (g *Cap) Limited() bool { return len(g.limits) > 0 }

// Admits reports whether VMs may use so much more without a limit being exceeded.
func (g *Cap) Admits(more map[cluster.NodeID]cluster.MilliCPU) bool {
	for _, l := range g.limits {
		before, after := energy.Watts(0), energy.Watts(0)
		for _, id := range g.members(l.Group) {
			now := g.most(id, 0)
			before += now
			if extra := more[id]; extra != 0 {
				now = g.most(id, extra)
			}
			after += now
		}
		if after > l.Watts && after > before {
			return false
		}
	}
	return true
}

// Affords reports whether the limits leave the power for switching a node on.
func (g *Cap) Affords(id cluster.NodeID) bool {
	if _, known := g.settings.Models[id]; !known {
		return true
	}
	n, _ := g.exec.Node(id)
	for _, l := range g.limits {
		sum := max(g.controller.Booting(id), g.most(id, 0))
		for _, other := range g.members(l.Group) {
			if other != id {
				sum += g.most(other, 0)
			}
		}
		if l.Group.Has(n.Labels) && sum > l.Watts {
			return false
		}
	}
	return true
}

// most returns the most that a node may draw while its VMs use so much more than they may. A node
// that is being switched draws the average of that, and power is kept for one that should come on.
func (g *Cap) most(id cluster.NodeID, more cluster.MilliCPU) energy.Watts {
	return max(g.exec.MaxPower(id, more), g.controller.Least(id), g.kept[id])
}

// members returns the nodes of a group with a power model.
func (g *Cap) members(group budget.Group) []cluster.NodeID {
	list, known := g.groups[group]
	if known {
		return list
	}
	for _, id := range g.exec.Names() {
		n, _ := g.exec.Node(id)
		if _, modelled := g.settings.Models[id]; modelled && group.Has(n.Labels) {
			list = append(list, id)
		}
	}
	g.groups[group] = list
	return list
}
