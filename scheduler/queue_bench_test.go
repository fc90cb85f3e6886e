package scheduler_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler"
)

// policies are those whose passes are measured.
var policies = []queue.Policy{
	queue.FCFS{},
	queue.FirstFit{Count: queue.Observed, MinRun: 10 * time.Minute, Patience: 10 * time.Minute},
	queue.EASY{},
	queue.Conservative{},
	queue.TimeSlices{Quantum: queue.DefaultQuantum},
}

// crowded is a cluster whose nodes are full of vjobs, and a queue of others: all of
// 4 to 20 VMs of the sizes that are sold, for ten minutes to a day.
func crowded(nodes, vms, waiting int) *cloud {
	c := newCloud(nodes, 0, 0, "")
	c.VJobs, c.Gangs = nil, nil // no giants
	c.crowd(vms)
	for range waiting {
		sizes := make([]cluster.Resources, c.members())
		for i := range sizes {
			sizes[i] = flavours[c.rng.IntN(len(flavours))]
		}
		c.add(sizes, nil)
	}
	for _, job := range c.VJobs {
		job.Walltime = 10*time.Minute + time.Duration(rand.N(24*60))*time.Minute
		job.Submitted = epoch
	}
	for i := range c.Gangs {
		c.Gangs[i].Since = epoch
	}
	return c
}

// queued is a core that has taken in its nodes and decides when it is drained next.
func queued(policy queue.Policy, c *cloud, seen map[cluster.NodeID]hypervisor.View) *scheduler.Core {
	set := execute.DefaultSettings
	set.Costs = ctxswitch.ThesisCosts
	core := scheduler.NewCore(scheduler.Settings{
		Execute: set, Policy: policy, Live: true, Planner: ctxswitch.Repacker{}, Rest: time.Millisecond, Backoff: time.Second,
	}, c.Loaded, epoch)
	core.Drain()
	for _, n := range c.Nodes {
		core.Looked(epoch, n.ID, seen[n.ID], nil)
	}
	core.LookedStore(epoch, hypervisor.Store{}, nil)
	return core
}

// BenchmarkQueue is the core of the daemon beside a long queue, under each policy.
func BenchmarkQueue(b *testing.B) {
	for _, size := range []struct{ nodes, running, waiting int }{{1000, 0, 1000}, {1000, 5000, 1000}, {1000, 5000, 100_000}} {
		c := crowded(size.nodes, size.running, size.waiting)
		seen := c.views()
		for _, p := range policies {
			b.Run(fmt.Sprintf("%s/running=%d/waiting=%d/first", p.Name(), size.running, size.waiting), func(b *testing.B) {
				var busy time.Duration
				for b.Loop() {
					b.StopTimer()
					core := queued(p, c, seen)
					before := processor()
					b.StartTimer()
					core.Drain()
					busy += processor() - before
				}
				b.ReportMetric(busy.Seconds()/float64(b.N), "cpu-s/op")
			})
		}
	}
}
