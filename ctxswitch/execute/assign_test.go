package execute_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// onNodes has vjob 1 run on a and b, and vjob 2 on c, each VM of 1 CPU.
func onNodes(t *testing.T) *harness {
	t.Helper()
	set := settings()
	set.Limits.StopGrace = 0
	l := world(job(1, 2, cluster.Running), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a", "b"), at(2, gang.Active, "c"))
	d := newHarness(t, set, l)
	d.settle()
	return d
}

// What an assignment waits for, and what becomes of it when that is not done. The suspension
// of vjob 2 is action 0 of each plan.
func TestAssignmentsWait(t *testing.T) {
	move := func(rank int, from, to cluster.NodeID, live bool, after ...ctxswitch.ActionID) ctxswitch.Action {
		a := act(cluster.Migrate, 1, rank, from, to, after...)
		a.Live = live
		return a
	}
	for _, c := range []struct {
		name    string
		kind    cluster.ActionKind
		actions []ctxswitch.Action
		before  string // calls on vjob 1 before vjob 2 is suspended
		after   string // and then
	}{
		{
			"a suspension waits for all", cluster.Suspend,
			[]ctxswitch.Action{act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "b", "", 0)},
			"", "pause pause",
		},
		{
			"the other way round", cluster.Suspend,
			[]ctxswitch.Action{act(cluster.Suspend, 1, 0, "a", "", 0), act(cluster.Suspend, 1, 1, "b", "")},
			"", "pause pause",
		},
		{
			"a live migration waits for some", cluster.Migrate,
			[]ctxswitch.Action{move(0, "a", "b", true), move(1, "b", "c", true, 0)},
			"migrate", "migrate",
		},
		{
			"a migration that pauses waits for all", cluster.Migrate,
			[]ctxswitch.Action{move(0, "a", "b", false), move(1, "b", "c", true, 0)},
			"", "pause pause",
		},
		{
			"none of a live migration may begin", cluster.Migrate,
			[]ctxswitch.Action{move(0, "a", "c", true, 0), move(1, "b", "c", true, 0)},
			"", "migrate migrate",
		},
		{
			"a second hop waits for itself", cluster.Migrate,
			[]ctxswitch.Action{move(0, "a", "b", true), move(0, "b", "c", true, 1, 0)},
			"migrate", "migrate",
		},
	} {
		for _, fails := range []bool{false, true} {
			d := onNodes(t)
			first := act(cluster.Suspend, 2, 0, "c", "")
			ids := []ctxswitch.ActionID{1, 2}
			d.adopt([]ctxGang{group(cluster.Suspend, 2, 0), group(c.kind, 1, ids...)}, append([]ctxswitch.Action{first}, slices.Clone(c.actions)...)...)
			verbs := func() string {
				var list []string
				for _, call := range d.calls {
					if call.VM.VJob == 1 {
						list = append(list, call.Verb.String())
					}
				}
				return strings.Join(list, " ")
			}
			d.wait(1)
			if got := verbs(); got != c.before {
				t.Errorf("%s: before, calls are %q, want %q", c.name, got, c.before)
			}
			if fails {
				d.gone(2, 0, "c")
				i := slices.IndexFunc(d.calls, func(call hypervisor.Call) bool { return call.VM.VJob == 2 })
				d.reply(d.calls[i].Op, hypervisor.ErrNoSuchVM)
				d.wait(1)
				if got := verbs(); got != c.before {
					t.Errorf("%s: what it waits for has failed, and calls are %q", c.name, got)
				}
				r, _ := d.exec.Job(1)
				if got := d.progress(1, 3); r.Record.Phase != gang.Active || !strings.HasSuffix(got, "; failed") || strings.Contains(got, "running") {
					t.Errorf("%s: it is %s, and the plan %s", c.name, r.Record.Phase, got)
				}
				continue
			}
			d.wait(2)
			d.wait(1)
			d.wait(2)
			if got := verbs(); !strings.HasPrefix(got, strings.TrimSpace(c.before+" "+c.after)) {
				t.Errorf("%s: calls are %q, want %q and %q", c.name, got, c.before, c.after)
			}
			d.obey()
			d.isIn(map[cluster.ActionKind]gang.Phase{cluster.Suspend: gang.Saved, cluster.Migrate: gang.Active}[c.kind])
			if got := d.progress(1, 3); got != "done done done; done" {
				t.Errorf("%s: the plan is %s", c.name, got)
			}
		}
	}
}

// wait answers the calls on one vjob alone.
func (d *harness) wait(id cluster.VJobID) {
	for i := 0; i < len(d.calls); i++ {
		if d.calls[i].VM.VJob == id && !slices.Contains(d.answered, i) {
			d.answered = append(d.answered, i)
			d.carryOut(d.calls[i], 0)
		}
	}
}

// A gang under way that can no longer get what its plan promised goes back as a whole, and
// says why.
func TestABootGoesBackWhenItsRoomIsGivenUp(t *testing.T) {
	l := world(job(1, 2, cluster.Waiting), job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(2, gang.Active, "c"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 2, 0), group(cluster.Boot, 1, 1, 2)},
		act(cluster.Suspend, 2, 0, "c", ""), act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "c", 0))
	d.wants("1 boot 1.0@a, 2 pause 2.0@c")
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.reply(1, nil)
	d.isIn(gang.Creating)
	d.gone(2, 0, "c")
	d.reply(2, hypervisor.ErrNoSuchVM)
	d.isIn(gang.Clearing)
	if d.told("suspend of VM 2.0, which it waited for, was given up") == 0 {
		t.Errorf("the cause is missing")
	}
	d.gone(1, 0, "a")
	d.reply(3, nil)
	d.isIn(gang.Absent)
	if got := d.progress(1, 3); got != "failed failed failed; failed" {
		t.Errorf("the plan: %s", got)
	}
}

// A plan that does not suit the gang is dropped; one that comes too early waits.
func TestPlansThatDoNotSuit(t *testing.T) {
	d := onNodes(t)
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"))
	if got := d.progress(1, 2); got != "dropped dropped; failed" {
		t.Errorf("a boot of what runs: %s", got)
	}
	if got := d.written(); strings.Contains(got, "gang 1") {
		t.Errorf("the gang is written: %s", got)
	}
	d.wants("")
	if err := d.exec.Clear(d.now, 1, gang.ThenWait, cluster.Because("requeued")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	d.adoptAs(2, []ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"))
	if got := d.progress(2, 2); got != " ; running" {
		t.Errorf("a boot of what is cleared: %s", got)
	}
	d.obey()
	if r, _ := d.exec.Job(1); r.Record.Phase != gang.Active || r.Failures != 0 {
		t.Errorf("it is %+v", r)
	}
	if got := d.progress(2, 2); got != "done done; done" {
		t.Errorf("a boot of what was cleared: %s", got)
	}
}

// A guest that shuts down while a plan waits ends its vjob, and its part of the plan.
func TestAnEndDropsThePlan(t *testing.T) {
	d := onNodes(t)
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0, 1), group(cluster.Suspend, 2, 2)},
		act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "b", ""), act(cluster.Suspend, 2, 0, "c", "", 0))
	d.gone(2, 0, "c")
	d.exec.Hint(d.now, "c")
	d.flush()
	d.looks = slices.DeleteFunc(d.looks, func(n cluster.NodeID) bool { return n == "c" })
	d.exec.Looked(d.now, "c", hypervisor.View{Node: "c", Endings: []hypervisor.Ending{{
		VM: cluster.VMID{VJob: 2}, Stamp: hypervisor.Stamp{Incarnation: 1}, Cause: hypervisor.CauseShutdown,
	}}}, nil)
	d.settle()
	if _, live := d.exec.Job(2); live {
		t.Error("vjob 2 has not ended")
	}
	if got := d.progress(1, 3); got != "running running dropped; running" {
		t.Errorf("the plan: %s", got)
	}
}

// A member of which the migration fails too often stays where it is, and the other members move. Its action
// has failed, theirs are done.
func TestAMemberStays(t *testing.T) {
	for stays := range 2 {
		d := onNodes(t)
		first, hop, other := act(cluster.Migrate, 1, stays, []cluster.NodeID{"a", "b"}[stays], "c"),
			act(cluster.Migrate, 1, stays, "c", []cluster.NodeID{"b", "a"}[stays], 0),
			act(cluster.Migrate, 1, 1-stays, []cluster.NodeID{"b", "a"}[stays], "c")
		first.Live, hop.Live, other.Live = true, true, true
		d.adopt([]ctxGang{group(cluster.Migrate, 1, 0, 1, 2)}, first, hop, other)
		for ; d.obeyed < len(d.calls) && d.obeyed < 20; d.obeyed++ {
			c := d.calls[d.obeyed]
			if c.VM.Rank == stays {
				d.reply(c.Op, hypervisor.ErrRefused)
			} else {
				d.carryOut(c, 0)
			}
		}
		d.isIn(gang.Active)
		if got := d.progress(1, 3); got != "failed failed done; failed" {
			t.Errorf("rank %d stays: the plan is %s", stays, got)
		}
		r, _ := d.exec.Job(1)
		if r.Failures != 1 || len(r.Refusals) != 1 || r.Refusals[0].VM.Rank != stays || r.Refusals[0].Node != "c" {
			t.Errorf("rank %d stays: %d failures, refused are %+v", stays, r.Failures, r.Refusals)
		}
		from := []cluster.NodeID{"a", "b"}[1-stays]
		d.has(1, 1-stays, "c", hypervisor.CopyRunning)
		back := act(cluster.Migrate, 1, 1-stays, "c", from)
		back.Live = true
		d.adoptAs(2, []ctxGang{group(cluster.Migrate, 1, 0)}, back)
		d.obey()
		if r, _ := d.exec.Job(1); r.Failures != 0 || len(r.Refusals) != 0 {
			t.Errorf("after a success: %d failures, refused are %+v", r.Failures, r.Refusals)
		}
	}
}

// A gang that cannot be saved goes back after a few tries; those of the pause before do not
// count.
func TestSavesAreBounded(t *testing.T) {
	set := settings()
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, set, l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Suspend, 1, 0)}, act(cluster.Suspend, 1, 0, "a", ""))
	d.carryOut(d.calls[0], 0)
	for i := 1; i < len(d.calls) && i < 10 && d.calls[i].Verb == hypervisor.Save; i++ {
		d.isIn(gang.Saving)
		d.reply(d.calls[i].Op, errors.New("internal error"))
	}
	if n := d.count(hypervisor.Save); n != set.Limits.MaxTries {
		t.Errorf("%d saves:\n%s", n, d.wanted())
	}
}

// An image that cannot be sealed holds its vjob, and says why.
func TestABadImageHoldsItsVJob(t *testing.T) {
	l := world(job(1, 1, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.saved(0)
	d.reply(1, nil)
	d.wants("1 save 1.0@a, 2 seal 1.0@a")
	d.reply(2, hypervisor.ErrBadImage)
	if r, _ := d.exec.Job(1); !r.Job.Held || r.Job.Hold.Text == "" {
		t.Errorf("it is not held: %+v", r.Job)
	}
}

// What a gang that comes to rest gives back is taken at once.
func TestWhatIsGivenBackIsTaken(t *testing.T) {
	comes := large(1, 4000, cluster.Waiting)
	l := world(comes, job(2, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(2, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0), group(cluster.Pause, 2, 1)},
		act(cluster.Boot, 1, 0, "", "a"), act(cluster.Pause, 2, 0, "a", "a"))
	d.wants("1 pause 2.0@a")
	d.has(2, 0, "a", hypervisor.CopyPaused)
	d.reply(1, nil)
	d.wants("1 pause 2.0@a, 2 boot 1.0@a")
	if got := d.written(); strings.Contains(got, "skew") {
		t.Errorf("one VM has a skew: %s", got)
	}
}

// A walltime begins when the vjob runs.
func TestAWalltimeBeginsWithTheVJob(t *testing.T) {
	j := job(1, 1, cluster.Waiting)
	j.Walltime = time.Hour
	d := newHarness(t, settings(), world(j))
	d.settle()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0)}, act(cluster.Boot, 1, 0, "", "a"))
	changes := d.exec.Changes()
	d.obeyIn(time.Second)
	if got := d.exec.Walltimes.Next(); !got.Equal(start.Add(time.Second + time.Hour)) {
		t.Errorf("the next walltime ends at %s", got)
	}
	if d.exec.Changes() == changes {
		t.Error("no new decision is wanted")
	}
}
