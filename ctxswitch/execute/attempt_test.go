package execute_test

import (
	"reflect"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Another attempt is asked for when an idempotent vjob fails that was lost before, as often
// as the settings allow.
func TestAnotherAttempt(t *testing.T) {
	for _, c := range []struct {
		name       string
		idempotent bool
		then       gang.Then
		losses     int
		attempts   int // before this one
		want       string
	}{
		{"the first", true, gang.ThenFail, 1, 0, "attempt 2 of 3: vjob 1 failed: node down"},
		{"the last but one", true, gang.ThenFail, 2, 1, "attempt 3 of 3: vjob 1 failed: node down"},
		{"the last", true, gang.ThenFail, 1, 2, ""},
		{"not idempotent", false, gang.ThenFail, 1, 0, ""},
		{"deleted", true, gang.ThenTerminate, 1, 0, ""},
		{"never lost", true, gang.ThenFail, 0, 0, ""},
	} {
		j := job(1, 1, cluster.Waiting)
		j.Array, j.Idempotent, j.Attempts = 5, c.idempotent, c.attempts
		l := world(j)
		rec := at(1, gang.Absent, "")
		rec.Losses = c.losses
		l.Gangs = append(l.Gangs, rec)
		d := newHarness(t, settings(), l)
		d.settle()
		var past []journal.EndedVJob
		d.exec.Ended = func(p journal.EndedVJob) { past = append(past, p) }
		later := d.now.Add(time.Second)
		if err := d.exec.Clear(later, 1, c.then, cluster.Because("node down")); err != nil {
			t.Fatal(err)
		}
		d.flush()
		want := journal.EndedVJob{ID: 1, Array: 5, Outcome: c.then.Outcome(), Again: c.want != ""}
		if len(past) != 1 || past[0] != want {
			t.Errorf("%s: told is %+v, want %+v", c.name, past, want)
		}
		step := d.steps[len(d.steps)-1]
		switch again := step.Again; {
		case c.want == "" && len(again) == 0:
		case c.want == "" || len(again) != 1 || again[0] != journal.Attempt{Of: 1, At: later, Text: c.want}:
			t.Errorf("%s: asked for is %+v, want %q", c.name, again, c.want)
		}
		for _, e := range step.Events {
			if !e.At.Equal(later) {
				t.Errorf("%s: event %q has the time %s", c.name, e.Text, e.At)
			}
		}
	}
}

// A vjob that ends has been started if it has run, be it before the last start of the
// scheduler or for no time at all.
func TestWhatHasEndedWasStarted(t *testing.T) {
	for _, c := range []struct {
		name string
		ran  time.Duration
		runs bool
		want bool
	}{{"never", 0, false, false}, {"before", time.Second, false, true}, {"for no time", 0, true, true}} {
		set := settings()
		set.Limits.StopGrace = 0
		l := world(job(1, 1, cluster.Waiting))
		l.Ran = map[cluster.VJobID]time.Duration{1: c.ran}
		d := newHarness(t, set, l)
		d.settle()
		if c.runs {
			d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
			d.has(1, 0, "a", hypervisor.CopyRunning)
			d.reply(1, nil)
		}
		started := !c.want
		d.exec.Ended = func(p journal.EndedVJob) { started = p.Started }
		if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
			t.Fatal(err)
		}
		d.settle()
		d.obey()
		if started != c.want {
			t.Errorf("%s: it was started: %t", c.name, started)
		}
	}
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	if r, _ := execute.New(settings(), l, start).Job(1); !r.Began {
		t.Error("one that runs as the scheduler starts has not begun")
	}
}

// What ends a vjob is not done twice, and to requeue one that waits already is noted.
func TestClearOnce(t *testing.T) {
	d := harnessWith(t, gang.Active)
	for i, then := range []gang.Then{gang.ThenWait, gang.ThenWait, gang.ThenFail} {
		if err := d.exec.Clear(start.Add(time.Duration(i)*time.Second), 1, then, cluster.Because(then.String())); err != nil {
			t.Fatal(err)
		}
		r, _ := d.exec.Job(1)
		since := start.Add(time.Duration(i) * time.Second)
		if i == 1 {
			since = start
		}
		if r.Record.Then != then || !r.Record.Since.Equal(since) || r.Idle {
			t.Errorf("it is %s(%s) since %s, idle %t", r.Record.Phase, r.Record.Then, r.Record.Since, r.Idle)
		}
	}
	l := world(job(1, 1, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Absent, ""))
	l.Gangs[0].Then = gang.ThenWait
	d = newHarness(t, settings(), l)
	if err := d.exec.Clear(d.now, 1, gang.ThenWait, cluster.Because("requeued by ada")); err != nil {
		t.Fatal(err)
	}
	if r, _ := d.exec.Job(1); r.Record.Cause.Text != "requeued by ada" || r.Record.Generation != 1 {
		t.Errorf("the record is %+v", r.Record)
	}
}

// A hold is written and told as it is set and as it is taken back.
func TestHoldsAreWritten(t *testing.T) {
	d := harnessWith(t, gang.Active)
	for i, held := range []bool{true, false} {
		d.steps = nil
		later := d.now.Add(time.Duration(i+1) * time.Second)
		if err := d.exec.Hold(later, 1, held, cluster.Because("by ada")); err != nil {
			t.Fatal(err)
		}
		d.flush()
		event := journal.Event{At: later, Kind: journal.EventState, VJob: 1, State: "running", Text: "vjob 1", Cause: cluster.Because("by ada")}
		change := journal.VJobChange{ID: 1, State: cluster.Running, Held: held, Version: i + 1}
		if held {
			change.Hold = cluster.Because("by ada")
		}
		if s := d.steps[0]; !reflect.DeepEqual(s.Events, []journal.Event{event}) || !reflect.DeepEqual(s.VJobs, []journal.VJobChange{change}) {
			t.Errorf("held %t: written is %+v, told %+v", held, s.VJobs, s.Events)
		}
	}
}
