package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/scheduler"
)

// BenchmarkOrder is what users wait for beside the commit when they give an order on one of many vjobs: the order, and the
// snapshot in which they see it.
func BenchmarkOrder(b *testing.B) {
	for _, size := range []struct{ nodes, vjobs int }{{100, 1000}, {100, 10_000}, {100, 100_000}, {1000, 1000}} {
		b.Run(fmt.Sprintf("nodes=%d/vjobs=%d", size.nodes, size.vjobs), func(b *testing.B) {
			c := crowded(size.nodes, 5*size.nodes, size.vjobs)
			core := queued(policies[1], c, c.views())
			core.Flush(epoch)
			last, now, order, next := core.Snapshot(), epoch, scheduler.OrderHold, scheduler.OrderRelease
			id := c.VJobs[len(c.VJobs)-1].ID
			for b.Loop() {
				now = now.Add(time.Microsecond)
				if err := core.VJobs.Order(now, id, order, "op"); err != nil {
					b.Fatal(err)
				}
				last = core.SnapshotWith(last.Nodes)
				if held := last.VJob(id).Held; held != (order == scheduler.OrderHold) {
					b.Fatalf("after %s: held is %t", order, held)
				}
				order, next = next, order
			}
		})
	}
}
