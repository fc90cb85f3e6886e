package execute_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
	"vjob/tests/golden"
)

// written is what the steps since the last call write of vjobs, gangs, plans and skews, and
// the events beside that, one line each.
func (d *harness) written() string {
	var b strings.Builder
	since := func(at time.Time) string {
		if at.IsZero() {
			return "-"
		}
		return at.Sub(start).String()
	}
	for _, s := range d.steps {
		for _, c := range s.VJobs {
			fmt.Fprintf(&b, "vjob %s: %s, outcome %q, version %d, held %t %q, started %s, ended %s\n",
				c.ID, c.State, c.Outcome, c.Version, c.Held, c.Cause, since(c.Started), since(c.Ended))
		}
		for _, r := range s.Gangs {
			fmt.Fprintf(&b, "gang %s: %s", r.VJob, r.Phase)
			for _, m := range r.Members {
				fmt.Fprintf(&b, ", %s>%s image %t", m.Node, m.Next, m.Image != nil)
			}
			fmt.Fprintln(&b)
		}
		for _, p := range s.Plans {
			fmt.Fprintf(&b, "plan %d: %s at %s, policy %s, %d actions\n", p.ID, p.State, since(p.At), p.Policy, len(p.Plan.Actions))
		}
		for _, a := range s.Actions {
			fmt.Fprintf(&b, "plan %d: action %d is %s %q\n", a.Plan, a.Action, a.State, a.Note)
		}
		for _, c := range s.Closed {
			fmt.Fprintf(&b, "plan %d: %s at %s %q\n", c.ID, c.State, since(c.Ended), c.Note)
		}
		for _, k := range s.Skews {
			fmt.Fprintf(&b, "skew of plan %d: vjob %s, %s %s\n", k.Plan, k.VJob, k.Kind, k.Skew)
		}
		for _, e := range s.Events {
			fmt.Fprintf(&b, "event at %s: %s vjob %s plan %d node %q state %q: %s\n", since(e.At), e.Kind, e.VJob, e.Plan, e.Node, e.State, e.TextFor(""))
		}
	}
	d.steps = nil
	return b.String()
}

// Everything that a vjob goes through is written: its state, its gang, the plan and the skew.
func TestALifeIsWritten(t *testing.T) {
	set := settings()
	set.Limits.StopGrace = 0
	l := world(job(1, 2, cluster.Waiting))
	l.Gangs = append(l.Gangs, at(1, gang.Absent, ""))
	l.Gangs[0].Boots, l.Gangs[0].Incarnation, l.Gangs[0].Generation = 0, 0, 0
	d := newHarness(t, set, l)
	d.settle()
	live := act(cluster.Migrate, 1, 1, "b", "c")
	live.Live = true
	var ended []journal.EndedVJob
	d.exec.Ended = func(p journal.EndedVJob) { ended = append(ended, p) }
	var text strings.Builder
	for i, c := range []struct {
		name string
		do   func(id journal.PlanID)
	}{
		{"boot", func(id journal.PlanID) {
			d.adoptAs(id, []ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 1, 1, "", "b"))
		}},
		{"pause", func(id journal.PlanID) {
			d.adoptAs(id, []ctxGang{group(cluster.Pause, 1, 0, 1)}, act(cluster.Pause, 1, 0, "a", "a"), act(cluster.Pause, 1, 1, "b", "b"))
		}},
		{"hold", func(journal.PlanID) {
			if err := d.exec.Hold(d.now, 1, true, cluster.Because("held by u")); err != nil {
				t.Fatal(err)
			}
		}},
		{"unpause", func(id journal.PlanID) {
			d.adoptAs(id, []ctxGang{group(cluster.Unpause, 1, 0, 1)}, act(cluster.Unpause, 1, 0, "a", "a"), act(cluster.Unpause, 1, 1, "b", "b"))
		}},
		{"suspend", func(id journal.PlanID) {
			d.adoptAs(id, []ctxGang{group(cluster.Suspend, 1, 0, 1)}, act(cluster.Suspend, 1, 0, "a", ""), act(cluster.Suspend, 1, 1, "b", ""))
		}},
		{"resume", func(id journal.PlanID) {
			d.adoptAs(id, []ctxGang{group(cluster.Resume, 1, 0, 1)}, act(cluster.Resume, 1, 0, "", "a"), act(cluster.Resume, 1, 1, "", "b"))
		}},
		{"migrate", func(id journal.PlanID) { d.adoptAs(id, []ctxGang{group(cluster.Migrate, 1, 0)}, live) }},
		{"delete", func(journal.PlanID) {
			if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted by u")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		d.pass(time.Second)
		c.do(journal.PlanID(i + 1))
		d.settle()
		d.obeyIn(time.Second)
		d.pass(time.Second)
		fmt.Fprintf(&text, "== %s\n%s", c.name, d.written())
	}
	if len(ended) != 1 || ended[0].ID != 1 || ended[0].Outcome != cluster.Deleted {
		t.Errorf("the callback gets %+v", ended)
	}
	golden.Same(t, "testdata/life.txt", text.String())
	if _, live := d.exec.Job(1); live {
		t.Error("it has not ended")
	}
}

// A vjob for which an invariant does not hold is left alone: its plan is dropped, and nothing
// is called or written for it any more, whatever happens.
func TestNothingIsDoneForABrokenVJob(t *testing.T) {
	l := world(job(1, 1, cluster.Suspended), job(2, 1, cluster.Waiting)) // suspended, and without an image
	d := newHarness(t, settings(), l)
	d.settle()
	changes := d.exec.Changes()
	d.adopt([]ctxGang{group(cluster.Boot, 1, 0), group(cluster.Boot, 2, 1)},
		act(cluster.Boot, 1, 0, "", "a"), act(cluster.Boot, 2, 0, "", "b", 0))
	if got := d.progress(1, 2); got != "dropped dropped; failed" {
		t.Errorf("the plan: %s", got)
	}
	if d.exec.Changes() == changes {
		t.Error("no new decision is wanted")
	}
	if got := d.written(); strings.Contains(got, "vjob 1: booting") || !strings.Contains(got, "alarm vjob 1") {
		t.Errorf("written: %s", got)
	}
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.exec.Hint(d.now, "a")
	d.pass(10 * time.Minute)
	d.wants("")
	for _, s := range d.steps {
		if len(s.VJobs)+len(s.Gangs)+len(s.Actions) > 0 {
			t.Errorf("written: %+v", s)
		}
	}
	if n := d.told("is left alone"); n != 0 {
		t.Errorf("told %d times more", n)
	}
}

// The time to wait for room begins when nothing is under way: a call that takes long does not use it up.
func TestRoomTimeoutWaitsForCalls(t *testing.T) {
	for _, busy := range []int{0, 1} {
		set := settings()
		set.Costs.Boot = 10 * time.Minute
		set.RoomTimeout = 61 * time.Second // no look is due then
		d := newHarness(t, set, full(job(1, 2, cluster.Waiting)))
		d.settle()
		nodes := [2]cluster.NodeID{"a", "a"}
		nodes[busy] = "b"
		d.adopt([]ctxGang{group(cluster.Boot, 1, 0, 1)}, act(cluster.Boot, 1, 0, "", nodes[0]), act(cluster.Boot, 1, 1, "", nodes[1]))
		d.pass(2 * set.RoomTimeout)
		d.isIn(gang.Creating)
		d.obey()
		d.pass(set.RoomTimeout - time.Second)
		d.isIn(gang.Creating)
		d.pass(time.Second)
		d.isIn(gang.Clearing)
	}
}

// A vjob that ends leaves the images that it keeps, until their time is over; those of one
// that keeps none are of no vjob that is known.
func TestEndedVJobsLeaveImages(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		set := settings()
		set.KeepLost = time.Hour
		l := lost(cluster.Waiting)
		if !keeps {
			l.Gangs[0].Kept = nil
		}
		d := newHarness(t, set, l)
		d.settle()
		if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted by u")); err != nil {
			t.Fatal(err)
		}
		d.settle()
		if _, live := d.exec.Job(1); live {
			t.Fatal("it has not ended")
		}
		d.store.Images = []hypervisor.Image{imageOf(1, 2)}
		d.pass(40 * time.Second)
		want := "node down"
		if !keeps {
			want = "vjob 1 is not known"
		}
		if list := d.exec.Images.Orphans(); len(list) != 1 || !strings.HasPrefix(list[0].Why, want) || list[0].Until.IsZero() == keeps {
			t.Errorf("keeps %t: %+v", keeps, list)
		}
		d.pass(time.Hour)
		if n := d.count(hypervisor.Discard); n > 0 != keeps {
			t.Errorf("keeps %t: %d images are deleted", keeps, n)
		}
	}
}

// Images that a loss in this process leaves are kept, and deleted when their time is over.
func TestImagesOfALossExpire(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	l := world(job(1, 2, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a", "b"))
	d := newHarness(t, set, l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.has(1, 1, "b", hypervisor.CopyPaused)
	d.settle()
	d.wants("1 save 1.0@a, 2 save 1.1@b")
	d.saved(0)
	d.reply(1, nil)
	d.gone(1, 1, "b") // and no image is left
	d.reply(2, nil)
	for d.told("lost:") == 0 && d.now.Before(start.Add(10*time.Minute)) {
		d.pass(time.Second)
		d.obeyed = max(d.obeyed, 2)
		d.obey()
	}
	d.isIn(gang.Absent)
	d.pass(start.Add(time.Hour).Sub(d.now))
	if n := d.count(hypervisor.Discard); n > 0 || len(d.exec.Images.Orphans()) != 1 {
		t.Errorf("%d images are deleted, kept are %+v", n, d.exec.Images.Orphans())
	}
	d.pass(5 * time.Minute)
	if n := d.count(hypervisor.Discard); n == 0 {
		t.Error("the image stays for ever")
	}
}

// While the image store cannot be read it is tried again every few seconds, not at once,
// however urgently a gang waits for it.
func TestALostStoreIsNotAskedWithoutPause(t *testing.T) {
	l := world(job(1, 1, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.wants("1 save 1.0@a")
	d.saved(0)
	d.storeErr = errors.New("stale file handle")
	d.exec.Replied(d.now, execute.Reply{Op: 1, Began: d.now, Ended: d.now})
	asked := 0
	for end := d.now.Add(time.Minute); d.now.Before(end); {
		d.flush()
		for range 3 {
			if d.looking {
				asked++
				d.looking = false
				d.exec.LookedStore(d.now, d.store, d.storeErr)
				d.flush()
			}
		}
		for _, node := range d.looks {
			d.exec.Looked(d.now, node, hypervisor.View{Node: node, Copies: d.copies[node]}, nil)
		}
		d.looks = nil
		d.now = d.now.Add(time.Second)
		d.exec.Tick(d.now)
	}
	if asked < 8 || asked > 15 {
		t.Errorf("asked %d times in a minute", asked)
	}
	d.storeErr = nil
	d.pass(settings().LookEvery)
	d.wants("1 save 1.0@a, 2 seal 1.0@a")
}
