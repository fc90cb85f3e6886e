package gang_test

import (
	"errors"
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// phases are all of them, with what users are shown, whether nothing is under way, and
// whether the gang stands still in memory until an order comes.
var phases = []struct {
	phase  gang.Phase
	name   string
	state  cluster.State
	stable bool
	stands bool // with ThenStand
}{
	{gang.Absent, "absent", cluster.Waiting, true, false},
	{gang.Creating, "creating", cluster.Booting, false, false},
	{gang.Active, "active", cluster.Running, true, false},
	{gang.Pausing, "pausing", cluster.Suspending, false, false},
	{gang.Paused, "paused", cluster.Paused, true, true},
	{gang.Saving, "saving", cluster.Suspending, false, true},
	{gang.Saved, "saved", cluster.Suspended, true, false},
	{gang.Restoring, "restoring", cluster.Resuming, false, true},
	{gang.Resuming, "resuming", cluster.Resuming, false, false},
	{gang.Moving, "moving", cluster.Migrating, false, false},
	{gang.Shifting, "shifting", cluster.Migrating, false, false},
	{gang.Clearing, "clearing", cluster.Stopping, false, false},
}

func TestPhases(t *testing.T) {
	for _, c := range phases {
		text, err := c.phase.MarshalText()
		if err != nil || string(text) != c.name {
			t.Errorf("%s is written as %q (%v), want %q", c.phase, text, err, c.name)
		}
		back := gang.Clearing
		if c.phase == gang.Clearing {
			back = gang.Absent
		}
		if err := back.UnmarshalText([]byte(c.name)); err != nil || back != c.phase {
			t.Errorf("%q is read as %s (%v)", c.name, back, err)
		}
		if got := c.phase.Stable(); got != c.stable {
			t.Errorf("%s: stable is %t, want %t", c.phase, got, c.stable)
		}
		rec := gang.Record{Phase: c.phase, Then: gang.ThenStand}
		if got := rec.State(); got != c.state {
			t.Errorf("%s is shown as %s, want %s", c.phase, got, c.state)
		}
		if got := rec.Paused(); got != c.stands {
			t.Errorf("%s: stands is %t, want %t", c.phase, got, c.stands)
		}
		rec.Then = gang.ThenSave
		if got, want := rec.Paused(), c.phase == gang.Paused; got != want {
			t.Errorf("%s that leads to saving: stands is %t, want %t", c.phase, got, want)
		}
	}
	if got := (&gang.Record{Phase: gang.Pausing, Then: gang.ThenMove}).State(); got != cluster.Migrating {
		t.Errorf("a gang that pauses to move is shown as %s", got)
	}
	phase := gang.Saved
	if err := phase.UnmarshalText([]byte("asleep")); !errors.Is(err, cluster.ErrInvalid) || phase != gang.Saved {
		t.Errorf("no phase is read as %s (%v)", phase, err)
	}
}

func TestContinuations(t *testing.T) {
	for _, c := range []struct {
		then    gang.Then
		name    string
		outcome cluster.Outcome
		inOrder bool
	}{
		{gang.ThenNothing, "", cluster.Open, false},
		{gang.ThenSave, "save", cluster.Open, false},
		{gang.ThenMove, "move", cluster.Open, false},
		{gang.ThenWait, "wait", cluster.Open, false},
		{gang.ThenTerminate, "terminate", cluster.Deleted, true},
		{gang.ThenFail, "fail", cluster.Broken, false},
		{gang.ThenBack, "back", cluster.Open, false},
		{gang.ThenComplete, "complete", cluster.Completed, true},
		{gang.ThenExpire, "expire", cluster.WalltimeExceeded, true},
		{gang.ThenStand, "stand", cluster.Open, false},
		{gang.ThenUnsuccessful, "unsuccessful", cluster.Unsuccessful, true},
	} {
		text, err := c.then.MarshalText()
		if err != nil || string(text) != c.name {
			t.Errorf("%s is written as %q (%v), want %q", c.then, text, err, c.name)
		}
		back := gang.ThenStand
		if c.then == gang.ThenStand {
			back = gang.ThenNothing
		}
		if err := back.UnmarshalText([]byte(c.name)); err != nil || back != c.then {
			t.Errorf("%q is read as %s (%v)", c.name, back, err)
		}
		if got := c.then.Outcome(); got != c.outcome {
			t.Errorf("%q ends as %s, want %s", c.name, got, c.outcome)
		}
		if got := c.then.InOrder(); got != c.inOrder {
			t.Errorf("%q: in order is %t, want %t", c.name, got, c.inOrder)
		}
	}
	then := gang.ThenMove
	if err := then.UnmarshalText([]byte("dance")); !errors.Is(err, cluster.ErrInvalid) || then != gang.ThenMove {
		t.Errorf("no continuation is read as %s (%v)", then, err)
	}
}
