package api

import (
	"github.com/prometheus/client_golang/prometheus"

	"vjob/queue/pool"
	"vjob/scheduler"
)

// poolGauges reads the pools of the latest snapshot at every scrape.
type poolGauges struct {
	snapshot           func() *scheduler.Snapshot
	cpu, memory, vjobs *prometheus.Desc
}

var _ prometheus.Collector = (*poolGauges)(nil)

func newPoolGauges(snapshot func() *scheduler.Snapshot) *poolGauges {
	return &poolGauges{
		snapshot: snapshot,
		cpu:      describe("pool_cpu", "Processors of each pool: reserved, limit, demand, entitlement and used.", "pool", "of"),
		memory:   describe("pool_memory_bytes", "Memory of each pool: reserved, limit, demand, entitlement and used.", "pool", "of"),
		vjobs:    describe("pool_vjobs", "Vjobs of each pool that have not ended, with those of the pools in it.", "pool"),
	}
}

// Describe lists the gauges.
func (g *poolGauges) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(g, ch) }

// Collect reads the snapshot. Without pools there are no figures.
func (g *poolGauges) Collect(ch chan<- prometheus.Metric) {
	now := g.snapshot()
	if now == nil || len(now.Pools.Pools) < 2 {
		return
	}
	pools := now.Counted()
	for i := range pools {
		p := &pools[i]
		for _, of := range []struct {
			desc                                *prometheus.Desc
			unit                                float64
			reserved, limit, demand, given, use int64
		}{
			{g.cpu, 1e-3, int64(p.Reserved.CPU), p.CPU.Limit, int64(p.Demand.CPU), int64(p.Given.CPU), int64(p.Used.CPU)},
			{g.memory, 1 << 20, int64(p.Reserved.Memory), p.Memory.Limit, int64(p.Demand.Memory), int64(p.Given.Memory), int64(p.Used.Memory)},
		} {
			gauge := func(what string, n int64) {
				ch <- prometheus.MustNewConstMetric(of.desc, prometheus.GaugeValue, float64(n)*of.unit, p.Name, what)
			}
			gauge("reserved", of.reserved)
			if of.limit != pool.Unlimited {
				gauge("limit", of.limit)
			}
			gauge("demand", of.demand)
			gauge("entitlement", of.given)
			gauge("used", of.use)
		}
		ch <- prometheus.MustNewConstMetric(g.vjobs, prometheus.GaugeValue, float64(p.VJobs), p.Name)
	}
}
