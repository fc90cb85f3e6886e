package db_test

import (
	"fmt"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

// BenchmarkSubmit measures acknowledged and synced submissions of four VMs each.
func BenchmarkSubmit(b *testing.B) {
	submission := storetest.Submission("", 4)
	b.Run("serial", func(b *testing.B) {
		d := newDB(b)
		for b.Loop() {
			submitted(b)(d.Submit(b.Context(), submission))
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "submissions/s")
	})
	for _, clients := range []int{8, 32} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			d := newDB(b)
			b.SetParallelism(clients) // times GOMAXPROCS
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := d.Submit(b.Context(), submission); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "submissions/s")
		})
	}
}

// fill submits n vjobs from many clients at once.
func fill(b *testing.B, d *db.DB, n, vms int) {
	b.Helper()
	const clients = 64
	errs := make(chan error, clients)
	for client := range clients {
		go func() {
			for i := client; i < n; i += clients {
				s := storetest.Submission(fmt.Sprintf("vjob-%d", i), vms)
				s.Rules = ""
				if _, _, err := d.Submit(b.Context(), s); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range clients {
		if err := <-errs; err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	const n = 5000
	d := newDB(b)
	fill(b, d, n, 4)
	b.Run(fmt.Sprintf("vjobs=%d", n), func(b *testing.B) {
		for b.Loop() {
			rows, total, err := d.VJobs(b.Context(), journal.Filter{})
			if err != nil || len(rows) != n || total != n {
				b.Fatal(len(rows), total, err)
			}
		}
	})
	b.Run(fmt.Sprintf("page=100/vjobs=%d", n), func(b *testing.B) {
		for b.Loop() {
			rows, _, err := d.VJobs(b.Context(), journal.Filter{Owner: "alice", Live: true, Newest: true, Limit: 100})
			if err != nil || len(rows) != 100 {
				b.Fatal(len(rows), err)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	const n, vms = 10000, 5
	d := newDB(b)
	fill(b, d, n, vms)
	b.Run(fmt.Sprintf("vjobs=%d", n), func(b *testing.B) {
		for b.Loop() {
			if l := loaded(b, d); len(l.VJobs) != n || len(l.VJobs[n-1].VMs) != vms {
				b.Fatal(len(l.VJobs))
			}
		}
	})
}

// BenchmarkCommit measures a step that changes one vjob and its gang of nine.
func BenchmarkCommit(b *testing.B) {
	d := newDB(b)
	job := submitted(b)(d.Submit(b.Context(), storetest.Submission("x", 9)))
	g := loaded(b, d).Gangs[0]
	for b.Loop() {
		job.Held, job.Version = !job.Held, job.Version+1
		step := journal.Step{
			VJobs:  []journal.VJobChange{storetest.Change(job)},
			Events: []journal.Event{storetest.StateEvent(job)},
		}
		g.Skew++
		step.Gangs = append(step.Gangs, g)
		if err := d.Commit(b.Context(), step); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkToken measures the authentication of a request by its token.
func BenchmarkToken(b *testing.B) {
	d := newDB(b)
	if err := d.CreateUser(b.Context(), journal.User{Name: "bob", Role: journal.RoleUser}, by(storetest.Start)); err != nil {
		b.Fatal(err)
	}
	hash := [32]byte{1}
	must[int64](b)(d.CreateToken(b.Context(), journal.NewToken{User: "bob", Hash: hash, Expires: storetest.Start.AddDate(1, 0, 0)}, by(storetest.Start)))
	for b.Loop() {
		if _, _, err := d.UserByToken(b.Context(), hash, storetest.Start); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSaveNodes measures the declaration of nodes at a first start; its cost is linear.
func BenchmarkSaveNodes(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			nodes := make([]cluster.Node, n)
			for i := range nodes {
				nodes[i] = cluster.Node{ID: cluster.NodeID(fmt.Sprintf("n%d", i)), Capacity: cluster.Resources{CPU: 8000, Memory: 65536}}
			}
			for b.Loop() {
				d := newDB(b)
				if gone, err := d.SaveNodes(b.Context(), nodes); err != nil || len(gone) > 0 {
					b.Fatal(gone, err)
				}
			}
		})
	}
}
