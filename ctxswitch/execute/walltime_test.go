package execute_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// timed has a vjob for each walltime run on a, which is not crowded.
func timed(t *testing.T, walltimes ...time.Duration) *harness {
	t.Helper()
	l := world()
	for i, wall := range walltimes {
		j := job(cluster.VJobID(i+1), 1, cluster.Running)
		j.Walltime = wall
		l.VJobs = append(l.VJobs, j)
		l.Gangs = append(l.Gangs, at(j.ID, gang.Active, "a"))
	}
	d := newHarness(t, settings(), l)
	for i := range d.copies["a"] {
		d.copies["a"][i].CPU = 100
	}
	d.settle()
	return d
}

// nextEnd is when the next walltime is over, after the start, or "never".
func (d *harness) nextEnd() string {
	at := d.exec.Walltimes.Next()
	if at.IsZero() {
		return "never"
	}
	return at.Sub(start).String()
}

// Walltimes end one after another, whatever the order in which they began; those of vjobs
// that have ended, do not run any more, or were given another one do not count.
func TestWalltimesEndInTurn(t *testing.T) {
	d := timed(t, 5*time.Minute, 2*time.Minute, 0, 4*time.Minute, 1, 3*time.Minute)
	if got, want := d.nextEnd(), "1ns"; got != want {
		t.Errorf("the next walltime ends after %s, want %s", got, want)
	}
	d.pass(time.Second)
	for _, c := range []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, "2m0s"},
		{func() error { return d.exec.Clear(d.now, 2, gang.ThenFail, cluster.Because("deleted")) }, "3m0s"},
		{func() error { return d.exec.Walltimes.Set(d.now, 6, 10*time.Minute, "stretched") }, "4m0s"},
		{func() error { return d.exec.Walltimes.Set(d.now, 4, 90*time.Second, "shortened") }, "1m30s"},
		{func() error { return d.exec.Walltimes.Set(d.now, 4, 0, "unlimited") }, "5m0s"},
		{func() error {
			d.adopt([]ctxGang{group(cluster.Pause, 1, 0)}, act(cluster.Pause, 1, 0, "a", "a"))
			return nil
		}, "10m0s"},
		{func() error { return d.exec.Clear(d.now, 6, gang.ThenFail, cluster.Because("deleted")) }, "never"},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		d.settle()
		d.obey()
		if got := d.nextEnd(); got != c.want {
			t.Errorf("the next walltime ends after %s, want %s", got, c.want)
		}
	}
}

// A walltime is over when the vjob has run for it, in order of vjobs; one that is being
// ended already is not named again.
func TestWalltimesThatAreOver(t *testing.T) {
	walltimes := make([]time.Duration, 12)
	for i := range walltimes {
		walltimes[i] = time.Minute
	}
	walltimes[1], walltimes[2] = 0, time.Hour
	d := timed(t, walltimes...)
	d.pass(time.Minute - time.Second)
	if got := d.exec.Walltimes.Overdue(); len(got) > 0 {
		t.Errorf("over are %v", got)
	}
	d.pass(time.Second)
	if err := d.exec.Clear(d.now, 4, gang.ThenExpire, cluster.Because("its walltime is over")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	if got, want := d.exec.Walltimes.Overdue(), []cluster.VJobID{1, 5, 6, 7, 8, 9, 10, 11, 12}; !slices.Equal(got, want) {
		t.Errorf("over are %v, want %v", got, want)
	}
	d = timed(t, 1)
	if got := d.exec.Walltimes.Overdue(); len(got) > 0 {
		t.Errorf("over before it has run: %v", got)
	}
	d.pass(time.Second)
	if got := d.exec.Walltimes.Overdue(); len(got) != 1 {
		t.Errorf("over are %v, want a walltime of a nanosecond", got)
	}
}

// Another walltime is written and told, and asks for a decision.
func TestWalltimesAreWritten(t *testing.T) {
	d := timed(t, time.Hour)
	d.steps = nil
	changes, later := d.exec.Changes(), d.now.Add(time.Second)
	if err := d.exec.Walltimes.Set(later, 1, 2*time.Hour, "stretched by u"); err != nil {
		t.Fatal(err)
	}
	if d.exec.Changes() == changes {
		t.Error("no new decision is wanted")
	}
	d.flush()
	spans := []journal.WalltimeChange{{ID: 1, Walltime: 2 * time.Hour}}
	events := []journal.Event{{At: later, Kind: journal.EventState, VJob: 1, State: "running", Text: "stretched by u"}}
	if s := d.steps[0]; !reflect.DeepEqual(s.Spans, spans) || !reflect.DeepEqual(s.Events, events) {
		t.Errorf("written is %+v, told %+v", s.Spans, s.Events)
	}
	if err := d.exec.Walltimes.Set(later, 2, time.Hour, "stretched by u"); !errors.Is(err, cluster.ErrNotFound) || fmt.Sprint(err) != "vjob 2: not found" {
		t.Errorf("of a vjob that is not known: %v", err)
	}
}

// On crowded nodes a walltime stands still, however many VMs go short; between two accounts
// it is reported as it is at the moment.
func TestWalltimesAreReportedAtTheMoment(t *testing.T) {
	for _, short := range []bool{false, true} {
		for _, n := range []int{1, 3} {
			l := world(job(1, n, cluster.Running), job(2, 1, cluster.Running))
			l.VJobs[0].Walltime = 10 * time.Minute
			nodes := slices.Repeat([]cluster.NodeID{"a"}, n)
			l.Gangs = append(l.Gangs, at(1, gang.Active, nodes...), at(2, gang.Active, "a"))
			l.Ran, l.Crowded = map[cluster.VJobID]time.Duration{1: time.Minute}, map[cluster.VJobID]time.Duration{1: time.Minute}
			d := newHarness(t, settings(), l)
			if short {
				d.copies["a"][n].CPU = 4500
			}
			d.settle()
			d.now = d.now.Add(20 * time.Second)
			d.exec.Looked(d.now, "b", hypervisor.View{Node: "b"}, nil)
			ran, crowded, end := time.Minute+20*time.Second, time.Minute, "9m0s"
			if short {
				ran, crowded, end = time.Minute, time.Minute+20*time.Second, "18m0s"
			}
			r, _ := d.exec.Job(1)
			if r.Ran != ran || r.Crowded != crowded || r.Short != short || r.Booked != time.Minute {
				t.Errorf("%d VMs, short %t: reported are %s and %s, short %t, booked %s", n, short, r.Ran, r.Crowded, r.Short, r.Booked)
			}
			if got := d.nextEnd(); got != end {
				t.Errorf("%d VMs, short %t: it is to end after %s, want %s", n, short, got, end)
			}
			d.pass(20 * time.Second)
			if r, _ := d.exec.Job(1); r.Booked != time.Minute {
				t.Errorf("%d VMs, short %t: booked are %s", n, short, r.Booked)
			}
		}
	}
}

// A vjob that stands still, or is about to, is reported with what it has run, and no more,
// however crowded its node is.
func TestWhatStandsHasRun(t *testing.T) {
	for phase, state := range map[gang.Phase]hypervisor.CopyState{gang.Paused: hypervisor.CopyPaused, gang.Pausing: hypervisor.CopyRunning} {
		l := world(job(1, 1, cluster.Paused), job(2, 1, cluster.Running))
		rec := at(1, phase, "a")
		if phase == gang.Pausing {
			l.VJobs[0].State, rec.Then = cluster.Suspending, gang.ThenStand
		}
		l.Gangs = append(l.Gangs, rec, at(2, gang.Active, "a"))
		l.Ran, l.Crowded = map[cluster.VJobID]time.Duration{1: time.Hour}, map[cluster.VJobID]time.Duration{1: time.Minute}
		d := newHarness(t, settings(), l)
		d.has(1, 0, "a", state)
		d.copies["a"][0].CPU = 4500
		d.settle()
		d.now = d.now.Add(20 * time.Second)
		d.exec.Looked(d.now, "b", hypervisor.View{Node: "b"}, nil)
		if r, _ := d.exec.Job(1); r.Ran != time.Hour || r.Crowded != time.Minute || r.Short != (phase == gang.Pausing) {
			t.Errorf("%s: reported are %s and %s, short %t", phase, r.Ran, r.Crowded, r.Short)
		}
	}
}
