package api

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"vjob/energy"
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
