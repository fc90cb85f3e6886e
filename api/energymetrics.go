package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"vjob/energy"
	"vjob/energy/power/cycle"
	"vjob/scheduler"
	"vjob/scheduler/improve"
)

// energyGauges reads what the latest snapshot of the scheduler has on energy, at every scrape.
type energyGauges struct {
	snapshot                            func() *scheduler.Snapshot
	watts, joules, phases, drawn        *prometheus.Desc
	budgets, price, consolidated, saved *prometheus.Desc
}

var _ prometheus.Collector = (*energyGauges)(nil)

func newEnergyGauges(snapshot func() *scheduler.Snapshot) *energyGauges {
	return &energyGauges{
		snapshot:     snapshot,
		watts:        describe("power_watts", "Known power of all nodes: now, and the most that VMs can cause within their caps.", "of"),
		joules:       describe("node_energy_joules_total", "Energy that a node has drawn.", "node"),
		phases:       describe("power_nodes", "Nodes that can be switched off and on, by phase.", "phase"),
		drawn:        describe("power_phase_watts", "Power drawn now by nodes that can be switched off and on, by phase.", "phase"),
		budgets:      describe("budget_watts", "Power budgets by group: the limit, the power now and at most, and the headroom; below 0 the budget is exceeded.", "group", "of"),
		price:        describe("energy_price", "Current price of energy.", "unit"),
		consolidated: describe("consolidation_total", "Searches for placements that draw less, and the resulting plans and moved VMs.", "of"),
		saved:        describe("consolidation_joules_total", "Estimated savings of these plans within the horizon, and their cost.", "of"),
	}
}

// Describe lists the gauges.
func (g *energyGauges) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, ch) }

// Collect reads the snapshot.
func (g *energyGauges) Collect(ch chan<- prometheus.Metric) {
	now := g.snapshot()
	if now == nil {
		return
	}
	g.energy(ch, now.Nodes)
	g.powerPhases(ch, now.Nodes)
	g.limits(ch, now)
	g.consolidation(ch, &now.Consolidation)
}

// energy tells what nodes draw.
func (g *energyGauges) energy(ch chan<- prometheus.Metric, nodes []*scheduler.NodeStatus) {
	var now, most energy.Watts
	known := false
	for i := range nodes {
		p := &nodes[i].Power
		if !p.Known {
			continue
		}
		known, now, most = true, now+p.Now, most+p.Most
		ch <- prometheus.MustNewConstMetric(g.joules, prometheus.CounterValue, float64(p.Drawn), string(nodes[i].ID))
	}
	if !known {
		return
	}
	ch <- prometheus.MustNewConstMetric(g.watts, prometheus.GaugeValue, float64(now), "now")
	ch <- prometheus.MustNewConstMetric(g.watts, prometheus.GaugeValue, float64(most), "most")
}

// phases are those of nodes that can be switched.
var phases = []cycle.Phase{cycle.On, cycle.Emptying, cycle.Stopping, cycle.Off, cycle.Starting, cycle.Stuck}

// powerPhases tells how far nodes have come on their way off and on, and what they draw there.
func (g *energyGauges) powerPhases(ch chan<- prometheus.Metric, nodes []*scheduler.NodeStatus) {
	count, drawn, some := map[cycle.Phase]float64{}, map[cycle.Phase]float64{}, false
	for i := range nodes {
		if s := nodes[i].Switch; s != nil {
			some = true
			count[s.Phase]++
			drawn[s.Phase] += float64(nodes[i].Power.Now)
		}
	}
	if !some {
		return
	}
	for _, p := range phases {
		ch <- prometheus.MustNewConstMetric(g.phases, prometheus.GaugeValue, count[p], p.String())
		ch <- prometheus.MustNewConstMetric(g.drawn, prometheus.GaugeValue, drawn[p], p.String())
	}
}

// limits tells what is left of the budgets, and what energy costs at the time of the
// snapshot.
func (g *energyGauges) limits(ch chan<- prometheus.Metric, now *scheduler.Snapshot) {
	for _, l := range now.Budgets.Limits {
		for of, w := range map[string]energy.Watts{"limit": l.Watts, "now": l.Now, "most": l.Most, "headroom": l.Watts - l.Most} {
			ch <- prometheus.MustNewConstMetric(g.budgets, prometheus.GaugeValue, float64(w), l.Group.String(), of)
		}
	}
	if value, known := now.Prices.Series.At(now.At); known {
		ch <- prometheus.MustNewConstMetric(g.price, prometheus.GaugeValue, value, now.Prices.Series.Unit().String())
	}
}

// consolidation tells what VMs' moving to where they draw less has come to.
func (g *energyGauges) consolidation(ch chan<- prometheus.Metric, now *improve.ConsolidationStatus) {
	if !now.Enabled {
		return
	}
	for of, n := range map[string]int{"looks": now.Looks, "plans": now.Switches, "vms": now.Moves} {
		ch <- prometheus.MustNewConstMetric(g.consolidated, prometheus.CounterValue, float64(n), of)
	}
	ch <- prometheus.MustNewConstMetric(g.saved, prometheus.CounterValue, float64(now.Saves), "saves")
	ch <- prometheus.MustNewConstMetric(g.saved, prometheus.CounterValue, float64(now.Costs), "costs")
}
