package execute_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Nothing is written, told or called any more for a vjob that has ended, whatever is seen of
// it: an image of which its record did not know stays.
func TestNothingIsDoneForAnEndedVJob(t *testing.T) {
	d := harnessWith(t, gang.Active)
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted by u")); err != nil {
		t.Fatal(err)
	}
	d.flush()
	d.store.Images = []hypervisor.Image{imageOf(1, 7)}
	d.exec.LookedStore(d.now, d.store, nil)
	d.settle()
	d.obey()
	d.pass(time.Minute)
	d.wants("1 destroy 1.0@a")
	absent := 0
	for _, s := range d.steps {
		for _, r := range s.Gangs {
			if r.Phase == gang.Absent {
				absent++
			}
		}
	}
	if _, live := d.exec.Job(1); live || absent != 1 || d.told("is kept") != 0 {
		t.Errorf("live: %t, written %d times after its end, told %d times of its image", live, absent, d.told("is kept"))
	}
}

// A vjob that cannot become what its gang is now is left alone at once: it is neither
// written nor held, and no call is made.
func TestABrokenVJobIsLeftAlone(t *testing.T) {
	l := world(job(1, 2, cluster.Waiting)) // and yet its gang migrates
	l.Gangs = append(l.Gangs, at(1, gang.Shifting, "a", "b"))
	l.Gangs[0].Incarnation, l.Gangs[0].Boots = 2, 2
	d := newHarness(t, settings(), l)
	d.gone(1, 1, "b") // the gang is lost, and the copy on a is one of an earlier life
	for rank := range 2 {
		image := imageOf(1, 1)
		image.ID.VM.Rank = rank
		d.store.Images = append(d.store.Images, image)
	}
	d.settle()
	d.wants("")
	r, _ := d.exec.Job(1)
	if r.Job.Held || r.Job.State != cluster.Waiting || d.told("vjob 1 is left alone") != 1 || d.told("vjob 1 is") != 1 {
		t.Errorf("held: %t, %s, told: %s", r.Job.Held, r.Job.State, d.written())
	}
	for _, s := range d.steps {
		if len(s.VJobs) > 0 {
			t.Errorf("written: %+v", s.VJobs)
		}
	}
	if got := acting(d.exec); got != "" {
		t.Errorf("under way is %s", got)
	}
}

// A gang that comes to another phase is a reason to decide anew.
func TestPhasesAreReasonsToDecide(t *testing.T) {
	d := harnessWith(t, gang.Active)
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0)}, act(cluster.Suspend, 1, 0, "a", ""))
	changes := d.exec.Changes()
	d.carryOut(d.calls[0], 0)
	d.isIn(gang.Saving)
	if d.exec.Changes() == changes {
		t.Error("no new decision is wanted")
	}
}

// liveHops has vjob 1 run on a and b, and vjob 2 on c. A plan migrates both members of
// vjob 1 live, the second to a and on to c, after vjob 2 was suspended if it waits.
func liveHops(t *testing.T, waits bool) *harness {
	t.Helper()
	d := onNodes(t)
	first, second, other := act(cluster.Migrate, 1, 1, "b", "a"), act(cluster.Migrate, 1, 1, "a", "c", 0), act(cluster.Migrate, 1, 0, "a", "b")
	first.Live, second.Live, other.Live = true, true, true
	gangs := []ctxGang{group(cluster.Migrate, 1, 0, 1, 2), group(cluster.Suspend, 2, 3)}
	if waits {
		second.After = append(second.After, 3)
	}
	d.adopt(gangs, first, second, other, act(cluster.Suspend, 2, 0, "c", ""))
	d.wants("1 migrate 1.0@a>b, 2 migrate 1.1@b>a, 3 pause 2.0@c")
	return d
}

// A member that has come to where a hop leads goes on from there, whatever the reply was.
func TestHopsThatHaveComeGoOn(t *testing.T) {
	for _, reply := range []error{nil, errors.New("connection reset"), hypervisor.ErrTimeout} {
		d := liveHops(t, false)
		d.wait(2)
		for i, c := range d.calls[:2] {
			d.does(c)
			d.reply(c.Op, reply)
			d.pass(settings().Settle)
			d.answered = append(d.answered, i)
		}
		d.wait(1)
		if got := d.wanted(); !strings.Contains(got, "migrate 1.1@a>c") {
			t.Errorf("after %v: calls are %s", reply, got)
		}
		if got := d.progress(1, 4); got != "done done done done; done" {
			t.Errorf("after %v: the plan is %s", reply, got)
		}
		if r, _ := d.exec.Job(1); r.Failures != 0 || r.Record.Members[1].Node != "c" {
			t.Errorf("after %v: %d failures, and it is on %s", reply, r.Failures, r.Record.Members[1].Node)
		}
	}
}

// A member is not on its way on a hop that may not begin yet, and is not migrated for nothing
// meanwhile.
func TestHopsThatWaitAreNotUnderWay(t *testing.T) {
	d := liveHops(t, true)
	for _, c := range d.calls[:2] {
		d.carryOut(c, 0)
	}
	d.pass(5 * time.Second)
	d.isIn(gang.Shifting)
	if got, want := acting(d.exec), "suspend 2.0 pausing c> plan 1 since 0s for 0s"; got != want {
		t.Errorf("under way is %s, want %s", got, want)
	}
	d.wants("1 migrate 1.0@a>b, 2 migrate 1.1@b>a, 3 pause 2.0@c")
	for _, s := range d.steps {
		for _, r := range s.Gangs {
			for rank, m := range r.Members {
				if m.Next != "" && m.Next == m.Node {
					t.Errorf("member %d is to go to %s, where it is", rank, m.Next)
				}
			}
		}
	}
	d.obeyed = 2
	d.obey()
	if got := d.progress(1, 4); got != "done done done done; done" {
		t.Errorf("the plan is %s", got)
	}
}

// A member that does not migrate gives it up for good, while others are still on their way.
func TestAMemberGivesUpAlone(t *testing.T) {
	d := onNodes(t)
	first, other := act(cluster.Migrate, 1, 0, "a", "c"), act(cluster.Migrate, 1, 1, "b", "c")
	first.Live, other.Live = true, true
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1)}, first, other)
	for i := 0; i < len(d.calls) && i < 10; i++ {
		if d.calls[i].VM.Rank == 0 {
			d.reply(d.calls[i].Op, hypervisor.ErrRefused)
		}
	}
	d.pass(10 * time.Second)
	d.isIn(gang.Shifting)
	if n := d.count(hypervisor.Migrate); n != settings().Limits.MaxTries+1 {
		t.Errorf("calls are %s", d.wanted())
	}
	d.carryOut(d.calls[1], 0)
	d.isIn(gang.Active)
	if got := d.progress(1, 2); got != "failed done; failed" {
		t.Errorf("the plan is %s", got)
	}
	for _, s := range d.steps {
		for _, e := range s.Events {
			if e.Kind == journal.EventAlarm && (e.Plan != 1 || e.VJob != 1 || !strings.Contains(e.TextFor(""), "1.0 stays on a")) {
				t.Errorf("the alarm is %+v", e)
			}
		}
	}
	if d.told("1.0 stays on a") != 1 {
		t.Error("no alarm is raised")
	}
}

// A member of which the guest shuts itself down meanwhile has done its part of a plan.
func TestGuestsThatEndWhileTheyMigrate(t *testing.T) {
	d := onNodes(t)
	first, other := act(cluster.Migrate, 1, 0, "a", "c"), act(cluster.Migrate, 1, 1, "b", "c")
	first.Live, other.Live = true, true
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1)}, first, other)
	d.carryOut(d.calls[0], 0)
	d.gone(1, 1, "b")
	d.endings = map[cluster.NodeID][]hypervisor.Ending{"b": {{
		VM: cluster.VMID{VJob: 1, Rank: 1}, Stamp: hypervisor.Stamp{Incarnation: 1}, Cause: hypervisor.CauseShutdown,
	}}}
	d.reply(2, hypervisor.ErrNoSuchVM)
	d.isIn(gang.Active)
	if r, _ := d.exec.Job(1); !r.Record.Members[1].Ended || r.Failures != 0 {
		t.Errorf("it has not ended, or failed: %+v", r)
	}
	if got := d.progress(1, 2); got != "done done; done" {
		t.Errorf("the plan is %s", got)
	}
}

// An administrator has moved a VM by hand: it is followed, its vjob says when the node falls
// silent, and what is planned for it is done where it is.
func TestVMsThatAreMovedByHand(t *testing.T) {
	d := harnessWith(t, gang.Active)
	d.gone(1, 0, "a")
	d.has(1, 0, "b", hypervisor.CopyRunning)
	d.exec.Hint(d.now, "a")
	d.exec.Hint(d.now, "b")
	d.settle()
	if r, _ := d.exec.Job(1); r.Record.Members[0].Node != "b" || r.Wait != "" {
		t.Errorf("it is on %s, and waits for %q", r.Record.Members[0].Node, r.Wait)
	}
	for _, silent := range []bool{true, false} {
		d.dead["b"] = silent
		d.exec.Hint(d.now, "b")
		d.settle()
		if r, _ := d.exec.Job(1); r.Blind != silent || strings.Contains(r.Wait, "b may hold a copy") != silent {
			t.Errorf("silent %t: it is blind %t, and waits for %q", silent, r.Blind, r.Wait)
		}
	}
	d.adopt([]ctxGang{group(cluster.Pause, 1, 0)}, act(cluster.Pause, 1, 0, "a", "a"))
	d.obey()
	d.wants("1 pause 1.0@b")
	if got := d.progress(1, 1); got != "done; done" {
		t.Errorf("the plan is %s", got)
	}
}

// The skew of a plan is that of its pauses and of going on, not of pauses that are made again
// in between.
func TestNoSkewBetweenPausesAndResumptions(t *testing.T) {
	set := settings()
	set.Transfers = 1
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, set, l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1)}, act(cluster.Migrate, 1, 0, "a", "c"), act(cluster.Migrate, 1, 1, "b", "c"))
	d.carryOut(d.calls[0], 0)
	d.carryOut(d.calls[1], 0)
	d.isIn(gang.Moving)
	d.has(1, 1, "b", hypervisor.CopyRunning) // resumed by hand
	d.exec.Hint(d.now, "b")
	d.settle()
	d.wants("1 pause 1.0@a, 2 pause 1.1@b, 3 migrate 1.0@a>c, 4 pause 1.1@b")
	d.carryOut(d.calls[3], time.Second)
	d.obeyed = 4
	d.carryOut(d.calls[2], 0)
	d.obey()
	d.isIn(gang.Active)
	if got := d.skews(); len(got) > 0 {
		t.Errorf("told are %+v", got)
	}
}

// Each alarm is raised once in a phase, however many there are.
func TestAlarmsAreRaisedOnce(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	for _, state := range []hypervisor.CopyState{hypervisor.CopyRunning, hypervisor.CopyPaused, hypervisor.CopyRunning} {
		for rank := range 2 {
			d.has(1, rank, "c", state)
			d.copies["c"][len(d.copies["c"])-1].Stamp.Incarnation = 7
		}
		d.exec.Hint(d.now, "c")
		d.settle()
	}
	if one, two := d.told("1.0 on c has incarnation 7"), d.told("1.1 on c has incarnation 7"); one != 1 || two != 1 {
		t.Errorf("told %d and %d times", one, two)
	}
}

// A gang that cannot turn back at once says later what the first reason was.
func TestTheFirstReasonToTurnBackCounts(t *testing.T) {
	l := world(job(1, 2, cluster.Waiting), job(2, 1, cluster.Running), job(3, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(2, gang.Active, "b"), at(3, gang.Active, "c"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1), group(cluster.Suspend, 2, 2), group(cluster.Suspend, 3, 3)},
		act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b", 2, 3), act(cluster.Suspend, 2, 0, "b", ""), act(cluster.Suspend, 3, 0, "c", ""))
	d.wants("1 boot 1.0@a, 2 pause 2.0@b, 3 pause 3.0@c")
	d.dead["a"] = true
	d.exec.Hint(d.now, "a")
	d.settle()
	d.gone(3, 0, "c")
	d.reply(3, hypervisor.ErrNoSuchVM)
	d.gone(2, 0, "b")
	d.reply(2, hypervisor.ErrNoSuchVM)
	d.isIn(gang.Creating)
	d.dead["a"] = false
	d.exec.Hint(d.now, "a")
	d.settle()
	d.isIn(gang.Clearing)
	if r, _ := d.exec.Job(1); r.Record.Cause.Text != "suspend of VM 3.0, which it waited for, was given up" {
		t.Errorf("the reason is %q", r.Record.Cause)
	}
}
