package memory_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/db/memory"
	"vjob/db/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *storetest.World {
		t.Helper()
		s := &memory.Store{}
		return &storetest.World{
			Store:  s,
			Reopen: func() storetest.Store { return s },
			Events: s.Events,
			Kept: func(id cluster.VJobID) journal.Kept {
				kept, ok := s.VJob(id)
				if !ok {
					t.Fatalf("vjob %s is not kept", id)
				}
				return kept
			},
			Plan: func(id journal.PlanID) journal.PlanDetail {
				plans := s.Plans()
				return plans[slices.IndexFunc(plans, func(p journal.PlanDetail) bool { return p.ID == id })]
			},
			Counts: func() journal.Pruned {
				return journal.Pruned{
					Events: len(s.Events(0)), Calls: len(s.Intents()), Plans: len(s.Plans()), VJobs: len(s.VJobs()),
					Charges: len(s.Charges()), Energy: s.Hours(),
				}
			},
			Totals: s.Totals, Energy: s.Energy, Check: s.Check,
		}
	})
}

func TestFailNext(t *testing.T) {
	lost := fmt.Errorf("%w (injected)", memory.ErrWritten)
	broken := errors.New("disk broken")
	for _, c := range []struct {
		name    string
		fail    error
		written int
	}{{"not written", broken, 0}, {"written, reply lost", lost, 1}} {
		t.Run(c.name, func(t *testing.T) {
			s := &memory.Store{FailNext: func() error { return c.fail }}
			if _, _, err := s.Submit(t.Context(), storetest.Submission("x", 1)); !errors.Is(err, c.fail) {
				t.Errorf("submit: %v", err)
			}
			alarm := journal.Step{Events: []journal.Event{{Kind: journal.EventAlarm}}}
			if err := s.Commit(t.Context(), alarm); !errors.Is(err, c.fail) {
				t.Errorf("commit: %v", err)
			}
			if _, err := s.Load(t.Context()); !errors.Is(err, c.fail) {
				t.Errorf("load: %v", err)
			}
			if n := len(s.Events(0)); n != 2*c.written {
				t.Errorf("%d events were written, want %d", n, 2*c.written)
			}
			if s.Epoch() != int64(c.written) {
				t.Errorf("epoch %d", s.Epoch())
			}
		})
	}
}

func TestCloneIsIndependent(t *testing.T) {
	a := &memory.Store{}
	job, _, err := a.Submit(t.Context(), storetest.Submission("x", 2))
	if err != nil {
		t.Fatal(err)
	}
	b := a.Clone()
	if err := job.Become(cluster.Booting, cluster.Because("chosen")); err != nil {
		t.Fatal(err)
	}
	step := journal.Step{VJobs: []journal.VJobChange{storetest.Change(job)}, Events: []journal.Event{storetest.StateEvent(job)}}
	if err := a.Commit(t.Context(), step); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Submit(t.Context(), storetest.Submission("y", 1)); err != nil {
		t.Fatal(err)
	}
	if s := b.VJobs()[0].State; s != cluster.Waiting {
		t.Errorf("the clone shows %s", s)
	}
	if n := len(a.VJobs()); n != 1 {
		t.Errorf("the original has %d vjobs", n)
	}
	if e := a.Events(1)[0]; e.Kind != journal.EventState {
		t.Errorf("the clone wrote %s into the original's log", e.Kind)
	}
}
