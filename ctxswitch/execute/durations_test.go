package execute_test

import (
	"slices"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// learning are settings under which durations are learned.
func learning() execute.Settings {
	s := settings()
	s.Learn = true
	s.Costs = ctxswitch.ThesisCosts
	return s
}

// learned lists the observations in the steps so far.
func (d *harness) learned() (list []duration.Observation) {
	for _, s := range d.steps {
		list = append(list, s.Learned...)
	}
	return list
}

// hasLearned compares the observations; all are of VMs with 1 GiB.
func (d *harness) hasLearned(want ...duration.Observation) {
	d.t.Helper()
	got := d.learned()
	for i := range got {
		if got[i].Memory != cluster.GiB || got[i].At.IsZero() {
			d.t.Errorf("of a VM of 1 GiB: %+v", got[i])
		}
		got[i].Memory, got[i].At = 0, time.Time{}
	}
	if !slices.Equal(got, want) {
		d.t.Errorf("learned %v, want %v", got, want)
	}
}

func observation(node cluster.NodeID, kind duration.Kind, took time.Duration) duration.Observation {
	return duration.Observation{Node: node, Kind: kind, Taken: took}
}

// ticks lets time pass at once.
func (d *harness) ticks(long time.Duration) {
	d.now = d.now.Add(long)
	d.exec.Tick(d.now)
	d.settle()
}

// suspends is vjob 1 with members on nodes, about to be suspended.
func suspends(t *testing.T, set execute.Settings, nodes ...cluster.NodeID) *harness {
	t.Helper()
	l := world(job(1, len(nodes), cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, nodes...))
	d := newHarness(t, set, l)
	d.settle()
	var ids []ctxswitch.ActionID
	var actions []ctxswitch.Action
	for rank, node := range nodes {
		ids, actions = append(ids, ctxswitch.ActionID(rank)), append(actions, act(cluster.Suspend, 1, rank, node, ""))
	}
	d.adopt([]ctxGang{group(cluster.Suspend, 1, ids...)}, actions...)
	return d
}

// A suspend is the pauses of the gang, the save and the seal: 2 s and 2 s, 30 s, 5 s here.
func TestASuspendIsLearned(t *testing.T) {
	d := suspends(t, learning(), "a", "b")
	for i, took := range []time.Duration{2, 2, 30, 40, 5, 5} {
		if i == 2 && d.calls[2].Verb != hypervisor.Save || i == 4 && d.calls[4].Verb != hypervisor.Seal {
			t.Fatalf("unexpected calls: %s", d.wanted())
		}
		d.carryOut(d.calls[i], took*time.Second)
		if i%2 == 0 {
			d.obeyed = i + 2
		}
	}
	d.isIn(gang.Saved)
	// The harness makes the two saves one after the other: the second one begins when the first has ended,
	// and the tail of the first is the seal of the second.
	got := d.learned()
	if len(got) != 2 || got[0].Kind != duration.Suspend || got[0].Node != "a" || got[1].Node != "b" {
		t.Fatalf("learned %v", got)
	}
}

// One member: the times add up exactly.
func TestWhatCallsTookIsLearned(t *testing.T) {
	d := suspends(t, learning(), "a")
	d.carryOut(d.calls[0], 2*time.Second)
	d.carryOut(d.calls[1], 30*time.Second)
	d.carryOut(d.calls[2], 5*time.Second)
	d.isIn(gang.Saved)
	d.hasLearned(observation("a", duration.Suspend, 37*time.Second))

	l := world(job(1, 1, cluster.Waiting))
	d = newHarness(t, learning(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "c"))
	d.carryOut(d.calls[0], 9*time.Second)
	d.isIn(gang.Active)
	d.hasLearned(observation("c", duration.Boot, 9*time.Second))
}

// What waits for a transfer slot is not part of the action.
func TestWaitsForSlotsAreNotLearned(t *testing.T) {
	set := learning()
	set.Transfers = 1
	d := suspends(t, set, "a", "a")
	d.carryOut(d.calls[0], time.Second)
	d.carryOut(d.calls[1], time.Second)
	d.carryOut(d.calls[2], 50*time.Second) // the second save waits for it
	for i := 3; i < len(d.calls); i++ {
		d.carryOut(d.calls[i], 10*time.Second)
	}
	d.isIn(gang.Saved)
	for _, o := range d.learned() {
		if o.Taken > 100*time.Second {
			t.Errorf("%v counts what another save took", o)
		}
	}
	if len(d.learned()) != 2 {
		t.Errorf("learned %v", d.learned())
	}
}

// Neither a call that failed, nor one without a reply, nor one during which the clock was set is
// learned. Nothing is if learning is off.
func TestWhatIsNotLearned(t *testing.T) {
	boots := func(set execute.Settings) *harness {
		d := newHarness(t, set, world(job(1, 1, cluster.Waiting)))
		d.settle()
		d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "c"))
		return d
	}
	cases := map[string]func() *harness{
		"learning is off": func() *harness {
			set := learning()
			set.Learn = false
			d := boots(set)
			d.carryOut(d.calls[0], 9*time.Second)
			return d
		},
		"a failed call": func() *harness {
			d := boots(learning())
			d.reply(d.calls[0].Op, hypervisor.ErrRefused)
			d.ticks(time.Minute)
			d.carryOut(d.calls[len(d.calls)-1], 9*time.Second)
			return d
		},
		"no reply": func() *harness {
			d := boots(learning())
			d.has(1, 0, "c", hypervisor.CopyRunning)
			d.copies["c"][0].Stamp = d.calls[0].Stamp
			d.reply(d.calls[0].Op, hypervisor.ErrTimeout)
			d.pass(time.Minute)
			return d
		},
		"a clock set forward": func() *harness {
			d := boots(learning())
			d.carryOut(d.calls[0], time.Hour)
			return d
		},
		"a clock set back": func() *harness {
			d := boots(learning())
			d.carryOut(d.calls[0], -time.Hour)
			return d
		},
	}
	for name, play := range cases {
		d := play()
		if name != "a failed call" || len(d.calls) > 1 {
			d.isIn(gang.Active)
		}
		if got := d.learned(); len(got) > 0 {
			t.Errorf("%s: learned %v", name, got)
		}
	}
}

// A restart in the middle of a call: its reply is not learned.
func TestARestartDuringACallIsNotLearned(t *testing.T) {
	l := world(job(1, 1, cluster.Booting))
	l.Gangs = append(l.Gangs, at(1, gang.Creating, ""))
	l.Gangs[0].Members[0].Next = "c"
	l.Open = []journal.Intent{{Call: hypervisor.Call{Op: 1, Verb: hypervisor.Boot, VM: cluster.VMID{VJob: 1}, Node: "c", Stamp: hypervisor.Stamp{Incarnation: 1, Epoch: 1}}, At: start.Add(-time.Minute)}}
	l.Deadlines = map[hypervisor.OpID]time.Time{1: start.Add(time.Hour)}
	l.NextOp, l.Plans = 2, []journal.PlanID{1}
	d := newHarness(t, learning(), l)
	d.settle()
	d.has(1, 0, "c", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.isIn(gang.Active)
	d.hasLearned()
}

// Estimates after a restart are those before it.
func TestEstimatesOutliveARestart(t *testing.T) {
	var kept []duration.Observation
	for i := range 5 {
		kept = append(kept, duration.Observation{Node: "a", Kind: duration.Suspend, Memory: cluster.GiB, Taken: time.Duration(140+i) * time.Second})
	}
	l := world(job(1, 1, cluster.Running))
	l.Gangs, l.Learned = append(l.Gangs, at(1, gang.Active, "a")), kept
	d := newHarness(t, learning(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0)}, act(cluster.Suspend, 1, 0, "a", ""))
	for i, took := range []time.Duration{2, 130, 5} {
		d.carryOut(d.calls[i], took*time.Second)
	}
	l.Learned = append(kept, d.learned()...)
	again := newHarness(t, learning(), l)
	before, _ := d.exec.Durations.Learned().Duration(cluster.Suspend, 3*cluster.GiB, "a", "")
	after, _ := again.exec.Durations.Learned().Duration(cluster.Suspend, 3*cluster.GiB, "a", "")
	if before != after || before < 6*time.Minute {
		t.Errorf("%s before the restart, %s after it", before, after)
	}
}

// The deadline of a call follows what was learned if that is more than the settings say, and never
// shrinks.
func TestDeadlinesFollowWhatWasLearned(t *testing.T) {
	deadline := func(took time.Duration) time.Duration {
		l := world(job(1, 1, cluster.Waiting))
		for range 5 {
			l.Learned = append(l.Learned, duration.Observation{Node: "c", Kind: duration.Boot, Memory: cluster.GiB, Taken: took})
		}
		d := newHarness(t, learning(), l)
		d.settle()
		d.exec.Adopt(d.now, 1, "test", ctxswitch.Plan{
			Actions: []ctxswitch.Action{act(cluster.Boot, 1, 0, "", "c")}, Gangs: []ctxGang{group(cluster.Boot, 1, 0)},
		})
		effects := d.exec.Flush()
		if len(effects.Chains) != 1 {
			t.Fatalf("%d chains", len(effects.Chains))
		}
		return effects.Chains[0].Deadline[0]
	}
	const usual = 15*time.Second + 4*6*time.Second
	if got := deadline(time.Second); got != usual {
		t.Errorf("on a fast node: %s, want %s", got, usual)
	}
	if got := deadline(time.Minute); got < 15*time.Second+4*55*time.Second || got > 15*time.Second+4*65*time.Second {
		t.Errorf("on a slow node: %s, want about %s", got, 15*time.Second+4*time.Minute)
	}
}

// The end of a context switch says how long it took, and what was estimated.
func TestAPlanComparesItsEstimate(t *testing.T) {
	d := newHarness(t, learning(), world(job(1, 1, cluster.Waiting)))
	d.settle()
	d.exec.Adopt(d.now, 1, "test", ctxswitch.Plan{
		Actions: []ctxswitch.Action{act(cluster.Boot, 1, 0, "", "c")}, Gangs: []ctxGang{group(cluster.Boot, 1, 0)}, Makespan: 6 * time.Second,
	})
	d.settle()
	d.carryOut(d.calls[0], 9*time.Second)
	if d.told("context switch 1 is done in 9s, estimated 6s (+50 %)") != 1 {
		t.Errorf("the end is not compared: %v", d.events(journal.EventPlan))
	}
}
