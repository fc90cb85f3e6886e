package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// metrics are the figures of one server, in a registry of their own.
type metrics struct {
	handler     http.Handler
	requests    *prometheus.CounterVec
	durations   *prometheus.HistogramVec
	submissions *prometheus.CounterVec
	plans       *prometheus.HistogramVec
	ratios      prometheus.Histogram

	mu    sync.Mutex
	since time.Time // plans that ended before are not ours to count
	seen  map[journal.PlanID]bool
}

// watchedPlans is how many of the latest plans a scrape looks at.
const watchedPlans = 200

func newMetrics(snapshot func() *scheduler.Snapshot, now time.Time) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vjob_http_requests_total", Help: "Requests by route, method and status.",
		}, []string{"route", "method", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vjob_http_request_duration_seconds", Help: "Time to answer, by route; streams count until their end.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"route"}),
		submissions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vjob_submissions_total", Help: "Submissions by result: created, repeated, refused or failed.",
		}, []string{"result"}),
		plans: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vjob_plan_duration_seconds", Help: "Duration of the context switches that have ended, by state.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 12),
		}, []string{"state"}),
		ratios: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "vjob_plan_duration_ratio", Help: "Duration of the context switches that are done, in parts of their estimates.",
			Buckets: []float64{.25, .5, .8, .9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10},
		}),
		since: now, seen: map[journal.PlanID]bool{},
	}
	for _, result := range []string{"created", "repeated", "refused", "failed"} {
		m.submissions.WithLabelValues(result)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.durations, m.submissions, m.plans, m.ratios, newGauges(snapshot), newEnergyGauges(snapshot), newPoolGauges(snapshot), newRecommendationGauges(snapshot), newAlarmGauges(snapshot),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	return m
}

// request counts one request. Paths that are no route count together, so that
// callers cannot make new series.
func (m *metrics) request(route, method string, status int, took time.Duration) {
	if route == "" {
		route, method = "none", "any"
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.durations.WithLabelValues(route).Observe(took.Seconds())
}

func (m *metrics) submission(created bool, err error) {
	result := "repeated"
	switch {
	case err != nil && (errors.Is(err, cluster.ErrInvalid) || errors.Is(err, cluster.ErrConflict) || errors.Is(err, errTooLarge)):
		result = "refused"
	case err != nil:
		result = "failed"
	case created:
		result = "created"
	}
	m.submissions.WithLabelValues(result).Inc()
}

// observe counts plans that have ended since the last look.
func (m *metrics) observe(rows []journal.PlanRow) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := make(map[journal.PlanID]bool, len(rows))
	for _, r := range rows {
		if r.Ended.IsZero() || r.Ended.Before(m.since) {
			continue
		}
		seen[r.ID] = true
		if !m.seen[r.ID] {
			m.plans.WithLabelValues(string(r.State)).Observe(seconds(r.At, r.Ended))
			if ratio := r.Ratio(); ratio > 0 {
				m.ratios.Observe(ratio)
			}
		}
	}
	m.seen = seen
}

// metricsHandler answers requests for metrics.
type metricsHandler struct {
	metrics *metrics
	plans   planReader
}

// show answers GET /metrics.
func (h *metricsHandler) show(c *gin.Context, _ Subject) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), 2*time.Second)
	defer cancel()
	// Without the plans the other figures are still worth having.
	if rows, err := h.plans.Plans(ctx, journal.PlanFilter{Limit: watchedPlans}); err == nil {
		h.metrics.observe(rows)
	}
	h.metrics.handler.ServeHTTP(c.Writer, c.Request)
	return nil
}

// gauges reads the latest snapshot of the scheduler at every scrape.
type gauges struct {
	snapshot                          func() *scheduler.Snapshot
	ready, vjobs, held, nodes, silent *prometheus.Desc
	cpu, memory, actions, queues      *prometheus.Desc
	failover, spare                   *prometheus.Desc
}

var _ prometheus.Collector = (*gauges)(nil)

// describe describes a metric of vjob.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("vjob_"+name, help, labels, nil)
}

func newGauges(snapshot func() *scheduler.Snapshot) *gauges {
	return &gauges{
		snapshot: snapshot,
		ready:    describe("ready", "Whether the first decision has been taken."),
		vjobs:    describe("vjobs", "Live vjobs by state.", "state"),
		queues:   describe("queue_vjobs", "Live vjobs by queue: waiting or suspended, and active.", "queue", "of"),
		held:     describe("vjobs_held", "Live vjobs that are held."),
		nodes:    describe("nodes", "Nodes by state.", "state"),
		silent:   describe("nodes_silent", "Nodes that do not answer."),
		cpu:      describe("node_cpu_milli", "Thousandths of processors of all nodes that take VMs, used and free.", "use"),
		memory:   describe("node_memory_mib", "MiB of memory of all nodes that take VMs, used and free.", "use"),
		failover: describe("failover_holds", "Whether the VMs of any few nodes can start again on the others (policy.failover)."),
		spare:    describe("failover_spare", "What further VMs may reserve so that this holds, in processors and bytes; below 0 it is missing.", "of"),
		actions:  describe("actions_running", "Actions under way by kind.", "kind"),
	}
}

// Describe lists the gauges.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, ch) }

// Collect reads the snapshot.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	now := g.snapshot()
	if now == nil {
		gauge(g.ready, 0)
		return
	}
	count := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	gauge(g.ready, count(now.Ready))
	if f := &now.Failover; f.Nodes > 0 {
		gauge(g.failover, count(f.Holds))
		gauge(g.spare, float64(f.Spare.CPU)/float64(cluster.CPU), "cpu")
		gauge(g.spare, float64(f.Spare.Memory)*(1<<20), "memory")
	}
	vjobs, held := map[cluster.State]float64{}, 0.0
	waiting, active := map[string]float64{}, map[string]float64{}
	for _, j := range now.VJobs.All() {
		vjobs[j.State]++
		held += count(j.Held)
		waiting[j.Queue] += count(j.State.Ready())
		active[j.Queue] += count(!j.State.Ready())
	}
	for queue := range waiting {
		gauge(g.queues, waiting[queue], queue, "waiting")
		gauge(g.queues, active[queue], queue, "active")
	}
	for state := range cluster.Terminated { // all before it are live
		gauge(g.vjobs, vjobs[state], state.String())
	}
	gauge(g.held, held)
	nodes, silent := map[cluster.NodeState]float64{}, 0.0
	var has, used cluster.Resources
	for _, n := range now.Nodes {
		nodes[n.State]++
		silent += count(n.Silent)
		if n.Hosts() {
			has, used = has.Plus(n.Capacity), used.Plus(n.Used)
		}
	}
	for state := cluster.Online; state <= cluster.Down; state++ {
		gauge(g.nodes, nodes[state], state.String())
	}
	gauge(g.silent, silent)
	gauge(g.cpu, float64(used.CPU), "used")
	gauge(g.cpu, float64(has.CPU-used.CPU), "free")
	gauge(g.memory, float64(used.Memory), "used")
	gauge(g.memory, float64(has.Memory-used.Memory), "free")
	actions := map[string]float64{}
	for _, a := range now.Running {
		actions[a.What]++
	}
	for kind := cluster.Boot; kind <= cluster.Migrate; kind++ {
		if _, ok := actions[kind.String()]; !ok {
			actions[kind.String()] = 0
		}
	}
	for kind, n := range actions {
		gauge(g.actions, n, kind)
	}
}
