package cycle_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
	"vjob/energy/power/cycle"
)

var start = time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC)

// follow steps a record as long as time stands still and it changes.
func follow(t *testing.T, r cycle.Record, s cycle.Observation, now time.Time) cycle.Transition {
	t.Helper()
	for range 10 {
		m := cycle.Step(r, s, cycle.DefaultLimits, now)
		if !m.Changed || m.Request {
			return m
		}
		r = m.Record
	}
	t.Fatalf("%+v goes on without end", r)
	return cycle.Transition{}
}

// empty is a node that answers and holds nothing.
func empty() cycle.Observation { return cycle.Observation{Answers: true, Since: start} }

func wantOff(t *testing.T) cycle.Record {
	t.Helper()
	r, changed := cycle.Order(cycle.Record{Node: "n1"}, cycle.WantOff, "root", "by root", start)
	if !changed {
		t.Fatal("an order changes nothing")
	}
	return r
}

func TestOffAndOn(t *testing.T) {
	now := start
	m := follow(t, wantOff(t), empty(), now)
	if m.Record.Phase != cycle.Stopping || !m.Request || m.Verb != power.TurnOff || m.Record.Attempt != 1 || !m.Record.RequestedAt.Equal(now) {
		t.Fatalf("an empty node: %+v", m)
	}
	now = now.Add(30 * time.Second)
	m = follow(t, m.Record, cycle.Observation{Since: now, Power: power.Off, ReportedAt: now, AskedAt: now}, now)
	if m.Record.Phase != cycle.Off || m.Request {
		t.Fatalf("a node that was seen off: %+v", m)
	}
	r, _ := cycle.Order(m.Record, cycle.WantOn, "root", "by root", now)
	m = follow(t, r, cycle.Observation{Since: now}, now)
	if m.Record.Phase != cycle.Starting || m.Verb != power.TurnOn || !m.Request {
		t.Fatalf("a node that shall come up: %+v", m)
	}
	now = now.Add(2 * time.Minute)
	m = follow(t, m.Record, cycle.Observation{Answers: true, Since: now}, now)
	if m.Record.Phase != cycle.On || m.Record.Want != cycle.WantOn || !m.Record.Since.Equal(now) {
		t.Fatalf("a node that answers: %+v", m)
	}
}

func TestNoNodeGoesOffThatHoldsSomethingOrIsSilent(t *testing.T) {
	for name, s := range map[string]cycle.Observation{
		"holds": {Answers: true, Since: start, Blocker: "3.0 runs there"},
		"mute":  {Since: start},
	} {
		r := wantOff(t)
		for now := start; now.Before(start.Add(2 * cycle.DefaultLimits.Empty)); now = now.Add(time.Minute) {
			m := follow(t, r, s, now)
			r = m.Record
			if m.Request {
				t.Fatalf("%s: asked to %s", name, m.Verb)
			}
		}
		if r.Phase != cycle.On || r.Want != cycle.WantOn {
			t.Errorf("%s: is %s in the end, it should have been given up", name, r.Phase)
		}
	}
}

func TestOrderOfAUserWaitsUntilTheNodeIsEmpty(t *testing.T) {
	s := empty()
	s.ByUser, s.Blocker = true, "3.0 runs there"
	now := start.Add(24 * time.Hour)
	r := follow(t, wantOff(t), s, start).Record
	if m := follow(t, r, s, now); m.Record.Phase != cycle.Emptying {
		t.Fatalf("after a day: %+v", m)
	}
}

// A request to go off may still take effect when the node is wanted again: it may take
// VMs only after it was seen off.
func TestAStoppingNodeIsNotTakenBack(t *testing.T) {
	m := follow(t, wantOff(t), empty(), start)
	r, _ := cycle.Order(m.Record, cycle.WantOn, "root", "by root", start)
	for now := start; now.Before(start.Add(4 * time.Minute)); now = now.Add(20 * time.Second) {
		s := empty()
		s.Power, s.ReportedAt, s.AskedAt = power.On, now, now
		if m = follow(t, r, s, now); m.Record.Phase != cycle.Stopping {
			t.Fatalf("is %s while it may still go off", m.Record.Phase)
		}
		r = m.Record
	}
	now := start.Add(4 * time.Minute)
	m = follow(t, r, cycle.Observation{Since: now, Power: power.Off, ReportedAt: now, AskedAt: now}, now)
	if m.Record.Phase != cycle.Starting || m.Verb != power.TurnOn {
		t.Fatalf("once it is off: %+v", m)
	}
}

func TestWhatTheDriverSaidBeforeTheRequestProvesNothing(t *testing.T) {
	m := follow(t, wantOff(t), empty(), start)
	s := cycle.Observation{Since: start, Power: power.Off, ReportedAt: start.Add(-time.Second), AskedAt: start.Add(-time.Second)}
	if m = follow(t, m.Record, s, start.Add(time.Second)); m.Record.Phase != cycle.Stopping {
		t.Fatalf("%+v", m)
	}
	s.ReportedAt, s.Pending = start.Add(2*time.Second), true
	if m = follow(t, m.Record, s, start.Add(3*time.Second)); m.Record.Phase != cycle.Stopping {
		t.Fatalf("with a request under way: %+v", m)
	}
}

func TestADriverThatCannotTell(t *testing.T) {
	m := follow(t, wantOff(t), empty(), start)
	mute := start.Add(20 * time.Second)
	s := cycle.Observation{Since: mute, ReportedAt: mute, AskedAt: mute}
	if early := follow(t, m.Record, s, mute.Add(cycle.DefaultLimits.Quiet-time.Second)); early.Record.Phase != cycle.Stopping {
		t.Fatalf("before the silence has lasted: %+v", early)
	}
	if late := follow(t, m.Record, s, mute.Add(cycle.DefaultLimits.Quiet)); late.Record.Phase != cycle.Off {
		t.Fatalf("after that: %+v", late)
	}
}

// requests counts what is asked of a node that never does it, over a day.
func requests(r cycle.Record, s cycle.Observation, v power.Verb) (end cycle.Record, count int, gaps []time.Duration, alarm string) {
	last := time.Time{}
	for now := start; now.Before(start.Add(24 * time.Hour)); now = now.Add(time.Second) {
		m := cycle.Step(r, s, cycle.DefaultLimits, now)
		r = m.Record
		if m.Alarm {
			alarm = m.Message
		}
		if m.Request && m.Verb == v {
			count++
			if !last.IsZero() {
				gaps = append(gaps, now.Sub(last))
			}
			last = now
		}
		if m.Request {
			s.AskedAt, s.ReportedAt = now, now
		}
	}
	return r, count, gaps, alarm
}

func TestANodeThatDoesNotComeBackIsLeftAlone(t *testing.T) {
	r := cycle.Record{Node: "n1", Phase: cycle.Off, Want: cycle.WantOn, Reason: "vjob 7 waits"}
	r, count, gaps, alarm := requests(r, cycle.Observation{Since: start, LastError: "no route"}, power.TurnOn)
	if count != cycle.DefaultLimits.Attempts || r.Phase != cycle.Stuck {
		t.Fatalf("%d attempts, is %s", count, r.Phase)
	}
	if gaps[0] >= gaps[1] {
		t.Errorf("the pauses do not grow: %s", gaps)
	}
	if !strings.Contains(alarm, "did not come up after 3 attempts: no route") {
		t.Errorf("alarm %q", alarm)
	}
	if r.State(cluster.Online) != cluster.Offline {
		t.Error("it takes VMs")
	}
	again, changed := cycle.Order(r, cycle.WantOn, "root", "by root", start)
	if !changed || again.Phase != cycle.Starting || again.Attempt != 0 {
		t.Errorf("an order begins anew: %+v", again)
	}
}

func TestANodeThatDoesNotGoOffIsLeftAlone(t *testing.T) {
	s := empty()
	s.Power = power.On
	r, count, _, alarm := requests(wantOff(t), s, power.TurnOff)
	if count != cycle.DefaultLimits.Attempts || r.Phase != cycle.Stuck || alarm == "" {
		t.Fatalf("%d attempts, is %s, alarm %q", count, r.Phase, alarm)
	}
}

func TestANodeSwitchedOnByHandIsUsed(t *testing.T) {
	r := cycle.Record{Node: "n1", Phase: cycle.Off, Want: cycle.WantOff, By: "root"}
	if m := follow(t, r, empty(), start); m.Record.Phase != cycle.On || m.Record.Want != cycle.WantOn {
		t.Fatalf("%+v", m)
	}
}

func TestStateForPlacing(t *testing.T) {
	for _, c := range []struct {
		phase   cycle.Phase
		decreed cluster.NodeState
		want    cluster.NodeState
	}{
		{cycle.On, cluster.Online, cluster.Online},
		{cycle.On, cluster.Draining, cluster.Draining},
		{cycle.Emptying, cluster.Online, cluster.Draining},
		{cycle.Emptying, cluster.Offline, cluster.Offline},
		{cycle.Stopping, cluster.Online, cluster.Offline},
		{cycle.Off, cluster.Draining, cluster.Offline},
		{cycle.Starting, cluster.Online, cluster.Offline},
		{cycle.Stuck, cluster.Online, cluster.Offline},
		{cycle.Off, cluster.Down, cluster.Down},
	} {
		r := cycle.Record{Phase: c.phase}
		if got := r.State(c.decreed); got != c.want {
			t.Errorf("%s and decreed %s: %s, want %s", c.phase, c.decreed, got, c.want)
		}
	}
}
