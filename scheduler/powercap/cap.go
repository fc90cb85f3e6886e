// Package powercap keeps what the nodes draw within the power budgets between two
// decisions. Its guard holds the budgets, those of the settings and those that are stated
// through the API, and answers whether VMs may use more, and nodes come on, under the
// limits of the last decision (energy paper, bounded power).
//
// It refuses to know who runs, and how a decision shares the power out: package decide does.
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

// Settings are the budgets of the settings, and what is known of nodes.
type Settings struct {
	Budgets *budget.Book
	Zone    *time.Location // in which the windows of budgets are read
	Models  map[cluster.NodeID]energy.Power
}

// Executor tells of nodes. Package execute implements it.
type Executor interface {
	Names() []cluster.NodeID
	Node(id cluster.NodeID) (execute.NodeReport, bool)
	// Ceiling is what a node may draw at most while its VMs use so much more than they may.
	Ceiling(id cluster.NodeID, more cluster.MilliCPU) energy.Watts
}

// Controller tells of nodes that are being switched. Package nodepower implements it.
type Controller interface {
	// Least is what a node draws at least since it is being switched.
	Least(id cluster.NodeID) energy.Watts
	// Booting is what a node draws while it comes on, and once it has.
	Booting(id cluster.NodeID) energy.Watts
}

// Cap holds the budgets. It belongs to the core of the loop.
type Cap struct {
	settings   Settings
	exec       Executor
	controller Controller
	out        *journal.Step // where what is stated is written

	stated journal.Budgets // through the API, beside those of the settings
	book   *budget.Book    // the same, read
	groups map[budget.Group][]cluster.NodeID

	limits  []budget.Limit                  // that are kept, as of the last decision
	changes []decide.LimitChange            // that are to come
	kept    map[cluster.NodeID]energy.Watts // for nodes that shall come on, as of the last decision
}

// New goes on with the budgets of the journal. Of those that nobody understands any more
// the error tells; they do not hold, and the guard is there all the same.
func New(s Settings, stated journal.Budgets, exec Executor, board Controller, out *journal.Step, now time.Time) (*Cap, error) {
	g := &Cap{settings: s, exec: exec, controller: board, out: out, stated: stated, groups: map[budget.Group][]cluster.NodeID{}}
	lines, err := budget.Read(stated.Text)
	if err == nil {
		g.book, err = budget.New(s.Zone, lines)
	}
	g.limits = g.Books().At(now)
	return g, err
}

// Books are the budgets that hold side by side.
func (g *Cap) Books() budget.Books { return budget.Books{g.settings.Budgets, g.book} }

// Adopt takes over what a decision has kept to.
func (g *Cap) Adopt(p *decide.View) { g.limits, g.changes, g.kept = p.Limits, p.Changes, p.KeptPower }

// Limited reports whether any limit holds.
func (g *Cap) Limited() bool { return len(g.limits) > 0 }

// Admits reports whether VMs may use so much more without a limit being exceeded.
func (g *Cap) Admits(more map[cluster.NodeID]cluster.MilliCPU) bool {
	for _, l := range g.limits {
		before, after := energy.Watts(0), energy.Watts(0)
		for _, id := range g.members(l.Group) {
			now := g.Most(id, 0)
			before += now
			if extra := more[id]; extra != 0 {
				now = g.Most(id, extra)
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
		sum := max(g.controller.Booting(id), g.Most(id, 0))
		for _, other := range g.members(l.Group) {
			if other != id {
				sum += g.Most(other, 0)
			}
		}
		if l.Group.Has(n.Labels) && sum > l.Watts {
			return false
		}
	}
	return true
}

// Most is the most that a node may draw while its VMs use so much more than what they
// may. One that is being switched draws what that takes on average; for one that shall
// come on it is kept.
func (g *Cap) Most(id cluster.NodeID, more cluster.MilliCPU) energy.Watts {
	return max(g.exec.Ceiling(id, more), g.controller.Least(id), g.kept[id])
}

// members are the nodes of a group of which it is known what they draw.
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
