package execute_test

import (
	"testing"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// outcome is how vjob 1 was said to have ended last.
func (d *harness) outcome() (state cluster.State, how cluster.Outcome) {
	for _, s := range d.steps {
		for _, c := range s.VJobs {
			if c.ID == 1 {
				state, how = c.State, c.Outcome
			}
		}
	}
	return state, how
}

// The outcome of a vjob is written in the step in which it ends, whatever ended it.
func TestOutcomes(t *testing.T) {
	cases := []struct {
		then  gang.Then
		state cluster.State
		how   cluster.Outcome
	}{
		{gang.ThenComplete, cluster.Terminated, cluster.Completed},
		{gang.ThenExpire, cluster.Terminated, cluster.WalltimeExceeded},
		{gang.ThenTerminate, cluster.Terminated, cluster.Deleted},
		{gang.ThenFail, cluster.Failed, cluster.Broken},
		{gang.ThenUnsuccessful, cluster.Failed, cluster.Unsuccessful},
	}
	for _, c := range cases {
		for _, phase := range []gang.Phase{gang.Absent, gang.Active} {
			t.Run(c.then.String()+" of one that is "+phase.String(), func(t *testing.T) {
				d := harnessWith(t, phase)
				if err := d.exec.Clear(d.now, 1, c.then, cluster.Because("because")); err != nil {
					t.Fatal(err)
				}
				d.settle()
				d.obey()
				if state, how := d.outcome(); state != c.state || how != c.how {
					t.Errorf("it is %s, %s; want %s, %s", state, how, c.state, c.how)
				}
			})
		}
	}
}

// A later request does not change the outcome of a vjob that ends in order; one
// that failed, or waits again, may still be deleted.
func TestOutcomeStands(t *testing.T) {
	for then, want := range map[gang.Then]cluster.Outcome{
		gang.ThenComplete: cluster.Completed, gang.ThenUnsuccessful: cluster.Unsuccessful, gang.ThenExpire: cluster.WalltimeExceeded,
		gang.ThenFail: cluster.Deleted, gang.ThenWait: cluster.Deleted,
	} {
		t.Run(then.String(), func(t *testing.T) {
			d := harnessWith(t, gang.Active)
			for _, then := range []gang.Then{then, gang.ThenTerminate} {
				if err := d.exec.Clear(d.now, 1, then, cluster.Because("because")); err != nil {
					t.Fatal(err)
				}
			}
			d.settle()
			d.obey()
			if _, how := d.outcome(); how != want {
				t.Errorf("got %s, want %s", how, want)
			}
		})
	}
}

// harnessWith is a harness with vjob 1, that waits or runs on a.
func harnessWith(t *testing.T, phase gang.Phase) *harness {
	t.Helper()
	set := settings()
	set.Limits.StopGrace = 0
	if phase == gang.Absent {
		return newHarness(t, set, world(job(1, 1, cluster.Waiting)))
	}
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, phase, "a"))
	d := newHarness(t, set, l)
	d.settle()
	return d
}

// One that a plan ends makes room so: it has not ended, and waits again.
func TestEndedToMakeRoom(t *testing.T) {
	d := harnessWith(t, gang.Active)
	ended := group(cluster.Stop, 1, 0)
	ended.Cause = &cluster.Cause{Kind: cluster.CausePreempted, VJobs: []cluster.VJobRef{{ID: 3, Name: "high", Owner: "bob"}}}
	d.adopt([]ctxGang{ended}, act(cluster.Stop, 1, 0, "a", ""))
	d.obey()
	d.isIn(gang.Absent)
	if state, how := d.outcome(); state != cluster.Waiting || how != cluster.Open {
		t.Errorf("it is %s, %s", state, how)
	}
	if got := d.progress(1, 1); got != "done; done" {
		t.Errorf("the plan: %s", got)
	}
	if r, _ := d.exec.Job(1); !r.Idle || r.Failures != 0 || r.Record.Losses != 0 {
		t.Errorf("it is not free to start anew: %+v", r)
	}
	for _, want := range []string{
		"vjob 1 is stopping to make room for 3 high (bob)", "vjob 1 is waiting: it was ended to make room for 3 high (bob); it starts anew later",
	} {
		if d.told(want) != 1 {
			t.Errorf("%q is not told", want)
		}
	}
}
