// Package storetest is the contract of scheduler.Store as tests, which package db passes.
package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// Store is what the contract tests.
type Store interface {
	scheduler.Store
	SaveNodes(ctx context.Context, declared []cluster.Node) (undeclared []cluster.NodeID, err error)
}

// World is a store under test, with functions to inspect and restart it.
type World struct {
	Store
	Reopen func() Store // closes the store and opens it again
	Events func(after int64) []journal.Event
	Kept   func(id cluster.VJobID) journal.Kept
	Plan   func(id journal.PlanID) journal.PlanDetail
	Counts func() journal.Pruned // how many of each are stored
	Totals func() []journal.Total
	Energy func(f journal.EnergyFilter) []journal.EnergyRow
	Report func(f journal.ReportFilter) journal.Report
	Alarms func(f journal.AlarmFilter) []journal.Alarm
	Check  func() error // compares the log with the tables
}

// Run runs the contract; open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) *World) {
	t.Helper()
	cases := []struct {
		name string
		test func(t *testing.T, w *World)
	}{
		{"an empty store", testEmpty},
		{"a submission comes back whole", testSubmission},
		{"an idempotency key makes one vjob", testKeys},
		{"a name is unique among live vjobs", testNames},
		{"an array is one submission", testArray},
		{"the name of an array is unique too", testNamesOfArrays},
		{"what one owner may have at once", testAllowed},
		{"simultaneous submissions do not exceed it together", testAllowedAtOnce},
		{"another walltime", testWalltimes},
		{"dependencies", testDependencies},
		{"dependencies on what is not there", testBadDependencies},
		{"what became of those that are waited for", testPast},
		{"prune keeps dependencies of live vjobs", testPruneAwaited},
		{"another attempt", testAttempts},
		{"another attempt that is taken back", testAttemptUndone},
		{"another shape", testShapes},
		{"bad submissions", testBadSubmissions},
		{"a vjob changes by versions", testVersions},
		{"terminal is terminal", testTerminal},
		{"a gang comes back whole", testGang},
		{"a gang must fit its vjob", testBadGang},
		{"images are left by a vjob that has ended", testLeft},
		{"intents and results", testIntents},
		{"an old epoch intends nothing", testEpoch},
		{"plans", testPlans},
		{"accounts add up", testUsage},
		{"how long actions took, in order and for a while", testDurations},
		{"charges add up by the hour, and go", testCharges},
		{"nodes", testNodes},
		{"the power of nodes", testPower},
		{"rules of the cluster", testRules},
		{"power budgets", testBudgets},
		{"prices of energy", testPrices},
		{"pools", testPools},
		{"a vjob is moved to another pool", testMoves},
		{"another mode of moves", testMoveModes},
		{"what nodes have drawn", testDrawn},
		{"what was drawn by the hour", testEnergyHours},
		{"what was used by the hour, and runs that were lost", testUsageHours},
		{"alarms", testAlarms},
		{"a step is all or nothing", testAtomic},
		{"what is unknown is refused", testUnknown},
		{"numbers are never reused", testNumbers},
		{"the event log tells the states", testReplay},
		{"old history goes, what is live or open stays", testPrune},
		{"history goes in batches", testPruneBatches},
		{"what is large goes alone", testPruneLarge},
		{"keys and names after the history has gone", testPruneKeys},
		{"numbers after the history has gone", testPruneNumbers},
		{"a log without its beginning", testPruneLog},
		{"no horizon", testNoHorizon},
		{"a cancelled context writes nothing", testCancelled},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// Start is when the tests begin.
var Start = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

// Submission is a vjob of n VMs of alice's.
func Submission(name string, n int) admission.Submission {
	s := admission.Submission{Owner: "alice", Name: name, At: Start, Walltime: time.Hour, Priority: 3}
	for rank := range n {
		s.VMs = append(s.VMs, cluster.VM{
			Reserved: cluster.Resources{CPU: 500 + cluster.MilliCPU(rank), Memory: 512},
			Payload:  &cluster.Payload{Image: "debian", Command: []string{"run", name}, Env: map[string]string{"A": "b"}},
		})
	}
	return s
}

// same fails the test if got differs from want. Empty and nil lists are the same.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func isError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

func (w *World) load(t *testing.T) journal.Loaded {
	t.Helper()
	l, err := w.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (w *World) submit(t *testing.T, s admission.Submission) *cluster.VJob {
	t.Helper()
	job, created, err := w.Submit(t.Context(), s)
	if err != nil || !created {
		t.Fatalf("submit %q: created %t, %v", s.Name, created, err)
	}
	return job
}

func (w *World) commit(t *testing.T, step journal.Step) {
	t.Helper()
	if err := w.Commit(t.Context(), step); err != nil {
		t.Fatal(err)
	}
}

func (w *World) reopen() { w.Store = w.Reopen() }

// become moves a vjob to a state as the loop does, with the change and its event in one step.
func (w *World) become(t *testing.T, job *cluster.VJob, next cluster.State) {
	t.Helper()
	if err := job.Become(next, cluster.Because("test")); err != nil {
		t.Fatal(err)
	}
	w.commit(t, journal.Step{VJobs: []journal.VJobChange{Change(job)}, Events: []journal.Event{StateEvent(job)}})
}

// Change is a change to the current state of a vjob.
func Change(job *cluster.VJob) journal.VJobChange {
	return journal.VJobChange{ID: job.ID, State: job.State, Held: job.Held, Cause: job.Cause, Version: job.Version}
}

// StateEvent is the event of the current state of a vjob.
func StateEvent(job *cluster.VJob) journal.Event {
	return journal.Event{At: Start, Kind: journal.EventState, VJob: job.ID, State: job.State.String(), Text: "state", Cause: job.Cause}
}

// emptyGang is the gang of a vjob that was never touched.
func emptyGang(id cluster.VJobID, n int) gang.Record {
	return gang.Record{VJob: id, Since: Start, Members: make([]gang.Member, n)}
}
