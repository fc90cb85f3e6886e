package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/queue"
	"vjob/scheduler"
	"vjob/scheduler/decide"
)

var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// state is what a store could hold: nodes, vjobs that run on every fourth of
// them, and vjobs of two VMs that wait.
func state(nodes, waiting int) journal.Loaded {
	l := journal.Loaded{Epoch: 1, NextOp: 1, NextPlan: 1}
	for i := range nodes {
		l.Nodes = append(l.Nodes, cluster.Node{
			ID: cluster.NodeID(fmt.Sprintf("n%04d", i)), Capacity: cluster.Resources{CPU: 4 * cluster.CPU, Memory: 8192},
		})
	}
	id := cluster.VJobID(0)
	add := func(n int, state cluster.State, phase gang.Phase, at func(rank int) cluster.NodeID) {
		id++
		job := &cluster.VJob{ID: id, Name: fmt.Sprintf("j%d", id), Owner: "u", State: state, Terms: &cluster.Terms{}}
		rec := gang.Record{VJob: id, Phase: phase, Incarnation: 1, Members: make([]gang.Member, n)}
		for rank := range n {
			job.VMs = append(job.VMs, cluster.VM{
				ID: cluster.VMID{VJob: id, Rank: rank}, Reserved: cluster.Resources{CPU: cluster.CPU, Memory: 1024},
			})
			rec.Members[rank].Node = at(rank)
		}
		l.VJobs = append(l.VJobs, job)
		l.Gangs = append(l.Gangs, rec)
	}
	for i := 0; i < nodes; i += 4 {
		add(4, cluster.Running, gang.Active, func(rank int) cluster.NodeID { return l.Nodes[i+rank].ID })
	}
	for range waiting {
		add(2, cluster.Waiting, gang.Absent, func(int) cluster.NodeID { return "" })
	}
	return l
}

// views is what the nodes of a state would show.
func views(l journal.Loaded) map[cluster.NodeID]hypervisor.View {
	views := map[cluster.NodeID]hypervisor.View{}
	for _, rec := range l.Gangs {
		for rank, m := range rec.Members {
			if m.Node != "" {
				v := views[m.Node]
				v.Node = m.Node
				v.Copies = append(v.Copies, hypervisor.Copy{
					VM: cluster.VMID{VJob: rec.VJob, Rank: rank}, CPU: cluster.CPU, Stamp: hypervisor.Stamp{Incarnation: 1},
				})
				views[m.Node] = v
			}
		}
	}
	return views
}

func settings() scheduler.Settings {
	return scheduler.Settings{
		Settings: decide.Settings{
			Execute: execute.DefaultSettings, Policy: queue.FirstFit{}, Planner: ctxswitch.Repacker{}, Backoff: time.Second,
		},
		Rest: time.Millisecond,
	}
}

// BenchmarkPass is one scheduling pass: from the last look that was missing to
// the plan and its calls.
func BenchmarkPass(b *testing.B) {
	for _, size := range []struct{ nodes, waiting int }{{100, 100}, {1000, 1000}, {1000, 10000}} {
		b.Run(fmt.Sprintf("nodes=%d/waiting=%d", size.nodes, size.waiting), func(b *testing.B) {
			l := state(size.nodes, size.waiting)
			seen := views(l)
			for b.Loop() {
				b.StopTimer()
				c := scheduler.NewCore(settings(), l, epoch)
				c.Flush(epoch)
				for _, n := range l.Nodes {
					c.Looked(epoch, n.ID, seen[n.ID], nil)
				}
				c.LookedStore(epoch, hypervisor.Store{}, nil)
				b.StartTimer()
				if e := c.Flush(epoch); len(e.Step.Plans) == 0 {
					b.Fatal("no plan")
				}
			}
		})
	}
}

// BenchmarkRestart is everything from the loaded journal to the first decision.
func BenchmarkRestart(b *testing.B) {
	for _, vjobs := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("vjobs=%d", vjobs), func(b *testing.B) {
			l := state(1000, vjobs-250)
			seen := views(l)
			for b.Loop() {
				c := scheduler.NewCore(settings(), l, epoch)
				c.Flush(epoch)
				for _, n := range l.Nodes {
					c.Looked(epoch, n.ID, seen[n.ID], nil)
					c.Flush(epoch)
				}
				c.LookedStore(epoch, hypervisor.Store{}, nil)
				c.Flush(epoch)
				if s := c.Snapshot(); !s.Ready {
					b.Fatal("nothing decided")
				}
			}
		})
	}
}
