package api

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"vjob/energy"
	"vjob/energy/power/cycle"
	"vjob/scheduler"
)

// watts is power for JSON, to a tenth.
func watts(w energy.Watts) float64 { return math.Round(10*float64(w)) / 10 }

// energy tells what nodes draw.
func (g *gauges) energy(ch chan<- prometheus.Metric, nodes []scheduler.NodeStatus) {
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
func (g *gauges) powerPhases(ch chan<- prometheus.Metric, nodes []scheduler.NodeStatus) {
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
func (g *gauges) limits(ch chan<- prometheus.Metric, now *scheduler.Snapshot) {
	for _, l := range now.Budgets.Limits {
		for of, w := range map[string]energy.Watts{"limit": l.Watts, "now": l.Now, "most": l.Most, "headroom": l.Watts - l.Most} {
			ch <- prometheus.MustNewConstMetric(g.budgets, prometheus.GaugeValue, float64(w), l.Group.String(), of)
		}
	}
	if value, known := now.Prices.Series.At(now.At); known {
		ch <- prometheus.MustNewConstMetric(g.price, prometheus.GaugeValue, value, now.Prices.Series.Unit().String())
	}
}
