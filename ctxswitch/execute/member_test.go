package execute_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// After a few calls in one phase that did not do, the next ones come at growing intervals.
func TestCallsAreTriedLaterAndLater(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused) // although it should run
	d.settle()
	var moments []string
	for d.now.Before(start.Add(2 * time.Minute)) {
		for len(moments) < len(d.calls) {
			moments = append(moments, d.now.Sub(start).String())
			d.reply(d.calls[len(moments)-1].Op, errors.New("internal error"))
		}
		d.pass(time.Second)
	}
	if got, want := strings.Join(moments, " "), "0s 0s 0s 0s 1s 3s 7s 15s 31s 1m3s 1m35s"; got != want {
		t.Errorf("called at %s, want %s", got, want)
	}
}

// Each phase has its own tries: those of the one before do not count.
func TestPhasesCountTheirTries(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0, 1)}, act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "b", ""))
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.reply(1, nil)
	fault := errors.New("internal error")
	d.reply(2, fault)
	d.reply(3, fault)
	d.wants("1 pause 1.0@a, 2 pause 1.1@b, 3 pause 1.1@b, 4 pause 1.1@b")
	d.has(1, 1, "b", hypervisor.CopyPaused)
	d.reply(4, nil)
	for op := range hypervisor.OpID(2) {
		d.isIn(gang.Saving)
		d.reply(6+op, fault)
	}
	d.isIn(gang.Saving)
	d.reply(8, fault)
	d.reply(5, fault)
	d.isIn(gang.Resuming)
}

// The skew is that of one phase, and unknown of one that was under way at the start.
func TestPhasesHaveTheirSkew(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Pause, 1, 0, 1)}, act(cluster.Pause, 1, 0, "a", ""), act(cluster.Pause, 1, 1, "b", ""))
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.has(1, 1, "b", hypervisor.CopyPaused)
	d.repliedIn(1, [2]int{0, 1}, [2]int{1, 3})
	d.isIn(gang.Paused)
	d.unpause()
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.has(1, 1, "b", hypervisor.CopyRunning)
	d.repliedIn(3, [2]int{20, 21}, [2]int{21, 22})
	if got := d.skews(); len(got) != 2 || got[0].Skew != 3*time.Second || got[1].Skew != 2*time.Second {
		t.Errorf("written is %+v, want 3s and 2s", got)
	}

	l = world(job(1, 1, cluster.Resuming))
	l.Gangs = append(l.Gangs, at(1, gang.Resuming, "a"))
	l.Gangs[0].Since = start.Add(-time.Second)
	d = newHarness(t, settings(), l)
	d.settle()
	if r, _ := d.exec.Job(1); r.Record.Phase != gang.Active || r.Record.Skew != 0 {
		t.Errorf("it is %s, with the skew %s", r.Record.Phase, r.Record.Skew)
	}
}

// An alarm is raised once in a phase, and once more in the next.
func TestPhasesRaiseTheirAlarms(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "c", hypervisor.CopyPaused)
	d.copies["c"][0].Stamp.Incarnation = 5
	d.settle()
	d.pass(time.Minute)
	if n := d.told("has incarnation 5"); n != 1 {
		t.Errorf("%d alarms in one phase", n)
	}
	d.adopt([]ctxGang{group(cluster.Stop, 1, 0)}, act(cluster.Stop, 1, 0, "a", ""))
	if n := d.told("has incarnation 5"); n != 2 {
		t.Errorf("%d alarms in two phases", n)
	}
}

// A gang that was turned back for want of room is not turned back at once the next time, and
// its time to wait for room begins when nothing is under way any more.
func TestRoomTimeoutBeginsAnew(t *testing.T) {
	set := settings()
	d := newHarness(t, set, full(job(1, 2, cluster.Waiting)))
	d.settle()
	boots := []ctxGang{group(cluster.Boot, 1, 0, 1)}
	d.adopt(boots, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"))
	d.has(1, 1, "b", hypervisor.CopyRunning)
	d.now = d.now.Add(2 * set.RoomTimeout)
	d.reply(1, nil)
	d.isIn(gang.Creating)
	d.pass(set.RoomTimeout - time.Second)
	d.isIn(gang.Creating)
	d.pass(time.Second)
	d.isIn(gang.Clearing)
	d.gone(1, 1, "b")
	d.reply(2, nil)
	d.isIn(gang.Absent)
	d.adopt(boots, act(cluster.Boot, 1, 0, "", "c"), act(cluster.Boot, 1, 1, "", "b"))
	d.isIn(gang.Creating)
}

// Kept images that are restored are sealed once more each time.
func TestKeptImagesAreSealedEachTime(t *testing.T) {
	d := newHarness(t, settings(), lost(cluster.Waiting))
	d.store.Images = []hypervisor.Image{imageOf(1, 2)}
	d.settle()
	for op := range hypervisor.OpID(2) {
		if err := d.exec.Images.Restore(d.now, 1, 0, "ada"); err != nil {
			t.Fatal(err)
		}
		d.settle()
		if n := d.count(hypervisor.Seal); n != int(op)+1 {
			t.Fatalf("restored %d times, sealed %d times", op+1, n)
		}
		d.reply(d.calls[len(d.calls)-1].Op, nil)
		d.isIn(gang.Saved)
		if err := d.exec.Clear(d.now, 1, gang.ThenWait, cluster.Because("requeued")); err != nil {
			t.Fatal(err)
		}
		d.settle()
		d.isIn(gang.Absent)
	}
}

// A member on which several calls are under way on one node is left alone until the last has
// ended, and looked at on each node before anything else is done with it.
func TestMembersWithSeveralCalls(t *testing.T) {
	fault := errors.New("internal error")
	d := restoring(t, "a")
	d.reply(1, fault)
	d.wants("1 restore 1.0@a, 2 revoke 1.0@a, 3 restore 1.0@a")
	d.reply(2, nil)
	d.pass(10 * time.Second)
	d.wants("1 restore 1.0@a, 2 revoke 1.0@a, 3 restore 1.0@a")
	d.reply(3, fault)
	d.wants("1 restore 1.0@a, 2 revoke 1.0@a, 3 restore 1.0@a, 4 revoke 1.0@a")

	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d = newHarness(t, settings(), l)
	d.has(1, 0, "b", hypervisor.CopyPaused)
	d.has(1, 0, "c", hypervisor.CopyPaused)
	d.settle()
	d.wants("1 destroy 1.0@b, 2 destroy 1.0@c")
	d.exec.Replied(d.now, execute.Reply{Op: 1})
	d.exec.Replied(d.now, execute.Reply{Op: 2})
	d.gone(1, 0, "c")
	d.exec.Looked(d.now, "c", hypervisor.View{Node: "c"}, nil)
	d.flush()
	d.wants("1 destroy 1.0@b, 2 destroy 1.0@c")
}

// A look lets a gang go on whichever of its members it concerns.
func TestLooksLetMembersGoOn(t *testing.T) {
	d := newHarness(t, settings(), world(job(1, 2, cluster.Waiting)))
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"))
	d.reply(2, errors.New("internal error"))
	d.wants("1 boot 1.0@a, 2 boot 1.1@b, 3 boot 1.1@b")
}

// A copy that is not seen any more is waited for as long as word of how it left may take.
func TestWordIsWaitedFor(t *testing.T) {
	set := settings()
	set.Limits.DepartureGrace = 5 * time.Second
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, set, l)
	d.settle()
	d.gone(1, 0, "a")
	d.exec.Hint(d.now, "a")
	d.settle()
	d.pass(set.Limits.DepartureGrace - time.Second)
	d.isIn(gang.Active)
	d.has(1, 0, "a", hypervisor.CopyRunning) // it was there all the time
	d.exec.Hint(d.now, "a")
	d.settle()
	d.pass(time.Minute)
	d.isIn(gang.Active)
	d.gone(1, 0, "a")
	d.exec.Hint(d.now, "a")
	d.settle()
	d.pass(set.Limits.DepartureGrace - time.Second)
	d.isIn(gang.Active)
	d.pass(time.Second)
	if d.told("lost: ") != 1 {
		t.Error("it is not lost in time")
	}
}

// A guest that left unseen, at a start or on a silent node, has ended with the exit status on its console,
// if that is of its own incarnation; otherwise it is lost.
func TestMissingGuestsTell(t *testing.T) {
	set := settings()
	set.Limits.DepartureGrace = 5 * time.Second
	for name, tt := range map[string]struct {
		told hypervisor.Guest
		want string // in an event
	}{
		"told":                  {hypervisor.Guest{VM: cluster.VMID{VJob: 1}, Incarnation: 1}, "vjob 1 has failed: the work of VM 1.0 ended with exit code 3"},
		"by an earlier guest":   {hypervisor.Guest{VM: cluster.VMID{VJob: 1}, Incarnation: 0}, "lost: "},
		"by a guest of another": {hypervisor.Guest{VM: cluster.VMID{VJob: 2}, Incarnation: 1}, "lost: "},
	} {
		for _, silent := range []bool{true, false} {
			l := world(job(1, 1, cluster.Running))
			l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
			d := newHarness(t, set, l)
			d.exits = map[hypervisor.Guest]cluster.ExitStatus{tt.told: cluster.Exited(3)}
			if silent {
				d.settle()
				d.dead["a"] = true
				d.pass(time.Minute)
				d.isIn(gang.Active)
				d.dead["a"] = false
			}
			d.gone(1, 0, "a")
			d.pass(time.Minute)
			if d.told(tt.want) != 1 {
				t.Errorf("%s, silent %t: the events do not say %q", name, silent, tt.want)
			}
		}
	}
}

// A job on a copy that lasts twice as long as a call of its kind may is aborted; the time
// before the start of the scheduler does not count.
func TestLateJobsAreAborted(t *testing.T) {
	for work, deadline := range map[hypervisor.Job]time.Duration{
		hypervisor.JobSaving: 415 * time.Second, hypervisor.JobRestoring: 495 * time.Second,
		hypervisor.JobOutgoing: 111 * time.Second, hypervisor.JobIncoming: 111 * time.Second,
		hypervisor.JobUnknown: 0, // nothing tells how long it may last
	} {
		l := world(job(1, 2, cluster.Running))
		l.VJobs[0].VMs[1].Reserved.Memory = 2048
		l.Gangs = append(l.Gangs, at(1, gang.Active, "b", "a"))
		d := newHarness(t, priced(), l)
		d.copies["a"][0].Job = work
		if work == hypervisor.JobOutgoing {
			d.has(1, 1, "c", hypervisor.CopyPaused)
		}
		d.settle()
		if deadline == 0 {
			d.pass(time.Hour)
			d.wants("")
			continue
		}
		d.pass(2 * deadline)
		d.wants("")
		d.pass(settings().LookEvery)
		d.wants("1 abort 1.1@a")
	}
}

// Calls of ranks that a vjob does not have, which only another database can have left, end
// without a word.
func TestOpenCallsOfStrangeRanks(t *testing.T) {
	for _, verb := range []hypervisor.Verb{hypervisor.Discard, hypervisor.Tune} {
		for _, rank := range []int{1, 7} {
			l := world(job(1, 1, cluster.Waiting))
			l.Open, l.NextOp = []journal.Intent{{At: start, Call: hypervisor.Call{
				Op: 1, Verb: verb, VM: cluster.VMID{VJob: 1, Rank: rank}, Node: "a",
			}}}, 2
			d := newHarness(t, settings(), l)
			d.settle()
			d.pass(settings().Settle)
			if got := d.result(1); len(got) != 1 {
				t.Errorf("%s of rank %d: the result is %+v", verb, rank, got)
			}
		}
	}
}
