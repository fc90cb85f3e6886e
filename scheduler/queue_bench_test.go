package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/decide"
)

// policies are the policies to measure.
var policies = []queue.Policy{
	queue.FCFS{},
	queue.FirstFit{Count: queue.Observed, MinRun: 10 * time.Minute, Patience: 10 * time.Minute},
	queue.EASY{},
	queue.Conservative{},
	queue.TimeSlices{Quantum: queue.DefaultQuantum},
}

// crowded is a cluster full of vjobs, and a queue of others: all of
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
		job.Walltime = 10*time.Minute + time.Duration(c.rng.IntN(24*60))*time.Minute
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
		Settings: decide.Settings{
			Execute: set, Policy: policy, Live: true, Planner: ctxswitch.Repacker{}, Backoff: time.Second,
		},
		Rest: time.Second,
	}, c.Loaded, epoch)
	core.Flush(epoch)
	for _, n := range c.Nodes {
		core.Looked(epoch, n.ID, seen[n.ID], nil)
	}
	core.LookedStore(epoch, hypervisor.Store{}, nil)
	return core
}

// busy measures what the processors work in a benchmark: the machine may have other
// things to do.
type busy struct {
	*testing.B
	sum time.Duration
}

func (b *busy) time(f func()) {
	before := processor()
	b.StartTimer()
	f()
	b.StopTimer()
	b.sum += processor() - before
}

func (b *busy) report() { b.ReportMetric(b.sum.Seconds()/float64(b.N), "cpu-s/op") }

// BenchmarkQueue is the core of the daemon beside a long queue, under each policy: the
// first pass, from the last look that was missing to the plan and its calls; a pass
// after one more vjob has come; and a look at the core when nothing has changed.
func BenchmarkQueue(b *testing.B) {
	for _, size := range []struct{ running, waiting int }{{0, 1000}, {5000, 1000}, {5000, 100_000}} {
		c := crowded(1000, size.running, size.waiting)
		seen := c.views()
		for _, p := range policies {
			name := fmt.Sprintf("%s/running=%d/waiting=%d/", p.Name(), size.running, size.waiting)
			b.Run(name+"first", func(b *testing.B) {
				t := busy{B: b}
				for b.Loop() {
					b.StopTimer()
					core := queued(p, c, seen)
					t.time(func() { core.Flush(epoch) })
					b.StartTimer()
				}
				t.report()
			})
			core := queued(p, c, seen)
			core.Flush(epoch)
			now, last := epoch, c.VJobs[len(c.VJobs)-1]
			b.Run(name+"next", func(b *testing.B) {
				t := busy{B: b}
				for b.Loop() {
					b.StopTimer()
					now, last = now.Add(time.Second), next(last)
					core.VJobs.Submitted(now, last)
					t.time(func() { core.Flush(now) })
					b.StartTimer()
				}
				t.report()
			})
			b.Run(name+"unchanged", func(b *testing.B) {
				t := busy{B: b}
				for core.Flush(now); b.Loop(); {
					t.time(func() { core.Flush(now) })
					b.StartTimer()
				}
				t.report()
			})
		}
	}
}

// next is another vjob like one, which comes after it.
func next(job *cluster.VJob) *cluster.VJob {
	job = job.Clone()
	job.ID++
	for i := range job.VMs {
		job.VMs[i].ID.VJob = job.ID
	}
	return job
}

// BenchmarkSubmissions is 10,000 vjobs that come to a core with a long queue, 1,000
// in a second, while it decides as often as the daemon does by default and knows how long that takes.
func BenchmarkSubmissions(b *testing.B) {
	const vjobs = 10_000
	for _, waiting := range []int{1000, 100_000} {
		c := crowded(1000, 5000, waiting)
		seen := c.views()
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			t := busy{B: b}
			for b.Loop() {
				b.StopTimer()
				core := queued(policies[1], c, seen)
				core.Flush(epoch)
				t.time(func() {
					now, job := epoch, c.VJobs[len(c.VJobs)-1]
					for range vjobs {
						now, job = now.Add(time.Millisecond), next(job)
						core.VJobs.Submitted(now, job)
						began := processor()
						core.Flush(now)
						core.Took(processor() - began)
					}
				})
				b.StartTimer()
			}
			t.report()
		})
	}
}
