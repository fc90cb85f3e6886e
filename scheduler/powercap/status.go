package powercap

import (
	"time"

	"vjob/ctxswitch/execute"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/scheduler/decide"
)

// Budgets is the power budgets and their present effect.
type Budgets struct {
	Settings []budget.Budget // those of the settings
	Stated   []budget.Budget // those that were stated through the API
	By       string          // the user of the last change
	At       time.Time
	Limits   []Limit // that hold now
	Changes  []decide.LimitChange
}

// Limit is a limit that holds now.
type Limit struct {
	budget.Limit
	Nodes, Unknown int          // nodes in the group with and without a power model
	Now            energy.Watts // drawn
	Most           energy.Watts // drawn at most
	Short          energy.Watts // excess even if no VM runs; 0 if none
}

// Budgets returns the budgets and their present effect.
func (g *Cap) Budgets(now time.Time) Budgets {
	s := Budgets{
		Settings: g.settings.Budgets.Budgets(), Stated: g.book.Budgets(), By: g.stated.By, At: g.stated.At, Changes: g.changes,
	}
	for _, l := range g.Books().At(now) {
		s.Limits = append(s.Limits, g.limit(l))
	}
	return s
}

func (g *Cap) limit(l budget.Limit) Limit {
	status := Limit{Limit: l}
	idle := energy.Watts(0)
	for _, id := range g.members(l.Group) {
		n, _ := g.exec.Node(id)
		status.Nodes++
		status.Now += n.Watts
		status.Most += g.most(id, 0)
		model := g.settings.Models[id]
		alone := model.Standby
		if n.On {
			alone = model.Idle
		}
		idle += max(alone, g.controller.Least(id))
	}
	for _, id := range g.exec.Names() {
		if n, _ := g.exec.Node(id); l.Group.Has(n.Labels) {
			status.Unknown++
		}
	}
	status.Unknown -= status.Nodes
	status.Short = max(0, idle-l.Watts)
	return status
}

// Node is what a node draws, as far as it is known.
type Node struct {
	Known bool
	Now   energy.Watts // by the load that was last seen
	Most  energy.Watts // that it draws while every VM there may use what its cap, or its reservation, allows
	Drawn energy.Joules
}

// Node returns what a node draws.
func (g *Cap) Node(n *execute.NodeReport) Node {
	if _, known := g.settings.Models[n.ID]; !known {
		return Node{}
	}
	return Node{Known: true, Now: n.Watts, Most: g.most(n.ID, 0), Drawn: energy.Joules(n.Joules)}
}
