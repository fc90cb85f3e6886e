package supply

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/budget"
	"vjob/energy/cpushare"
	"vjob/queue/availability"
)

// Forecasts work with sums, not places: this is what all power budgets together will leave.

// Forecast returns what the budgets will leave to waiting vjobs in an interval; nil without budgets.
func (s *Supply) Forecast(nodes []cluster.Node, from, until time.Time) *availability.Limit {
	if !s.Known() {
		return nil
	}
	g, limited := s.metered(nodes), false
	var steps []availability.LimitStep
	for _, at := range s.changes(from, until) {
		limits := s.Budgets.At(at)
		step := g.step(limits)
		step.From, limited = at, limited || len(limits) > 0
		steps = append(steps, step)
	}
	if !limited {
		return nil
	}
	return availability.NewLimit(from, steps)
}

// Part returns what a vjob takes of a forecast.
func (s *Supply) Part(nodes []cluster.Node, of *availability.Limit, job *cluster.VJob) availability.LimitPart {
	return availability.LimitPart{Of: of, Amount: milliwatts(s.MinShareWatts(nodes, job))}
}

func milliwatts(w energy.Watts) int64 { return int64(1000*w + 0.5) }

// meteredNodes are the nodes with a power model, to test budgets on.
type meteredNodes struct {
	nodes  []cpushare.Node
	labels []map[string]string
	groups map[budget.Group][]int // cache
}

func (s *Supply) metered(nodes []cluster.Node) *meteredNodes {
	g := &meteredNodes{groups: map[budget.Group][]int{}}
	for i := range nodes {
		if power, known := s.Models[nodes[i].ID]; known {
			g.nodes, g.labels = append(g.nodes, s.Node(&nodes[i], power)), append(g.labels, nodes[i].Labels)
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

// step returns what the limits leave beside idle nodes, in milliwatts.
func (g *meteredNodes) step(limits []budget.Limit) availability.LimitStep {
	if len(limits) == 0 {
		return availability.LimitStep{Most: availability.Unlimited, Name: names(nil)}
	}
	q := cpushare.Problem{Nodes: g.nodes}
	for _, l := range limits {
		q.Limits = append(q.Limits, cpushare.Limit{Watts: l.Watts, Nodes: g.members(l.Group)})
	}
	most, by := q.Headroom()
	var binding []*budget.Limit
	for _, i := range by {
		binding = append(binding, &limits[i])
	}
	return availability.LimitStep{Most: milliwatts(most), Name: names(binding)}
}

// names names the limits that bind the waiting vjobs.
func names(by []*budget.Limit) string {
	switch {
	case len(by) == 1:
		return "the power budget of " + by[0].Group.Name() + ", " + figure(by[0])
	case len(by) > maxNamed:
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
