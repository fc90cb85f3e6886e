package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"vjob/api/wire"
	"vjob/scheduler"
)

// consolidation answers GET /v1/energy/consolidation.
func (s *Server) consolidation(c *gin.Context, _ Subject) error {
	now := s.snapshot().Consolidation
	return answer(c, http.StatusOK, wire.Consolidation{
		Enabled: now.Enabled, NextAt: instant(now.Next), Last: wireSearch(&now.Last), Done: wireSearch(&now.Done),
		Looks: now.Looks, Plans: now.Switches, VMs: now.Moves, SavesJoules: float64(now.Saves), CostsJoules: float64(now.Costs),
	})
}

// wireSearch is a look for JSON; nil: there was none.
func wireSearch(l *scheduler.ConsolidationLook) *wire.ConsolidationLook {
	if l.At.IsZero() {
		return nil
	}
	w := &wire.ConsolidationLook{
		At: l.At.UTC(), Nodes: l.Nodes, Looks: l.Turns, VMs: []string{}, VJobs: []int64{}, Dark: []string{},
		BeforeWatts: watts(l.Before), AfterWatts: watts(l.After), SavesJoules: float64(l.Saves), CostsJoules: float64(l.Costs),
		YieldBefore: l.Yield[0], YieldAfter: l.Yield[1], Plan: int64(l.PlanID), Why: l.Why,
	}
	for _, vm := range l.VMs {
		w.VMs = append(w.VMs, vm.String())
	}
	for _, id := range l.VJobs {
		w.VJobs = append(w.VJobs, int64(id))
	}
	for _, id := range l.NodesOff {
		w.Dark = append(w.Dark, string(id))
	}
	return w
}

// consolidation tells what VMs' moving to where they draw less has come to.
func (g *gauges) consolidation(ch chan<- prometheus.Metric, now *scheduler.ConsolidationStatus) {
	if !now.Enabled {
		return
	}
	for of, n := range map[string]int{"looks": now.Looks, "plans": now.Switches, "vms": now.Moves} {
		ch <- prometheus.MustNewConstMetric(g.consolidated, prometheus.CounterValue, float64(n), of)
	}
	ch <- prometheus.MustNewConstMetric(g.saved, prometheus.CounterValue, float64(now.Saves), "saves")
	ch <- prometheus.MustNewConstMetric(g.saved, prometheus.CounterValue, float64(now.Costs), "costs")
}
