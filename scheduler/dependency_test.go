package scheduler_test

import (
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// waiter is a cluster with room, on which vjob 1 runs and vjob 2 waits on these terms.
func waiter(unmet cluster.Unmet, on ...cluster.Dependency) journal.Loaded {
	l := state(4, 1)
	l.VJobs[1].After, l.VJobs[1].Unmet = on, unmet
	l.Waits = []cluster.VJobID{2}
	return l
}

// When a vjob starts that waits for another, by how that one stands.
func TestDependencies(t *testing.T) {
	past := func(id cluster.VJobID, how cluster.Outcome, started bool) []journal.EndedVJob {
		return []journal.EndedVJob{{ID: id, Outcome: how, Started: started}}
	}
	const waits, starts, fails = cluster.Waiting, cluster.Booting, cluster.Failed
	for _, c := range []struct {
		name string
		on   cluster.Dependency
		past []journal.EndedVJob
		want cluster.State
		why  string
	}{
		{"to end well, and it runs", cluster.Dependency{On: 1}, nil, waits, "waits: for vjob 1 to end well"},
		{"to end, and it runs", cluster.Dependency{On: 1, When: cluster.AfterAny}, nil, waits, "for vjob 1 to end"},
		{"not to end well, and it runs", cluster.Dependency{On: 1, When: cluster.AfterNotOK}, nil, waits, "otherwise than well"},
		{"to start, and it runs", cluster.Dependency{On: 1, When: cluster.AfterStart}, nil, starts, ""},
		{"to end well, and it has", cluster.Dependency{On: 9}, past(9, cluster.Completed, true), starts, ""},
		{"to end well, and it was deleted", cluster.Dependency{On: 9}, past(9, cluster.Deleted, true), fails, "vjob 9, for which it waits to end well, was deleted"},
		{"to end, and it failed", cluster.Dependency{On: 9, When: cluster.AfterAny}, past(9, cluster.Broken, true), starts, ""},
		{"not to end well, and it was overdue", cluster.Dependency{On: 9, When: cluster.AfterNotOK}, past(9, cluster.WalltimeExceeded, true), starts, ""},
		{"not to end well, and it has", cluster.Dependency{On: 9, When: cluster.AfterNotOK}, past(9, cluster.Completed, true), fails, "vjob 9, for which it waits to end otherwise than well, has ended well"},
		{"to start, and it never did", cluster.Dependency{On: 9, When: cluster.AfterStart}, past(9, cluster.Deleted, false), fails, "to start, was deleted"},
		{"of one that is tried again", cluster.Dependency{On: 9}, []journal.EndedVJob{{ID: 9, Outcome: cluster.Broken, Again: true}}, waits, "next attempt of vjob 9"},
		{"of one of which the next attempt runs", cluster.Dependency{On: 9}, []journal.EndedVJob{{ID: 9, Outcome: cluster.Broken, Again: true, Next: 1}}, waits, "vjob 1 to end well"},
		{"of one of which the next attempt did well", cluster.Dependency{On: 8}, []journal.EndedVJob{
			{ID: 8, Outcome: cluster.Broken, Again: true, Next: 9}, {ID: 9, Outcome: cluster.Completed},
		}, starts, ""},
	} {
		l := waiter(cluster.UnmetFails, c.on)
		l.Past = c.past
		r := mount(t, settings(), l)
		r.drain()
		got := r.core.Snapshot().VJob(2)
		if c.want == fails {
			if !r.failed(2, c.why) {
				t.Errorf("%s: it is %s (%s), want it to fail: %s", c.name, got.State, got.Reason, c.why)
			}
			continue
		}
		if got.State != c.want || !strings.Contains(got.Reason, c.why) {
			t.Errorf("%s: it is %s: %s; want %s: %s", c.name, got.State, got.Reason, c.want, c.why)
		}
	}
}

// failed reports whether a vjob has failed, for a reason.
func (r *rig) failed(id cluster.VJobID, why string) bool {
	for _, c := range r.changes {
		if c.ID == id && c.State == cluster.Failed && c.Outcome == cluster.Broken && strings.Contains(c.Cause.String(), why) {
			return true
		}
	}
	return false
}

// What becomes of a vjob of which a dependency can never be met is its owner's choice.
func TestUnmet(t *testing.T) {
	for unmet, want := range map[cluster.Unmet]cluster.State{
		cluster.UnmetHolds: cluster.Waiting, cluster.UnmetRuns: cluster.Booting,
	} {
		l := waiter(unmet, cluster.Dependency{On: 9})
		l.Past = []journal.EndedVJob{{ID: 9, Outcome: cluster.Deleted}}
		r := mount(t, settings(), l)
		r.drain()
		got := r.core.Snapshot().VJob(2)
		if got.State != want || got.Held != (unmet == cluster.UnmetHolds) || len(r.freed) != 1 {
			t.Errorf("%s: it is %s, held: %v, freed: %v: %s", unmet, got.State, got.Held, r.freed, got.Reason)
		}
		if unmet != cluster.UnmetHolds {
			continue
		}
		if err := r.core.VJobs.Order(r.now, 2, "release", "u"); err != nil {
			t.Fatal(err)
		}
		r.at(1e9)
		if got := r.core.Snapshot().VJob(2); got.State != cluster.Booting {
			t.Errorf("released by a user, it is %s: %s", got.State, got.Reason)
		}
	}
}

// The dependents of a failed vjob fail in the same step, however many they are.
func TestFailuresSpread(t *testing.T) {
	l := state(4, 30)
	l.Past = []journal.EndedVJob{{ID: 99, Outcome: cluster.Deleted}}
	for i, job := range l.VJobs[1:] {
		job.After = []cluster.Dependency{{On: job.ID - 1}}
		if i == 0 {
			job.After[0].On = 99
		}
		l.Waits = append(l.Waits, job.ID)
	}
	r := mount(t, settings(), l)
	r.drain()
	if left := r.core.Snapshot().VJobs.Len(); left != 1 {
		t.Errorf("%d vjobs are left, want the one that runs", left)
	}
}

// A dependency on an array asks all its vjobs.
func TestDependenciesOnArrays(t *testing.T) {
	member := func(id cluster.VJobID, how cluster.Outcome) journal.EndedVJob {
		return journal.EndedVJob{ID: id, Array: 90, Outcome: how, Started: how == cluster.Completed}
	}
	for _, c := range []struct {
		name  string
		when  cluster.Condition
		alive bool // vjob 1 is of the array, and runs
		past  []journal.EndedVJob
		want  string // the state, or why it failed
	}{
		{"one runs", cluster.AfterOK, true, []journal.EndedVJob{member(91, cluster.Completed)}, "waiting"},
		{"all well", cluster.AfterOK, false, []journal.EndedVJob{member(91, cluster.Completed), member(92, cluster.Completed)}, "booting"},
		{"one deleted", cluster.AfterOK, true, []journal.EndedVJob{member(91, cluster.Deleted)}, "vjob 91 of array 90, for which it waits to end well, was deleted"},
		{"one is tried again", cluster.AfterOK, false, []journal.EndedVJob{{ID: 91, Array: 90, Outcome: cluster.Broken, Again: true}}, "waiting"},
		{"the next attempt did well", cluster.AfterOK, false, []journal.EndedVJob{
			{ID: 91, Array: 90, Outcome: cluster.Broken, Again: true, Next: 92}, member(92, cluster.Completed),
		}, "booting"},
		{"all ended", cluster.AfterAny, false, []journal.EndedVJob{member(91, cluster.Deleted), member(92, cluster.Completed)}, "booting"},
		{"all started", cluster.AfterStart, true, []journal.EndedVJob{member(91, cluster.Completed)}, "booting"},
		{"one never started", cluster.AfterStart, true, []journal.EndedVJob{member(91, cluster.Deleted)}, "to start, was deleted"},
		{"one ended badly, one runs", cluster.AfterNotOK, true, []journal.EndedVJob{member(91, cluster.Deleted)}, "waiting"},
		{"one ended badly, none runs", cluster.AfterNotOK, false, []journal.EndedVJob{member(91, cluster.Deleted), member(92, cluster.Completed)}, "booting"},
		{"all ended well", cluster.AfterNotOK, false, []journal.EndedVJob{member(92, cluster.Completed)}, "vjob 92 of array 90, for which it waits to end otherwise than well, has ended well"},
	} {
		l := waiter(cluster.UnmetFails, cluster.Dependency{On: 90, When: c.when, Array: true})
		l.Past = c.past
		if c.alive {
			l.VJobs[0].Array, l.VJobs[0].Index = 90, 1
		}
		r := mount(t, settings(), l)
		r.drain()
		got := r.core.Snapshot().VJob(2)
		if got.State.String() != c.want && !r.failed(2, c.want) {
			t.Errorf("%s, %s: it is %s: %s; want %s", c.name, c.when, got.State, got.Reason, c.want)
		}
	}
}

// The next attempt takes the place of the one that failed, for those that wait as well.
func TestAgain(t *testing.T) {
	l := waiter(cluster.UnmetFails, cluster.Dependency{On: 9})
	l.Past = []journal.EndedVJob{{ID: 9, Outcome: cluster.Broken, Again: true}}
	r := mount(t, settings(), l)
	r.drain()
	next := l.VJobs[0].Clone()
	next.ID, next.Replaces, next.State, next.Held, next.After = 10, 9, cluster.Waiting, true, []cluster.Dependency{{On: 7}}
	for rank := range next.VMs {
		next.VMs[rank].ID.VJob = next.ID
	}
	r.core.VJobs.Again(r.now, next)
	r.at(1e9)
	s := r.core.Snapshot()
	if s.VJob(10).Reason != "is held" || s.VJob(2).State != cluster.Waiting || !strings.Contains(s.VJob(2).Reason, "for vjob 10 to end well") {
		t.Errorf("the next attempt: %q; its dependent: %q", s.VJob(10).Reason, s.VJob(2).Reason)
	}
}
