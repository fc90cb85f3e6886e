package execute_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// How a guest left is what an ending says of its VM, in its present life, on the node where
// it was.
func TestEndingsOfMembers(t *testing.T) {
	own := hypervisor.Ending{VM: cluster.VMID{VJob: 1}, Stamp: hypervisor.Stamp{Incarnation: 1}, Cause: hypervisor.CauseShutdown}
	for _, c := range []struct {
		name   string
		node   cluster.NodeID
		change func(*hypervisor.Ending)
		want   string // the cause of the phase
	}{
		{"shut down", "a", func(*hypervisor.Ending) {}, "all its VMs have shut themselves down"},
		{"crashed", "a", func(e *hypervisor.Ending) { e.Cause = hypervisor.CauseCrashed }, "1.0 ended: crashed"},
		{"of another VM", "a", func(e *hypervisor.Ending) { e.VM.Rank = 1 }, "1.0 is no longer on a"},
		{"of an earlier life", "a", func(e *hypervisor.Ending) { e.Stamp.Incarnation = 0 }, "1.0 is no longer on a"},
		{"elsewhere", "b", func(*hypervisor.Ending) {}, "1.0 is no longer on a"},
	} {
		l := world(job(1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
		d := newHarness(t, settings(), l)
		d.settle()
		d.gone(1, 0, "a")
		ending := own
		c.change(&ending)
		d.endings = map[cluster.NodeID][]hypervisor.Ending{c.node: {{VM: cluster.VMID{VJob: 9}, Cause: hypervisor.CauseCrashed}, ending}}
		d.exec.Hint(d.now, "b")
		d.settle()
		d.exec.Hint(d.now, "a")
		d.flush()
		d.settle()
		if d.told(c.want) == 0 {
			t.Errorf("%s: %q is not told", c.name, c.want)
		}
	}
}

// A gang keeps still while a node does not answer that may hold a copy: where a member is,
// where it goes, where a call was made. Before the first look nothing is known either way,
// and a node that is down, or was switched off, holds nothing.
func TestGangsThatKeepStill(t *testing.T) {
	set := settings()
	set.Limits.StopGrace = 0
	for _, c := range []struct {
		name    string
		prepare func(d *harness)
		wait    string
		calls   string
	}{
		{"all answer", func(d *harness) { d.settle() }, "migrates", "1 migrate 1.0@a>b"},
		{"not looked at", func(d *harness) {
			d.flush()
			d.exec.Looked(d.now, "a", hypervisor.View{Node: "a", Copies: d.copies["a"]}, nil)
			d.flush()
		}, "migrates", ""},
		{"its node is silent", func(d *harness) { d.dead["a"] = true; d.settle() }, "keeps still: a may hold a copy and does not answer", ""},
		{"the next is silent", func(d *harness) { d.dead["b"] = true; d.settle() }, "keeps still: b may hold a copy and does not answer", ""},
		{"another is silent", func(d *harness) { d.dead["c"] = true; d.settle() }, "migrates", "1 migrate 1.0@a>b"},
		{"the next is down", func(d *harness) {
			d.exec.SetNode(d.now, cluster.Node{ID: "b", State: cluster.Down})
			d.settle()
		}, "migrates", ""},
		{"the next is off", func(d *harness) {
			d.dead["b"] = true
			d.exec.PowerStates.Set(d.now, "b", time.Minute, 0)
			d.settle()
		}, "migrates", ""},
	} {
		rec := at(1, gang.Shifting, "a")
		rec.Members[0].Next = "b"
		l := world(job(1, 1, cluster.Migrating))
		l.Gangs = append(l.Gangs, rec)
		d := newHarness(t, set, l)
		c.prepare(d)
		if r, _ := d.exec.Job(1); r.Wait != c.wait || d.wanted() != c.calls {
			t.Errorf("%s: it waits for %q, want %q; calls are %q", c.name, r.Wait, c.wait, d.wanted())
		}
	}
}

// A node that is not known, because it was removed from the database, may hold a copy.
func TestGangsOnNodesThatAreNotKnown(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "x"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.pass(time.Minute)
	if r, _ := d.exec.Job(1); !strings.Contains(r.Wait, "x may hold a copy") {
		t.Errorf("it waits for %q", r.Wait)
	}
	d.isIn(gang.Active)
}

// A gang of which a node is declared down is lost at once, whatever its other members do. A
// member on its way to another node is looked for there, and may have ended there.
func TestMembersOnNodesThatAreDown(t *testing.T) {
	for _, c := range []struct {
		name  string
		moves bool
		ended bool // where it goes, in order
		lost  int
		want  gang.Phase
	}{
		{"it stays", false, false, 1, gang.Clearing},
		{"it has moved", true, false, 0, gang.Active},
		{"it has moved and ended", true, true, 0, gang.Active},
	} {
		rec := at(1, gang.Active, "a", "b")
		if c.moves {
			rec.Phase, rec.Members[0].Next = gang.Shifting, "c"
		}
		l := world(job(1, 2, rec.State()))
		l.Gangs = append(l.Gangs, rec)
		d := newHarness(t, settings(), l)
		d.settle()
		switch {
		case c.ended:
			d.endings = map[cluster.NodeID][]hypervisor.Ending{"c": {{
				VM: cluster.VMID{VJob: 1}, Stamp: hypervisor.Stamp{Incarnation: 1}, Cause: hypervisor.CauseShutdown,
			}}}
		case c.moves:
			d.has(1, 0, "c", hypervisor.CopyRunning)
		}
		d.exec.SetNode(d.now, cluster.Node{ID: "a", State: cluster.Down})
		d.reply(1, nil)
		d.isIn(c.want)
		if lost := d.told("lost: 1.0 was on a, which is down"); lost != c.lost {
			t.Errorf("%s: told %d times that it is lost", c.name, lost)
		}
	}
}

// What was seen of the image store before a call that changes it ended is not relied on, nor
// what a look shows that was under way then.
func TestTheStoreIsSeenAfterCalls(t *testing.T) {
	for _, looking := range []bool{false, true} {
		d := suspending(t, settings(), [2]int{}, [2]int{})
		d.wants("1 pause 1.0@a, 2 pause 1.1@b, 3 save 1.0@a, 4 save 1.1@b")
		if looking {
			d.store.Images = []hypervisor.Image{imageOf(9, 1)}
			d.pass(time.Second)
			d.exec.LookedStore(d.now, d.store, nil)
			if err := d.exec.Images.Discard(d.now, imageOf(9, 1).ID, "ada"); err != nil {
				t.Fatal(err)
			}
			d.settle()
			d.exec.Replied(d.now, execute.Reply{Op: 5})
			d.flush()
		}
		for op := hypervisor.OpID(3); op < 5; op++ {
			d.exec.Replied(d.now, execute.Reply{Op: op})
		}
		d.saved(0)
		d.saved(1)
		for i := range d.store.Images {
			d.store.Images[i].ID.Generation = 2
		}
		if looking {
			d.exec.LookedStore(d.now, d.store, nil)
		}
		for range 2 { // the first may have been under way, too
			for _, id := range []cluster.NodeID{"a", "b"} {
				d.exec.Looked(d.now, id, hypervisor.View{Node: id}, nil)
			}
			d.flush()
		}
		if r, _ := d.exec.Job(1); r.Wait != "the image store to be seen" {
			t.Errorf("looking %t: it waits for %q; calls are %s", looking, r.Wait, d.wanted())
		}
	}
}

// A gang that is cleared has not gone before its nodes were looked at.
func TestClearingWaitsForTheFirstLooks(t *testing.T) {
	rec := at(1, gang.Clearing, "a")
	rec.Then = gang.ThenFail
	l := world(job(1, 1, cluster.Stopping))
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.flush()
	d.exec.LookedStore(d.now, d.store, nil)
	d.flush()
	d.isIn(gang.Clearing)
	d.settle()
	d.wants("1 destroy 1.0@a")
}

// A member that has not been seen yet needs what it reserves.
func TestDemandOfMembersNotSeen(t *testing.T) {
	l := world(job(1, 2, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"))
	d := newHarness(t, settings(), l)
	d.copies["a"][0].CPU = 300
	d.dead["b"] = true
	d.settle()
	for rank, want := range []cluster.MilliCPU{300, 1000} {
		if got := d.exec.VMs.Demand(cluster.VMID{VJob: 1, Rank: rank}); got != want {
			t.Errorf("member %d needs %s, want %s", rank, got, want)
		}
	}
}

// A copy on a node that does not answer any more is not taken for seen.
func TestCopiesOnSilentNodes(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.wants("1 unpause 1.0@a")
	d.has(1, 0, "c", hypervisor.CopyPaused)
	d.exec.Hint(d.now, "c")
	d.settle()
	d.dead["c"] = true
	d.exec.Hint(d.now, "c")
	d.settle()
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.wants("1 unpause 1.0@a")
	d.dead["c"] = false
	d.exec.Hint(d.now, "c")
	d.settle()
	d.wants("1 unpause 1.0@a, 2 destroy 1.0@c")
}

// When both ends of a migration have been seen, what becomes of the first concerns the vjob
// no more.
func TestNodesThatWereLeft(t *testing.T) {
	rec := at(1, gang.Shifting, "a")
	rec.Members[0].Next = "b"
	l := world(job(1, 1, cluster.Migrating))
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.settle()
	d.gone(1, 0, "a")
	d.has(1, 0, "b", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.dead["a"] = true
	d.exec.Hint(d.now, "a")
	d.settle()
	if r, _ := d.exec.Job(1); r.Blind || r.Record.Phase != gang.Active {
		t.Errorf("it is %s, blind %t", r.Record.Phase, r.Blind)
	}
}

// A gang that is not paused within the limit goes on; a member that is seen paused does not
// wait for the reply to its pause. The phase dates from then.
func TestPausesTakeTooLong(t *testing.T) {
	most := settings().Limits.MaxSkew
	d := suspending(t, settings(), [2]int{0, 0})
	d.pass(most)
	d.isIn(gang.Pausing)
	d.pass(time.Second)
	d.isIn(gang.Resuming)
	d.wants("1 pause 1.0@a, 2 pause 1.1@b, 3 unpause 1.1@b")
	if r, _ := d.exec.Job(1); !r.Record.Since.Equal(d.now) {
		t.Errorf("it is so since %s, want %s", r.Record.Since, d.now)
	}
}

// A gang is not paused to be saved where the image store has no space for it.
func TestNoSpaceForImages(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.store.Free["a"] = hypervisor.Space{Pool: "own", Free: gang.ImageSpace(1024)}
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0)}, act(cluster.Suspend, 1, 0, "a", ""))
	d.wants("")
	d.isIn(gang.Active)
	if d.told("aborted: ") == 0 {
		t.Error("it is not told why")
	}
}

// While it is not known whether a copy is there, the time in which word of its end may come
// has not begun.
func TestWordIsWaitedForOnceItIsSeen(t *testing.T) {
	set := settings()
	set.Limits.DepartureGrace = 5 * time.Second
	for _, silent := range []bool{true, false} {
		l := world(job(1, 1, cluster.Running))
		l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
		d := newHarness(t, set, l)
		d.has(1, 0, "a", hypervisor.CopyPaused)
		d.settle()
		d.wants("1 unpause 1.0@a")
		d.gone(1, 0, "a")
		if silent {
			d.dead["a"] = true
			d.reply(1, nil)
		}
		d.pass(10 * time.Second)
		if silent {
			d.dead["a"] = false
			d.exec.Hint(d.now, "a")
			d.settle()
		} else {
			d.reply(1, nil)
		}
		d.pass(set.Limits.DepartureGrace - time.Second)
		d.isIn(gang.Active)
		d.pass(time.Second)
		if d.told("lost: ") != 1 {
			t.Errorf("silent %t: it is not lost in time", silent)
		}
	}
}

// How long a job on a copy may last counts from the call that began it.
func TestLateJobsOfCalls(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, priced(), l)
	d.settle()
	d.pass(20 * time.Minute)
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0)}, act(cluster.Suspend, 1, 0, "a", ""))
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.reply(1, nil)
	d.copies["a"][0].Job = hypervisor.JobSaving
	d.reply(2, hypervisor.ErrTimeout)
	d.pass(430 * time.Second) // twice what a save may take
	d.wants("1 pause 1.0@a, 2 save 1.0@a")
	d.pass(settings().LookEvery)
	d.wants("1 pause 1.0@a, 2 save 1.0@a, 3 abort 1.0@a")
}
