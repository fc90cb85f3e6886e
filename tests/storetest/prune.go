package storetest

import (
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// EndOfTime is long after the start: everything before it is old.
var EndOfTime = Start.Add(1000 * time.Hour)

// everything is a horizon at one instant for all kinds of history.
func everything(before time.Time) journal.Horizon {
	return journal.Horizon{Events: before, Plans: before, VJobs: before}
}

// batch deletes one batch; empty reports that there was nothing to delete.
func (w *World) batch(t *testing.T, h journal.Horizon) journal.Pruned {
	t.Helper()
	before := w.Counts()
	for done, err := range w.Prune(t.Context(), h) {
		if err != nil {
			t.Fatal(err)
		}
		same(t, "counts", w.Counts().Plus(done), before)
		return done
	}
	return journal.Pruned{}
}

// prune deletes until nothing is left. After each batch it restarts, as after a crash, and
// checks the rest.
func (w *World) prune(t *testing.T, h journal.Horizon) (sum journal.Pruned, batches int) {
	t.Helper()
	for {
		done := w.batch(t, h)
		if done == (journal.Pruned{}) {
			return sum, batches
		}
		sum, batches = sum.Plus(done), batches+1
		w.reopen()
		if err := w.Check(); err != nil {
			t.Errorf("after batch %d, %+v: %v", batches, done, err)
		}
	}
}

// end ends a vjob at an instant, with an event of that time.
func (w *World) end(t *testing.T, job *cluster.VJob, at time.Time) {
	t.Helper()
	if err := job.Become(cluster.Terminated, cluster.Because("done")); err != nil {
		t.Fatal(err)
	}
	change, event := Change(job), StateEvent(job)
	change.Ended, event.At = at, at
	w.commit(t, journal.Step{VJobs: []journal.VJobChange{change}, Events: []journal.Event{event}})
}

// ended is a vjob that has ended, after it has used something.
func (w *World) ended(t *testing.T, name string, at time.Time) *cluster.VJob {
	t.Helper()
	job := w.submit(t, Submission(name, 2))
	w.commit(t, journal.Step{Usage: []journal.Usage{{VJob: job.ID, Running: time.Minute, CPU: time.Second, Wanted: 2 * time.Second, MemorySec: 7, Joules: 9}}})
	w.end(t, job, at)
	return job
}

// withImage is a gang record that still has an image.
func withImage(id cluster.VJobID) gang.Record {
	g := emptyGang(id, 2)
	g.Members[1].Image = &gang.Image{ID: hypervisor.ImageID{VM: cluster.VMID{VJob: id, Rank: 1}, Generation: 1, Attempt: 1}, Node: "n1"}
	return g
}

func testPrune(t *testing.T, w *World) {
	w.load(t)
	hour := func(n time.Duration) time.Time { return Start.Add(n * time.Hour) }
	old := w.ended(t, "old", hour(1))
	live := w.submit(t, Submission("live", 2))
	called, imaged, clearing := w.ended(t, "called", hour(1)), w.ended(t, "imaged", hour(1)), w.ended(t, "clearing", hour(1))
	phase := emptyGang(clearing.ID, 2)
	phase.Phase = gang.Clearing
	call := func(op hypervisor.OpID, plan journal.PlanID, vjob cluster.VJobID) journal.Intent {
		i := intent(op, plan, 1)
		i.Call.VM.VJob = vjob
		return i
	}
	w.commit(t, journal.Step{
		Gangs: []gang.Record{withImage(imaged.ID), phase},
		Plans: []journal.Plan{plan(1), plan(2), plan(3), plan(4), plan(5)},
		Intents: []journal.Intent{
			call(1, 1, old.ID), call(2, 2, old.ID), call(3, 3, live.ID), call(4, 3, live.ID), call(5, 0, called.ID), call(6, 0, 99), call(7, 4, 99),
		},
		Results: []journal.Result{{Op: 1}, {Op: 2}, {Op: 3}, {Op: 6}, {Op: 7}},
		Actions: []journal.ActionChange{{Plan: 1, Action: 0, State: journal.PlanDone, At: Start}},
		Skews:   []journal.SkewChange{{Plan: 1, VJob: 1, Kind: "pause", Skew: 1}},
		Closed: []journal.PlanChange{ // plan 2 runs, plan 3 has an open call, plan 4 is young, plan 5 runs without a call
			{ID: 1, State: journal.PlanDone, Ended: hour(1)},
			{ID: 3, State: journal.PlanFailed, Ended: hour(1)},
			{ID: 4, State: journal.PlanDropped, Ended: hour(9)},
		},
		Events: []journal.Event{
			{At: hour(2), Kind: journal.EventAlarm, VJob: live.ID, Text: "of a live vjob"},
			{At: hour(2), Kind: journal.EventNode, Node: "n1", Text: "of a node"},
		},
	})
	young := w.ended(t, "young", hour(9))
	w.commit(t, journal.Step{Events: []journal.Event{{At: hour(2), Kind: journal.EventNode, Node: "n1", Text: "by a clock that was set back"}}})
	before, totals, kept := w.load(t), w.Totals(), w.Kept(young.ID)
	sum, _ := w.prune(t, everything(hour(5)))
	// The log is deleted up to the first recent event, except the two events of the live vjob.
	same(t, "pruned", sum, journal.Pruned{Events: 10, Calls: 4, Plans: 1, VJobs: 1})
	after := w.load(t)
	before.Epoch, after.Epoch = 0, 0
	same(t, "what the scheduler knows", after, before)
	same(t, "totals", w.Totals(), totals)
	same(t, "a vjob that is kept", w.Kept(young.ID), kept)
	same(t, "left", w.Counts(), journal.Pruned{Events: len(w.Events(0)), Calls: 3, Plans: 4, VJobs: 5})

	// What prevented it ends: they are deleted.
	w.commit(t, journal.Step{
		Results: []journal.Result{{Op: 4}, {Op: 5}},
		Closed:  []journal.PlanChange{{ID: 2, State: journal.PlanDone, Ended: hour(9)}, {ID: 5, State: journal.PlanDone, Ended: hour(9)}},
		Gangs:   []gang.Record{emptyGang(imaged.ID, 2), emptyGang(clearing.ID, 2)},
	})
	w.end(t, live, hour(9))
	w.prune(t, everything(EndOfTime))
	same(t, "left at last", w.Counts(), journal.Pruned{})
	same(t, "totals at last", w.Totals(), totals)
}

func testPruneBatches(t *testing.T, w *World) {
	const n = 1203
	events := make([]journal.Event, n)
	for i := range events {
		events[i] = journal.Event{At: Start, Kind: journal.EventAlarm, VJob: 99, Text: "a stray machine"}
	}
	w.load(t)
	step := journal.Step{Events: events}
	for op := range hypervisor.OpID(n) {
		step.Intents = append(step.Intents, intent(op+1, 0, 1))
		step.Results = append(step.Results, journal.Result{Op: op + 1})
	}
	w.commit(t, step)
	sum, batches := w.prune(t, journal.Horizon{Events: EndOfTime})
	same(t, "events", sum, journal.Pruned{Events: n})
	same(t, "batches of events", batches, 3)
	var list []journal.Pruned
	for done, err := range w.Prune(t.Context(), everything(EndOfTime)) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, done)
	}
	same(t, "calls, without a break", list, []journal.Pruned{{Calls: 500}, {Calls: 500}, {Calls: 203}})
}

func testPruneLarge(t *testing.T, w *World) {
	for _, size := range []int{200, 700, 200, 250, 300} {
		job := w.submit(t, Submission("", size))
		w.end(t, job, Start)
	}
	left := 5
	for _, want := range []int{1, 1, 2, 1, 0} { // 200, 700, 200 and 250, 300
		same(t, "vjobs of a batch", w.batch(t, journal.Horizon{VJobs: EndOfTime}), journal.Pruned{VJobs: want})
		left -= want
		w.reopen()
		same(t, "left", w.Counts().VJobs, left)
		if err := w.Check(); err != nil {
			t.Error(err)
		}
	}
}

func testPruneKeys(t *testing.T, w *World) {
	s := Submission("keyed", 2)
	s.Key = "k"
	job := w.submit(t, s)
	for _, what := range []string{"before", "after"} {
		again, created, err := w.Submit(t.Context(), s)
		if err != nil || created || again.ID != job.ID {
			t.Fatalf("the key %s a prune: created %t, %v, %v", what, created, again, err)
		}
		_, _, err = w.Submit(t.Context(), Submission("keyed", 1))
		isError(t, "the name of a live vjob", err, cluster.ErrConflict)
		sum, _ := w.prune(t, everything(EndOfTime))
		same(t, "pruned", sum, journal.Pruned{})
	}
	w.end(t, job, Start)
	w.prune(t, everything(EndOfTime))
	if next := w.submit(t, s); next.ID == job.ID { // the key is forgotten with its vjob
		t.Errorf("number %s was given again", job.ID)
	}
	_, _, err := w.Submit(t.Context(), Submission("keyed", 1))
	isError(t, "the name of its next bearer", err, cluster.ErrConflict)
}

func testPruneNumbers(t *testing.T, w *World) {
	w.load(t)
	last := w.ended(t, "last", Start)
	w.commit(t, journal.Step{
		Plans:   []journal.Plan{plan(4)},
		Closed:  []journal.PlanChange{{ID: 4, State: journal.PlanDone, Ended: Start}},
		Intents: []journal.Intent{intent(8, 4, 1)}, Results: []journal.Result{{Op: 8}},
	})
	seq := w.Events(0)[1].Seq
	w.prune(t, everything(EndOfTime))
	same(t, "left", w.Counts(), journal.Pruned{})
	l := w.load(t)
	same(t, "next op", l.NextOp, hypervisor.OpID(9))
	same(t, "next plan", l.NextPlan, journal.PlanID(5))
	next := w.submit(t, Submission("next", 1))
	same(t, "next vjob", next.ID, last.ID+1)
	same(t, "next event", w.Events(0)[0].Seq, seq+1)
	isError(t, "usage of a vjob that was deleted",
		w.Commit(t.Context(), journal.Step{Usage: []journal.Usage{{VJob: last.ID, Running: 1}}}), cluster.ErrNotFound)
	isError(t, "its gang", w.Commit(t.Context(), journal.Step{Gangs: []gang.Record{emptyGang(last.ID, 2)}}), cluster.ErrNotFound)
	isError(t, "its change", w.Commit(t.Context(), journal.Step{VJobs: []journal.VJobChange{Change(last)}}), cluster.ErrNotFound)
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

func testPruneLog(t *testing.T, w *World) {
	a := w.ended(t, "a", Start.Add(time.Hour)) // events 1 and 2
	live := w.submit(t, Submission("live", 1)) // 3
	b := w.submit(t, Submission("b", 1))       // 4
	w.end(t, b, Start.Add(5*time.Hour))        // 5
	whole := w.Events(0)
	w.prune(t, journal.Horizon{Events: Start.Add(2 * time.Hour)})
	kept := []journal.Event{whole[2], whole[4]} // the end of b is young, its submission was not
	for after := range whole[2].Seq {
		same(t, "the log after a number that was deleted", w.Events(after), kept)
	}
	same(t, "after one that is kept", w.Events(3), kept[1:])
	same(t, "after one in between", w.Events(4), kept[1:])
	same(t, "after the last", w.Events(5), []journal.Event{})

	w.become(t, live, cluster.Booting)
	c := w.submit(t, Submission("c", 1))
	w.become(t, c, cluster.Booting)
	if err := w.Check(); err != nil {
		t.Error(err)
	}
	w.prune(t, journal.Horizon{VJobs: Start.Add(2 * time.Hour)})
	seqs := []int64{}
	for _, e := range w.Events(0) {
		seqs = append(seqs, e.Seq)
	}
	same(t, "the log at last", seqs, []int64{3, 5, 6, 7, 8})
	same(t, "vjobs at last", w.Counts().VJobs, 3)
	if kept := w.load(t).VJobs; slices.ContainsFunc(kept, func(j *cluster.VJob) bool { return j.ID == a.ID }) || len(kept) != 2 {
		t.Errorf("live vjobs: %v", kept)
	}
}

func testNoHorizon(t *testing.T, w *World) {
	w.ended(t, "a", Start)
	before := w.Counts()
	sum, _ := w.prune(t, journal.Horizon{})
	same(t, "pruned", sum, journal.Pruned{})
	same(t, "kept", w.Counts(), before)
}
