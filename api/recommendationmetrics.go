package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// recommendationGauges reads what the latest snapshot has on balance and recommendations, at every scrape.
type recommendationGauges struct {
	snapshot                                  func() *scheduler.Snapshot
	open, totals, moves, imbalance, searching *prometheus.Desc
}

var _ prometheus.Collector = (*recommendationGauges)(nil)

func newRecommendationGauges(snapshot func() *scheduler.Snapshot) *recommendationGauges {
	return &recommendationGauges{
		snapshot:  snapshot,
		open:      describe("recommendations_open", "Recommendations by kind that are pending, or approved and not yet applied.", "kind", "state"),
		totals:    describe("recommendations_total", "Recommendations by kind since the start: made, automatic (begun without approval), approved, rejected, applied, refused, superseded and expired.", "kind", "event"),
		moves:     describe("recommendation_moves_total", "Moves of VMs by the recommendations that were applied or begun without approval, by kind.", "kind"),
		imbalance: describe("imbalance", "Standard deviation of the load of the nodes at the last search for balance: before its moves, and after them.", "of"),
		searching: describe("balance_searches_total", "Searches for moves that balance the nodes."),
	}
}

// Describe lists the gauges.
func (g *recommendationGauges) Describe(ch chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(g, ch)
}

// Collect reads the snapshot.
func (g *recommendationGauges) Collect(ch chan<- prometheus.Metric) {
	now := g.snapshot()
	if now == nil {
		return
	}
	for _, kind := range journal.RecommendationKinds {
		for _, state := range []journal.RecommendationState{journal.RecommendationPending, journal.RecommendationApproved} {
			ch <- prometheus.MustNewConstMetric(g.open, prometheus.GaugeValue, float64(now.Recommendations.States[kind][state]), string(kind), string(state))
		}
		t := now.Recommendations.Totals[kind]
		for _, of := range []struct {
			event string
			n     int
		}{
			{"made", t.Made},
			{"automatic", t.Automatic},
			{"approved", t.Approved},
			{"rejected", t.Rejected},
			{"applied", t.Applied},
			{"refused", t.Refused},
			{"superseded", t.Superseded},
			{"expired", t.Expired},
		} {
			ch <- prometheus.MustNewConstMetric(g.totals, prometheus.CounterValue, float64(of.n), string(kind), of.event)
		}
		ch <- prometheus.MustNewConstMetric(g.moves, prometheus.CounterValue, float64(t.Moves), string(kind))
	}
	ch <- prometheus.MustNewConstMetric(g.searching, prometheus.CounterValue, float64(now.Balance.Searches))
	if !now.Balance.At.IsZero() {
		ch <- prometheus.MustNewConstMetric(g.imbalance, prometheus.GaugeValue, now.Balance.Before.Total, "before")
		ch <- prometheus.MustNewConstMetric(g.imbalance, prometheus.GaugeValue, now.Balance.After.Total, "after")
	}
}
