package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// alarmGauges reads the open alarms and the waiting times of the latest snapshot, at every scrape.
type alarmGauges struct {
	snapshot             func() *scheduler.Snapshot
	open, unacknowledged *prometheus.Desc
	waits                *prometheus.Desc
}

var _ prometheus.Collector = (*alarmGauges)(nil)

func newAlarmGauges(snapshot func() *scheduler.Snapshot) *alarmGauges {
	return &alarmGauges{
		snapshot:       snapshot,
		open:           describe("alarms_open", "Open alarms by kind.", "kind"),
		unacknowledged: describe("alarms_unacknowledged", "Open alarms by kind that no administrator has acknowledged.", "kind"),
		waits:          describe("wait_seconds", "Time from the submission to the first start of the vjobs that have started since the daemon did, by queue.", "queue"),
	}
}

// Describe lists the gauges.
func (g *alarmGauges) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, ch) }

// Collect reads the snapshot.
func (g *alarmGauges) Collect(ch chan<- prometheus.Metric) {
	now := g.snapshot()
	if now == nil {
		return
	}
	open, unacknowledged := map[journal.AlarmKind]int{}, map[journal.AlarmKind]int{}
	for i := range now.Alarms {
		a := &now.Alarms[i]
		open[a.Kind]++
		if a.AckedBy == "" {
			unacknowledged[a.Kind]++
		}
	}
	for _, kind := range journal.AlarmKinds {
		ch <- prometheus.MustNewConstMetric(g.open, prometheus.GaugeValue, float64(open[kind]), string(kind))
		ch <- prometheus.MustNewConstMetric(g.unacknowledged, prometheus.GaugeValue, float64(unacknowledged[kind]), string(kind))
	}
	for queue, h := range now.Waits {
		buckets, sum := make(map[float64]uint64, len(scheduler.WaitBounds)), uint64(0)
		for i, bound := range scheduler.WaitBounds {
			sum += h.Classes[i]
			buckets[bound.Seconds()] = sum
		}
		ch <- prometheus.MustNewConstHistogram(g.waits, h.Count, h.Sum.Seconds(), buckets, queue)
	}
}
