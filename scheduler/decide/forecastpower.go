package decide

import (
	"fmt"
	"strings"

	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/cpushare"
	"vjob/queue/availability"
)

// Forecasts work with sums, not places: this is what all power budgets together will leave.

// meteredNodes are the nodes with a power model, to test budgets on.
type meteredNodes struct {
	nodes  []cpushare.Node
	labels []map[string]string
	groups map[budget.Group][]int // cache
}

func (p *View) meteredNodes() *meteredNodes {
	g := &meteredNodes{groups: map[budget.Group][]int{}}
	for _, n := range p.intended.Nodes() {
		if power, known := p.settings.Energy.Power[n.ID]; known {
			g.nodes, g.labels = append(g.nodes, p.shareNode(&n, power)), append(g.labels, n.Labels)
		}
	}
	return g
}

// members returns the nodes of a group.
func (g *meteredNodes) members(group budget.Group) []int {
	list, asked := g.groups[group]
	if !asked {
		for n, labels := range g.labels {
			if group.Has(labels) {
				list = append(list, n)
			}
		}
		g.groups[group] = list
	}
	return list
}

// step returns what the bounds leave beside idle nodes, in milliwatts.
func (g *meteredNodes) step(bounds []budget.Limit) availability.LimitStep {
	q := cpushare.Problem{Nodes: g.nodes}
	for _, l := range bounds {
		q.Limits = append(q.Limits, cpushare.Limit{Watts: l.Watts, Nodes: g.members(l.Group)})
	}
	if len(bounds) == 0 {
		return availability.LimitStep{Most: availability.Unlimited, Name: budgetNames(nil)}
	}
	most, by := q.Headroom()
	var binding []*budget.Limit
	for _, i := range by {
		binding = append(binding, &bounds[i])
	}
	return availability.LimitStep{Most: milliwatts(most), Name: budgetNames(binding)}
}

func milliwatts(w energy.Watts) int64 { return int64(1000*w + 0.5) }

// budgetNames names the limits that bind the waiting vjobs.
func budgetNames(by []*budget.Limit) string {
	switch {
	case len(by) == 1:
		return "the power budget of " + by[0].Group.Name() + ", " + figure(by[0])
	case len(by) > maxFigures:
		return fmt.Sprintf("the power budgets of %d groups of nodes", len(by))
	case len(by) == 0:
		return "the power budgets"
	}
	var groups []string
	for _, l := range by {
		groups = append(groups, l.Group.Name())
	}
	return "the power budgets of " + strings.Join(groups, " and ")
}

// power returns what the budgets will leave the waiting vjobs; nil without budgets.
func (p *View) power() *availability.Limit {
	if len(p.settings.Energy.Power) == 0 {
		return nil
	}
	g, limited := p.meteredNodes(), false
	var steps []availability.LimitStep
	for at, more := p.now, true; more && at.Before(p.now.Add(forecastHorizon)) && len(steps) < maxPowerChanges; at, more = p.budgets.Next(at) {
		bounds := p.budgets.At(at)
		s := g.step(bounds)
		s.From, limited = at, limited || len(bounds) > 0
		steps = append(steps, s)
	}
	if !limited {
		return nil
	}
	return availability.NewLimit(p.now, steps)
}
