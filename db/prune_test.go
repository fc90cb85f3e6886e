package db_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/hypervisor"
	"vjob/tests/storetest"
)

// all is a horizon later than everything.
var all = journal.Horizon{Events: storetest.EndOfTime, Plans: storetest.EndOfTime, VJobs: storetest.EndOfTime}

// age fills a database with the history of n ended vjobs, one plan and two calls each, and one
// live vjob.
func age(tb testing.TB, d *db.DB, n, vms int) {
	tb.Helper()
	l := loaded(tb, d)
	live := submitted(tb)(d.Submit(tb.Context(), storetest.Submission("live", 1)))
	for i := range n {
		s := storetest.Submission("", vms)
		s.Key, s.Owner = fmt.Sprint(i), []string{"alice", "bob"}[i%2]
		job := submitted(tb)(d.Submit(tb.Context(), s))
		if err := job.Become(cluster.Failed, cluster.Because("its node was lost")); err != nil {
			tb.Fatal(err)
		}
		change, plan, op := storetest.Change(job), l.NextPlan+journal.PlanID(i), l.NextOp+hypervisor.OpID(2*i)
		change.Ended = storetest.Start
		call := func(op hypervisor.OpID) journal.Intent {
			return journal.Intent{Call: hypervisor.Call{Op: op, VM: cluster.VMID{VJob: job.ID}}, Plan: plan, Epoch: l.Epoch, At: storetest.Start}
		}
		err := d.Commit(tb.Context(), journal.Step{
			VJobs:   []journal.VJobChange{change},
			Plans:   []journal.Plan{{ID: plan, At: storetest.Start, State: journal.PlanDone, Ended: storetest.Start}},
			Intents: []journal.Intent{call(op), call(op + 1)}, Results: []journal.Result{{Op: op}, {Op: op + 1}},
			Usage:  []journal.Usage{{VJob: job.ID, Running: time.Duration(i) * time.Second, CPU: time.Second, MemorySec: 1}},
			Events: []journal.Event{storetest.StateEvent(job), {At: storetest.Start, Kind: journal.EventAlarm, VJob: live.ID, Plan: plan}},
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// prune deletes until nothing is left.
func prune(ctx context.Context, d *db.DB, h journal.Horizon) (sum journal.Pruned, err error) {
	for done, err := range d.Prune(ctx, h) {
		if err != nil {
			return sum, err
		}
		sum = sum.Plus(done)
	}
	return sum, nil
}

// A database of the first schema is pruned like any other.
func TestPruneAfterMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	old(t, path, 1)
	d := openDB(t, path)
	sum := must[journal.Pruned](t)(prune(t.Context(), d, all))
	if want := (journal.Pruned{Events: 18, Calls: 18, Plans: 9, VJobs: 9}); sum != want {
		t.Errorf("pruned %+v, want %+v", sum, want)
	}
	want := []journal.Total{{Owner: "alice", RunningSec: 20, CPUSec: 5, MemorySec: 5}, {Owner: "bob", RunningSec: 16, CPUSec: 4, MemorySec: 4}}
	if diff := cmp.Diff(want, must[[]journal.Total](t)(d.Totals(t.Context()))); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	for _, table := range []string{"vjobs", "specs", "vms", "gangs", "closed_accounts", "accounts", "idempotency_keys", "plans", "plan_skews", "intents"} {
		want := map[string]int{"vjobs": 1, "specs": 1, "vms": 1, "gangs": 1, "closed_accounts": 9}[table]
		var got int
		if err := d.Query(t.Context(), "SELECT count(*) FROM "+table, &got); err != nil || got != want {
			t.Errorf("%d rows in %s, want %d, %v", got, table, want, err)
		}
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// Triggers protect the log of live vjobs, also before the horizon.
func TestLogOfTheLivingIsKept(t *testing.T) {
	d := newDB(t)
	age(t, d, 3, 1)
	if _, err := prune(t.Context(), d, all); err != nil {
		t.Fatal(err)
	}
	before := counts(t, d)
	for _, query := range []string{"DELETE FROM events", "DELETE FROM events WHERE vjob = 1", "UPDATE events SET text = ''"} {
		if err := d.Exec(t.Context(), query); err == nil {
			t.Errorf("%s: no error", query)
		}
	}
	if after := counts(t, d); after != before || before.Events != 4 {
		t.Errorf("%+v, then %+v", before, after)
	}
}

func TestCheckFindsLostEvents(t *testing.T) {
	d := newDB(t)
	age(t, d, 3, 1)
	if _, err := prune(t.Context(), d, journal.Horizon{Events: storetest.EndOfTime}); err != nil {
		t.Fatal(err)
	}
	err := errors.Join(
		d.Exec(t.Context(), "DROP TRIGGER events_are_kept"),
		d.Exec(t.Context(), "DELETE FROM events WHERE vjob = 1"),
	)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, d.Check(t.Context()), "vjob 1", "not in the log")
}

// TestKillWhilePruning kills a pruning daemon repeatedly until nothing is left to prune: only
// old history is deleted, and the sums stay.
func TestKillWhilePruning(t *testing.T) {
	const ended = 1500
	seed := number(t, "VJOB_DB_SEED", time.Now().UnixNano())
	t.Logf("VJOB_DB_SEED=%d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	path := filepath.Join(t.TempDir(), "vjob.db")
	d := must[*db.DB](t)(db.Open(path))
	age(t, d, ended, 2)
	totals := must[[]journal.Total](t)(d.Totals(t.Context()))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for done := false; !done; kills++ {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childVariable+"="+path, pruneVariable+"=yes")
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		// Longer with each kill, so that the prune completes on a slow machine too.
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(10+kills)))*2*time.Millisecond, func() { _ = child.Process.Kill() })
		done = child.Wait() == nil
		timer.Stop()
		d := must[*db.DB](t)(db.Open(path))
		if err := d.Check(t.Context()); err != nil {
			t.Fatalf("kill %d: %v", kills, err)
		}
		if diff := cmp.Diff(totals, must[[]journal.Total](t)(d.Totals(t.Context()))); diff != "" {
			t.Fatalf("kill %d: totals (-want +got):\n%s", kills, diff)
		}
		l := loaded(t, d)
		if len(l.VJobs) != 1 || l.NextPlan != ended+1 || l.NextOp != 2*ended+1 {
			t.Fatalf("kill %d: %d live vjobs, next plan %d, next call %d", kills, len(l.VJobs), l.NextPlan, l.NextOp)
		}
		if n := counts(t, d); done && n != (journal.Pruned{Events: 1 + ended, VJobs: 1}) {
			t.Errorf("left: %+v", n)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills", kills-1)
}

// pruneChild prunes until nothing is left or it is killed.
func pruneChild(path string) error {
	d, err := db.Open(path)
	if err != nil {
		return err
	}
	_, err = prune(context.Background(), d, all)
	return errors.Join(err, d.Close())
}

// BenchmarkPrune measures the deletion of events, and of the history of ended vjobs of 4 VMs,
// each with a plan, two calls and three events. Its other figures are of concurrent
// submissions.
func BenchmarkPrune(b *testing.B) {
	b.Run("events=100000", func(b *testing.B) {
		events := make([]journal.Event, 1000)
		for i := range events {
			events[i] = journal.Event{At: storetest.Start, Kind: journal.EventNode, Node: "n1", Text: "node n1 does not answer: no route"}
		}
		benchmarkPrune(b, journal.Pruned{Events: 100_000}, func(d *db.DB) {
			for range 100 {
				if err := d.Commit(b.Context(), journal.Step{Events: events}); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	b.Run("vjobs=20000", func(b *testing.B) {
		const n = 20_000
		want := journal.Pruned{Events: 2 * n, Calls: 2 * n, Plans: n, VJobs: n}
		benchmarkPrune(b, want, func(d *db.DB) { age(b, d, n, 4) })
	})
}

func benchmarkPrune(b *testing.B, want journal.Pruned, fill func(*db.DB)) {
	b.Helper()
	var waited []time.Duration
	for b.Loop() {
		b.StopTimer()
		d := newDB(b)
		fill(d)
		stop, answer := make(chan struct{}), make(chan []time.Duration)
		go func() { answer <- submitMeanwhile(b, d, stop) }()
		b.StartTimer()
		sum, err := prune(b.Context(), d, all)
		b.StopTimer()
		close(stop)
		waited = append(waited, <-answer...)
		if err != nil || sum != want {
			b.Fatalf("%+v, %v", sum, err)
		}
		b.StartTimer()
	}
	slices.Sort(waited)
	b.ReportMetric(float64(waited[len(waited)/2].Microseconds())/1000, "ms-p50-submit")
	b.ReportMetric(float64(waited[len(waited)*99/100].Microseconds())/1000, "ms-p99-submit")
}

func submitMeanwhile(b *testing.B, d *db.DB, stop <-chan struct{}) (waited []time.Duration) {
	b.Helper()
	for {
		began := time.Now()
		if _, _, err := d.Submit(b.Context(), storetest.Submission("", 4)); err != nil {
			b.Error(err)
			return waited
		}
		waited = append(waited, time.Since(began))
		select {
		case <-stop:
			return waited
		case <-time.After(time.Millisecond):
		}
	}
}
