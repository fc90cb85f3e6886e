package scheduler_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
	"vjob/tests/simstore"
)

// sweep is a cluster of 16 CPU, of which 4 are used by vjob 1, and array 2 of six
// vjobs of 2 CPU.
func sweep(atOnce int) journal.Loaded {
	l := state(4, 6)
	for i, job := range l.VJobs[1:] {
		job.Array, job.Index, job.MaxConcurrent = 2, i+1, atOnce
	}
	return l
}

// states counts the vjobs of array 2 by state.
func (r *rig) states() map[cluster.State]int {
	n := map[cluster.State]int{}
	for id, s := range r.core.Snapshot().VJobs.All() {
		if id > 1 {
			n[s.State]++
		}
	}
	return n
}

// No more of an array begin than its owner wants at once, and those that may not say why.
func TestAtOnce(t *testing.T) {
	for atOnce, want := range map[int]int{0: 6, 1: 1, 2: 2, 5: 5, 9: 6} {
		r := mount(t, settings(), sweep(atOnce))
		r.drain()
		if got := r.states(); got[cluster.Booting] != want {
			t.Errorf("at once %d: %v, want %d that boot", atOnce, got, want)
		}
		if atOnce == 2 {
			if got := r.core.Snapshot().VJob(4).Reason; !strings.Contains(got, "array 2 runs 2 of its vjobs at once") {
				t.Errorf("why it waits: %q", got)
			}
		}
	}
}

// One that is held leaves its place to the next.
func TestAtOnceAndHeld(t *testing.T) {
	l := sweep(2)
	l.VJobs[1].Held = true
	r := mount(t, settings(), l)
	r.drain()
	s := r.core.Snapshot()
	if s.VJob(2).State != cluster.Waiting || s.VJob(3).State != cluster.Booting || s.VJob(4).State != cluster.Booting || s.VJob(5).State != cluster.Waiting {
		t.Errorf("got %v", r.states())
	}
}

// An order to an array reaches those to which it applies, in one step.
func TestOrderArray(t *testing.T) {
	r := mount(t, settings(), sweep(2))
	r.drain()
	order := func(array cluster.VJobID, order scheduler.Order) error {
		_, err := (&scheduler.ArrayOrder{Array: array, Order: order, By: "u"}).Step(r.core.VJobs, r.now)
		return err
	}
	if err := order(2, scheduler.OrderHold); err != nil {
		t.Fatal(err)
	}
	if changed := r.core.Flush(r.now).Step.VJobs; len(changed) != 4 {
		t.Errorf("%d vjobs were changed, want the 4 that wait", len(changed))
	}
	err := order(2, scheduler.OrderHold)
	if err != nil {
		t.Errorf("held again: %v", err)
	}
	if err := order(2, scheduler.OrderDelete); err != nil {
		t.Fatal(err)
	}
	r.drain()
	if got := r.states(); got[cluster.Stopping] != 2 || len(got) != 1 {
		t.Errorf("after the deletion: %v, want 2 that stop and no others", got)
	}
	if err := order(2, scheduler.OrderRelease); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("release of those that stop: %v", err)
	}
	if err := order(7, scheduler.OrderHold); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("not an array: %v", err)
	}
}

// stepStore remembers how many vjobs the largest commit has changed.
type stepStore struct {
	*simstore.Store
	largest int
}

func (s *stepStore) Commit(ctx context.Context, step journal.Step) error {
	s.largest = max(s.largest, len(step.VJobs))
	return s.Store.Commit(ctx, step)
}

// A large array is deleted in steps, so that others are not held up, and is gone as a whole
// when the answer comes.
func TestALargeArrayIsDeletedInSteps(t *testing.T) {
	in(t, func(p *plant) {
		steps := &stepStore{Store: p.store}
		p.restart(steps)
		s := admission.Submission{Owner: "u", Held: true, Array: make([]string, 1800), VMs: []cluster.VM{{Reserved: cluster.Resources{CPU: 1, Memory: 1}}}}
		first, _, err := p.loop.Requests.Submit(p.t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.loop.Requests.OrderArray(p.t.Context(), first.ID, scheduler.OrderDelete, "u"); err != nil {
			t.Fatal(err)
		}
		for id := first.ID; id < first.ID+1800; id++ {
			if got := p.state(id); got != cluster.Terminated {
				t.Fatalf("vjob %s is %s", id, got)
			}
		}
		if steps.largest > 500 {
			t.Errorf("one step changed %d vjobs, want at most 500", steps.largest)
		}
	})
}
