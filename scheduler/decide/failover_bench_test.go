package decide_test

import (
	"fmt"
	"testing"

	"vjob/cluster"
	"vjob/queue"
	"vjob/scheduler/decide"
)

// bigWorld has nodes of 32 CPU with vjobs of four VMs up to a part of their CPU, and a hundred vjobs that wait.
func bigWorld(nodes, perNode int) *world {
	w := &world{}
	for i := range nodes {
		w.nodes = append(w.nodes, cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: cluster.Resources{CPU: 32000, Memory: 65536}})
	}
	id := cluster.VJobID(1)
	for k := 0; k < nodes*perNode; k += 4 {
		at := make([]cluster.NodeID, 4)
		for rank := range at {
			at[rank] = w.nodes[(k+rank*7)%nodes].ID
		}
		w.jobs = append(w.jobs, vjob(id, 4, 1000+cluster.MilliCPU(id%3)*250, at...))
		id++
	}
	for range 100 {
		w.jobs = append(w.jobs, vjob(id, 4, 1000+cluster.MilliCPU(id%5)*500))
		id++
	}
	return w
}

// A decision for 500 nodes with 10,000 VMs of which vjobs start, with failover capacity and without it.
func BenchmarkDecideFailover(b *testing.B) {
	w := bigWorld(500, 20)
	index := map[cluster.VJobID]*member{}
	for i := range w.jobs {
		index[w.jobs[i].job.ID] = &w.jobs[i]
	}
	for _, policy := range []queue.Policy{queue.EASY{}, queue.FirstFit{}} {
		for _, lost := range []int{0, 1, 2, 60} {
			b.Run(fmt.Sprintf("%s/lost=%d", policy.Name(), lost), func(b *testing.B) {
				s := kept(lost)
				s.Policy = policy
				starts := 0
				for b.Loop() {
					f := w.facts()
					f.Bookings = indexed{w, index}
					d, err := decide.NewView(s, f).Decide()
					if err != nil {
						b.Fatal(err)
					}
					starts = 0
					for i := range d.VJobs {
						if d.VJobs[i].Job.State.Ready() && d.Verdicts[i].Target == queue.Run {
							starts++
						}
					}
				}
				b.ReportMetric(float64(starts), "starts")
			})
		}
	}
}

// indexed are the bookings of a large world.
type indexed struct {
	*world
	jobs map[cluster.VJobID]*member
}

// Need implements [decide.Bookings].
func (w indexed) Need(vm cluster.VMID) cluster.Resources {
	return w.jobs[vm.VJob].job.VMs[vm.Rank].Reserved
}

// Destination implements [decide.Bookings].
func (w indexed) Destination(vm cluster.VMID) cluster.NodeID { return w.jobs[vm.VJob].at[vm.Rank] }
