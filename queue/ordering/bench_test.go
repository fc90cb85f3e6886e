package ordering_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/queue"
	"vjob/queue/fairshare"
	"vjob/queue/multifactor"
	"vjob/queue/ordering"
)

// BenchmarkDesk sorts 100,000 vjobs of 200 users with weights on everything: the first time; without
// changes; after one vjob came and one went; after ages grew; and after one user used much.
func BenchmarkDesk(b *testing.B) {
	const n = 100_000
	r := ordering.DefaultSettings(queue.FirstFit{})
	r.Rank.Weights = multifactor.Weights{User: 10, Queue: 1000, Age: 1000, FairShare: 500, Size: 100, Deadline: 800}
	r.Shares = fairshare.Settings{HalfLife: 7 * day, CPU: 1, Share: 1}
	r.Leap = 0.02
	jobs := make([]*cluster.VJob, n)
	for i := range jobs {
		jobs[i] = vjob(cluster.VJobID(i+1), fmt.Sprintf("user%d", i%200), fmt.Sprintf("project%d", i%20), "", 1)
		jobs[i].Submitted = noon.Add(-time.Duration(i%70_000) * time.Second)
	}
	full := func() *ordering.Order {
		d := ordering.NewOrder(r)
		for _, j := range jobs {
			d.Put(j, false)
		}
		return d
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			full().Sorted(noon)
		}
	})
	d := full()
	now := noon
	d.Decided(now)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			if d.Changed(now) {
				b.Fatal("it stirs")
			}
		}
	})
	last := cluster.VJobID(n)
	b.Run("one-more-one-less", func(b *testing.B) {
		for b.Loop() {
			d.Drop(last)
			last++
			d.Put(vjob(last, "user7", "project7", "", 1), false)
			d.Sorted(now)
		}
	})
	b.Run("older", func(b *testing.B) {
		for b.Loop() {
			now = now.Add(2 * time.Minute)
			d.Changed(now)
			d.Decided(now)
		}
	})
	b.Run("used", func(b *testing.B) {
		for b.Loop() {
			d.Charge(1, now, 1000*time.Hour, 0)
			d.Changed(now)
			d.Decided(now)
		}
	})
}
