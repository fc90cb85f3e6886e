package balance_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/scheduler/balance"
)

// crowd is a cluster of four kinds of nodes, of which the first half has most of the VMs.
func crowd(nodes, vms int) *balance.Cluster {
	chance := rand.New(rand.NewPCG(7, 7))
	c := &balance.Cluster{}
	for i := range nodes {
		size := int64(1 + i%4)
		c.Nodes = append(c.Nodes, balance.Node{
			Name:     fmt.Sprintf("n%05d", i),
			Capacity: balance.Amounts{16_000 * size, int64(64*cluster.GiB) * size, 1_250_000_000},
		})
	}
	mean := float64(40_000*nodes) / float64(vms) // of CPU, so that half of the cluster is demanded
	for i := range vms {
		at := chance.IntN(nodes)
		if chance.IntN(3) > 0 {
			at /= 2
		}
		v := balance.VM{Name: fmt.Sprintf("v%06d", i), Node: at, Stable: 30 * time.Minute}
		v.Demand = balance.Amounts{int64(mean * (0.1 + 0.9*chance.Float64())), int64(mean * (1 + 2*chance.Float64())), 1_000_000}
		v.Entitlement, v.Reserved = v.Demand, balance.Amounts{0, v.Demand[balance.Memory], 0}
		v.Least, v.Most = v.Demand, v.Demand
		v.Most[balance.CPU] += v.Demand[balance.CPU] / 4
		c.VMs = append(c.VMs, v)
	}
	return c
}

// BenchmarkRound is a whole round, until the imbalance is tolerated or nothing helps.
func BenchmarkRound(b *testing.B) {
	for _, size := range []struct{ nodes, vms int }{{32, 1280}, {500, 10_000}, {20_000, 100_000}} {
		b.Run(fmt.Sprintf("nodes=%d/vms=%d", size.nodes, size.vms), func(b *testing.B) {
			c := crowd(size.nodes, size.vms)
			var r *balance.Round
			for b.Loop() {
				var err error
				if r, err = balance.Default.Round(c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(r.Moves)), "moves")
			b.ReportMetric(r.Before.Total, "before")
			b.ReportMetric(r.After.Total, "after")
		})
	}
}
