package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/queue/multifactor"
	"vjob/scheduler"
)

// BenchmarkArranged is the core beside a long queue of 200 users with points for
// everything and quotas: the first pass, and to be asked when nothing has changed.
func BenchmarkArranged(b *testing.B) {
	c := crowded(1000, 5000, 100_000)
	for i, job := range c.VJobs {
		job.Owner = fmt.Sprintf("user%d", i%200)
	}
	seen := c.views()
	set := arranged(b, 200_000, 400_000)
	set.Execute = execute.DefaultSettings
	set.Execute.Costs = ctxswitch.ThesisCosts
	set.Policy, set.Live = queue.FirstFit{Count: queue.Observed, MinRun: 10 * time.Minute, Patience: 10 * time.Minute}, true
	set.Ordering.Rank.Weights = multifactor.Weights{User: 10, Queue: 1000, Age: 1000, FairShare: 500, Size: 100, Deadline: 800}
	var core *scheduler.Core
	b.Run("first", func(b *testing.B) {
		var busy time.Duration
		for b.Loop() {
			b.StopTimer()
			core = scheduler.NewCore(set, c.Loaded, epoch)
			core.Flush(epoch)
			for _, n := range c.Nodes {
				core.Looked(epoch, n.ID, seen[n.ID], nil)
			}
			core.LookedStore(epoch, hypervisor.Store{}, nil)
			before := processor()
			b.StartTimer()
			core.Flush(epoch)
			busy += processor() - before
		}
		b.ReportMetric(busy.Seconds()/float64(b.N), "cpu-s/op")
	})
	core.Flush(epoch)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			core.Flush(epoch)
		}
	})
}
