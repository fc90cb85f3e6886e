package db_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db"
	"vjob/tests/storetest"
)

// reportWorld is a history in the database, and the same as plain values.
type reportWorld struct {
	vjobs []reportVJob
	uses  []journal.UsageHour
	lost  []lostRun
}

type reportVJob struct {
	id                        int64
	owner, project, queue     string
	outcome                   cluster.Outcome
	submitted, started, ended time.Time // zero: not yet
	running                   time.Duration
	millijoules               int64 // all in the hour of its start
}

type lostRun struct {
	vjob    int64
	at      time.Time
	cause   cluster.CauseKind
	running time.Duration
	cpu     int64
}

// makeHistory writes a random history of n vjobs within two days.
func makeHistory(t *testing.T, d *db.DB, rng *rand.Rand, n int) *reportWorld {
	t.Helper()
	w := &reportWorld{}
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	first := storetest.Start.UTC().Truncate(24 * time.Hour)
	for range n {
		job := submitted(t)(d.Submit(t.Context(), storetest.Submission("", 1)))
		v := reportVJob{id: int64(job.ID), owner: pick("ann", "bob", "eve"), project: pick("", "p"), queue: pick("short", "long")}
		v.submitted = first.Add(time.Duration(rng.IntN(40*3600)) * time.Second)
		if rng.IntN(8) > 0 {
			v.started = v.submitted.Add(time.Duration(rng.IntN(7200)) * time.Second)
			v.running = time.Duration(1+rng.IntN(5000)) * time.Second
			hour := v.started.Truncate(time.Hour)
			for range 1 + rng.IntN(3) {
				u := journal.UsageHour{Hour: hour, VJob: job.ID, Node: cluster.NodeID(pick("n1", "n2", "n3")), Reserved: rng.Int64N(1e7), Used: rng.Int64N(1e6), MemoryTime: rng.Int64N(1e6)}
				w.uses, hour = append(w.uses, u), hour.Add(time.Hour)
			}
			v.millijoules = rng.Int64N(1e9)
			if rng.IntN(4) == 0 {
				w.lost = append(w.lost, lostRun{v.id, v.started.Add(time.Hour), []cluster.CauseKind{cluster.CauseLost, cluster.CauseOrder, cluster.CausePreempted}[rng.IntN(3)], v.running / 2, rng.Int64N(1e6)})
			}
		}
		state := "waiting"
		switch {
		case rng.IntN(4) > 0 && !v.started.IsZero():
			v.outcome, v.ended, state = []cluster.Outcome{cluster.Completed, cluster.Broken, cluster.WalltimeExceeded}[rng.IntN(3)], v.started.Add(v.running+time.Duration(rng.IntN(3))*time.Hour), "terminated"
		case v.started.IsZero() && rng.IntN(2) == 0:
			v.outcome, v.ended, state = cluster.Deleted, v.submitted.Add(time.Hour), "terminated"
		}
		w.write(t, d, &v, state)
		w.vjobs = append(w.vjobs, v)
	}
	for _, u := range w.uses {
		if err := d.Commit(t.Context(), journal.Step{UsageHours: []journal.UsageHour{u}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range w.lost {
		runSQL(t, d, "INSERT INTO discarded_runs (vjob, at_ns, cause, running_ns, cpu_milliseconds) VALUES (?, ?, ?, ?, ?)", l.vjob, l.at.UnixNano(), string(l.cause), int64(l.running), l.cpu)
	}
	return w
}

func runSQL(tb testing.TB, d *db.DB, query string, args ...any) {
	tb.Helper()
	if err := d.Exec(tb.Context(), query, args...); err != nil {
		tb.Fatal(err)
	}
}

func (w *reportWorld) write(t *testing.T, d *db.DB, v *reportVJob, state string) {
	t.Helper()
	at := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t.UnixNano()
	}
	runSQL(t, d, "UPDATE vjobs SET owner = ?, project = ?, queue = ?, outcome = ?, submitted_ns = ?, started_ns = ?, ended_ns = ?, state = ? WHERE id = ?",
		v.owner, v.project, v.queue, v.outcome.String(), at(v.submitted), at(v.started), at(v.ended), state, v.id)
	if v.running > 0 {
		u := journal.Usage{VJob: cluster.VJobID(v.id), Running: v.running}
		h := journal.VJobHour{Hour: v.started.Truncate(time.Hour), VJob: u.VJob, Owner: v.owner, Project: v.project, Queue: v.queue, Millijoules: v.millijoules}
		if err := d.Commit(t.Context(), journal.Step{Usage: []journal.Usage{u}, VJobHours: []journal.VJobHour{h}}); err != nil {
			t.Fatal(err)
		}
	}
}

// report is what [db.DB.Report] should say, by the shortest code.
func (w *reportWorld) report(f journal.ReportFilter) (rows []journal.ReportRow) {
	for p := range len(f.Borders) - 1 {
		from, to := f.Borders[p], f.Borders[p+1]
		within := func(at time.Time) bool { return !at.Before(from) && at.Before(to) }
		groups := map[string]*journal.ReportRow{}
		waits, slow := map[string][]time.Duration{}, map[string][]float64{}
		for i := range w.vjobs {
			v := &w.vjobs[i]
			if f.User != "" && v.owner != f.User || f.Project != "" && v.project != f.Project || f.Queue != "" && v.queue != f.Queue {
				continue
			}
			for _, node := range w.nodesOf(v.id, slices.Contains(f.By, journal.ReportNode)) {
				keys := []string{}
				for _, k := range f.By {
					keys = append(keys, map[journal.ReportKey]string{"user": v.owner, "project": v.project, "queue": v.queue, "outcome": v.outcome.String(), "node": node}[k])
				}
				id := fmt.Sprint(keys)
				row := groups[id]
				if row == nil {
					row = &journal.ReportRow{From: from, Until: to, Keys: keys, Outcomes: map[cluster.Outcome]int{}}
				}
				touched := false
				for _, u := range w.uses {
					if int64(u.VJob) == v.id && within(u.Hour) && (node == "" || string(u.Node) == node) {
						row.Reserved, row.Used, row.MemoryTime, touched = row.Reserved+u.Reserved, row.Used+u.Used, row.MemoryTime+u.MemoryTime, true
					}
				}
				if v.running > 0 && within(v.started.Truncate(time.Hour)) && node == "" {
					sum := v.millijoules
					if row.Energy != nil {
						sum += *row.Energy
					}
					row.Energy, touched = &sum, true
				}
				if !v.started.IsZero() && within(v.started) {
					row.Started, touched, waits[id] = row.Started+1, true, append(waits[id], v.started.Sub(v.submitted))
				}
				if !v.ended.IsZero() && within(v.ended) {
					row.Ended, touched = row.Ended+1, true
					row.Outcomes[v.outcome]++
					if v.running > 0 {
						slow[id] = append(slow[id], max(1, float64(v.ended.Sub(v.submitted))/float64(max(v.running, 10*time.Second))))
					}
				}
				for _, l := range w.lost {
					if l.vjob == v.id && within(l.at) {
						row.Lost.Runs, row.Lost.Running, row.Lost.Reserved, touched = row.Lost.Runs+1, row.Lost.Running+l.running, row.Lost.Reserved+l.cpu, true
						row.Lost.Losses += map[bool]int{true: 1}[l.cause == cluster.CauseLost]
						row.Lost.Requeues += map[bool]int{true: 1}[l.cause == cluster.CauseOrder]
					}
				}
				if touched {
					groups[id] = row
				}
			}
		}
		rows = append(rows, finished(groups, waits, slow)...)
	}
	return rows
}

// nodesOf are the nodes on which a vjob ran; one without a name if nodes do not matter.
func (w *reportWorld) nodesOf(id int64, matter bool) (list []string) {
	if !matter {
		return []string{""}
	}
	for _, u := range w.uses {
		if int64(u.VJob) == id && !slices.Contains(list, string(u.Node)) {
			list = append(list, string(u.Node))
		}
	}
	return list
}

// finished are the groups of one period with their distributions, in order.
func finished(groups map[string]*journal.ReportRow, waits map[string][]time.Duration, slow map[string][]float64) (rows []journal.ReportRow) {
	for id, row := range groups {
		if list := slices.Sorted(slices.Values(waits[id])); len(list) > 0 {
			sum := time.Duration(0)
			for _, x := range list {
				sum += x
			}
			n := len(list)
			row.Wait = &journal.Spread{Mean: sum / time.Duration(n), Median: list[(n+1)/2-1], P95: list[(n*95+99)/100-1], Max: list[n-1]}
		}
		if list := slices.Sorted(slices.Values(slow[id])); len(list) > 0 {
			sum := 0.0
			for _, x := range list {
				sum += x
			}
			row.Slowdown = &journal.SlowdownSpread{Mean: sum / float64(len(list)), Median: list[(len(list)+1)/2-1]}
		}
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(x, y journal.ReportRow) int {
		return cmp.Or(cmp.Compare(y.Reserved, x.Reserved), slices.Compare(x.Keys, y.Keys))
	})
	return rows
}

// A report says what a plain count of the same history says, by all keys, filters and periods.
func TestReportOfRandomHistories(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	first := storetest.Start.UTC().Truncate(24 * time.Hour)
	day := func(n int) time.Time { return first.AddDate(0, 0, n) }
	for round := range 5 {
		d := newDB(t)
		w := makeHistory(t, d, rng, 60)
		for _, f := range []journal.ReportFilter{
			{Borders: []time.Time{day(0), day(3)}},
			{Borders: []time.Time{day(0), day(1), day(2), day(3)}, By: []journal.ReportKey{journal.ReportUser, journal.ReportQueue}},
			{Borders: []time.Time{day(0), day(2)}, By: []journal.ReportKey{journal.ReportOutcome, journal.ReportProject}, Queue: "long"},
			{Borders: []time.Time{day(1), day(2)}, By: []journal.ReportKey{journal.ReportUser}, User: "ann", Project: "p"},
			{Borders: []time.Time{day(0), day(1), day(2)}, By: []journal.ReportKey{journal.ReportNode, journal.ReportUser}},
		} {
			got := must[journal.Report](t)(d.Report(t.Context(), f))
			near := cmpopts.EquateApprox(1e-9, 0)
			rounded := gocmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= 1 }) // means are floats in SQL
			if diff := gocmp.Diff(w.report(f), got.Rows, near, rounded, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("round %d, by %v (-want +got):\n%s", round, f.By, diff)
			}
			f.By, f.Borders = nil, []time.Time{f.Borders[0], f.Borders[len(f.Borders)-1]}
			if want := w.report(f); len(want) == 1 {
				if diff := gocmp.Diff(want[0], got.Total, near, rounded, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("round %d, total (-want +got):\n%s", round, diff)
				}
			}
		}
	}
}

// What vjobs used before an upgrade is unknown by the hour; what they use afterwards is known.
func TestReportAcrossAnUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vjob.db")
	old := must[*db.DB](t)(db.OpenWith(path, schemas(t, 21, nil)))
	first := storetest.Start.UTC().Truncate(24 * time.Hour)
	at := func(hours int) int64 { return first.Add(time.Duration(hours) * time.Hour).UnixNano() }
	runSQL(t, old, `INSERT INTO specs (spec, json) VALUES (1, '{"payloads":[{"image":"i"}],"vms":[[1000,1024,0]]}')`)
	for range 2 {
		runSQL(t, old, `INSERT INTO vjobs (owner, name, submitted_ns, priority, walltime_ns, state, held, cause, version, vm_count, cpu_milli, memory_mib, spec)
			VALUES ('ann', '', 1, 0, 0, 'waiting', 0, '', 0, 1, 1000, 1024, 1)`)
	}
	runSQL(t, old, "INSERT INTO gangs (vjob, phase, continuation, since_ns, incarnation, generation, restores, losses, cause, skew_ns) SELECT id, 'absent', '', 1, 0, 0, 0, 0, '', 0 FROM vjobs")
	runSQL(t, old, "UPDATE vjobs SET submitted_ns = ?1, started_ns = ?1, queue = 'q'", at(1))
	runSQL(t, old, "UPDATE vjobs SET state = 'terminated', outcome = 'completed', ended_ns = ? WHERE id = 1", at(3))
	runSQL(t, old, "INSERT INTO accounts (vjob, running_ns, crowded_ns, cpu_ns, wanted_ns, memory_mib_seconds, energy_joules) SELECT id, 3600000000000, 0, 5, 5, 5, 0 FROM vjobs")
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	d := openDB(t, path)
	for hour := 24; hour < 26; hour++ {
		step := journal.Step{
			Usage:      []journal.Usage{{VJob: 2, Running: time.Hour, Reserved: 3.6e6}},
			UsageHours: []journal.UsageHour{{Hour: time.Unix(0, at(hour)), VJob: 2, Node: "n", Reserved: 3.6e6}},
		}
		if err := d.Commit(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	lost := journal.DiscardedRun{VJob: 2, At: time.Unix(0, at(26)), Cause: cluster.CauseLost}
	if err := d.Commit(t.Context(), journal.Step{Discarded: []journal.DiscardedRun{lost}}); err != nil {
		t.Fatal(err)
	}
	r := must[journal.Report](t)(d.Report(t.Context(), journal.ReportFilter{Borders: []time.Time{first, first.AddDate(0, 0, 1), first.AddDate(0, 0, 2)}, By: []journal.ReportKey{journal.ReportQueue}}))
	if len(r.Rows) != 2 || r.Rows[0].UnknownUse != 2 || r.Rows[0].Reserved != 0 || r.Rows[0].Ended != 1 || r.Rows[0].Slowdown == nil {
		t.Errorf("the day before: %+v", r.Rows)
	}
	if after := r.Rows[1]; after.UnknownUse != 0 || after.Reserved != 7.2e6 || after.Lost.Runs != 1 || after.Lost.Unknown != 1 || after.Lost.Running != 3*time.Hour {
		t.Errorf("the day after: %+v", after)
	}
	if r.Total.UnknownUse != 2 || r.Total.Reserved != 7.2e6 {
		t.Errorf("in sum: %+v", r.Total)
	}
}

// Each lost run is what the vjob used since the one before; a vjob that has not run since leaves none.
func TestDiscardedRuns(t *testing.T) {
	d := newDB(t)
	job := submitted(t)(d.Submit(t.Context(), storetest.Submission("", 1)))
	commit := func(s journal.Step) {
		t.Helper()
		if err := d.Commit(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	day := storetest.Start.UTC().Truncate(24 * time.Hour)
	use := func(running time.Duration, ms int64) []journal.Usage {
		return []journal.Usage{{VJob: job.ID, Running: running, Reserved: ms}}
	}
	lost := func(minute int, cause cluster.CauseKind) []journal.DiscardedRun {
		return []journal.DiscardedRun{{VJob: job.ID, At: day.Add(time.Duration(minute) * time.Minute), Cause: cause}}
	}
	commit(journal.Step{Discarded: lost(1, cluster.CauseAborted)}) // it has not run
	commit(journal.Step{Usage: use(time.Hour, 100)})
	commit(journal.Step{Usage: use(time.Minute, 10), Discarded: lost(2, cluster.CauseOrder)})
	commit(journal.Step{Discarded: lost(3, cluster.CauseAborted)}) // nor since
	commit(journal.Step{Usage: use(time.Second, 1), Discarded: lost(4, cluster.CauseLost)})
	filter := journal.ReportFilter{Borders: []time.Time{day, day.AddDate(0, 0, 1)}}
	want := journal.LostWork{Runs: 2, Requeues: 1, Losses: 1, Running: time.Hour + time.Minute + time.Second, Reserved: 111}
	if got := must[journal.Report](t)(d.Report(t.Context(), filter)).Total.Lost; got != want {
		t.Errorf("lost %+v, want %+v", got, want)
	}
}

// The capacity of a period is what each node offered in it; before the first record it is unknown.
func TestReportOfCapacity(t *testing.T) {
	d := newDB(t)
	day := storetest.Start.UTC().Truncate(24 * time.Hour)
	at := func(hour int, node cluster.NodeID, cpu cluster.MilliCPU) journal.NodeCapacity {
		return journal.NodeCapacity{At: day.Add(time.Duration(hour) * time.Hour), Node: node, Has: cluster.Resources{CPU: cpu}}
	}
	err := d.Commit(t.Context(), journal.Step{Capacity: []journal.NodeCapacity{at(0, "a", 4000), at(0, "b", 2000), at(12, "b", 0), at(36, "b", 2000)}})
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded(t, d).Capacity; len(got) != 2 || got[1].Has.CPU != 2000 {
		t.Errorf("loaded %+v", got)
	}
	for n, want := range map[int]float64{0: 4*24 + 2*12, 1: 4*24 + 2*12, 2: 6 * 24} {
		from := day.AddDate(0, 0, n)
		r := must[journal.Report](t)(d.Report(t.Context(), journal.ReportFilter{Borders: []time.Time{from, from.AddDate(0, 0, 1)}}))
		if r.Total.CapacityTime == nil || float64(*r.Total.CapacityTime) != want*3.6e6 {
			t.Errorf("day %d: %v, want %g hours", n, r.Total.CapacityTime, want)
		}
	}
	r := must[journal.Report](t)(d.Report(t.Context(), journal.ReportFilter{Borders: []time.Time{day.AddDate(0, 0, -1), day}}))
	if r.Total.CapacityTime != nil {
		t.Errorf("before: %d", *r.Total.CapacityTime)
	}
}

// A report that waits for another one ends with its context.
func TestReportsWaitForEachOther(t *testing.T) {
	d := newDB(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	day := storetest.Start
	f := journal.ReportFilter{Borders: []time.Time{day, day.AddDate(0, 0, 1)}}
	if _, err := d.Report(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := d.Report(t.Context(), f); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
