package execute_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

func openRestore(id hypervisor.ImageID) journal.Intent {
	return journal.Intent{At: start, Epoch: 1, Call: hypervisor.Call{
		Op: 1, Verb: hypervisor.Restore, VM: id.VM, Node: "a", Image: id, Attempt: 1,
	}}
}

// imageOf is a complete image of the first VM of a vjob.
func imageOf(id cluster.VJobID, generation int) hypervisor.Image {
	return hypervisor.Image{
		ID:   hypervisor.ImageID{VM: cluster.VMID{VJob: id}, Generation: generation, Attempt: 1},
		Node: "a", Bytes: 1 << 30, Complete: true,
	}
}

// lost is vjob 1, which was lost and waits, with an image that is kept since the start.
func lost(state cluster.State) journal.Loaded {
	l := world(job(1, 1, state))
	rec := at(1, gang.Absent, "")
	rec.Generation, rec.Kept = 3, []gang.Kept{{Generation: 2, Incarnation: 1, Since: start, Cause: "node down"}}
	l.Gangs = append(l.Gangs, rec)
	return l
}

func TestOrphans(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	d := newHarness(t, set, lost(cluster.Waiting))
	d.store.Images = []hypervisor.Image{imageOf(1, 1), imageOf(1, 2), imageOf(9, 1)}
	d.settle()
	list := d.exec.Images.Orphans()
	if len(list) != 2 {
		t.Fatalf("%d orphans, want the one that is kept and the one of an unknown vjob: %+v", len(list), list)
	}
	if o := list[0]; o.ID.Generation != 2 || !o.Restorable || !o.Until.Equal(start.Add(time.Hour)) || o.Why != "node down" {
		t.Errorf("got %+v", o)
	}
	if o := list[1]; o.ID.VM.VJob != 9 || o.Restorable || !o.Until.IsZero() || !strings.Contains(o.Why, "not known") {
		t.Errorf("got %+v", o)
	}
}

// Each generation that is kept can be restored if its own images are whole, and not older
// than the disks.
func TestWhichGenerationsAreRestorable(t *testing.T) {
	l := lost(cluster.Waiting)
	l.Gangs[0].Kept = []gang.Kept{{Generation: 1}, {Generation: 2}, {Generation: 3, Used: true}}
	d := newHarness(t, settings(), l)
	d.store.Images = []hypervisor.Image{imageOf(1, 1), imageOf(1, 2), imageOf(1, 3)}
	d.store.Images[0].Complete = false
	d.settle()
	var got []bool
	for _, o := range d.exec.Images.Orphans() {
		got = append(got, o.Restorable)
	}
	if want := []bool{false, true, false}; !slices.Equal(got, want) {
		t.Errorf("restorable: %v, want %v", got, want)
	}
}

// Images from which a vjob is restored stay until it runs, however long they were kept.
func TestRestoreOfKeptImages(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	d := newHarness(t, set, lost(cluster.Waiting))
	d.store.Images = []hypervisor.Image{imageOf(1, 2)}
	d.settle()
	if err := d.exec.Images.Restore(d.now, 1, 5, "ada"); !errors.Is(err, cluster.ErrInvalid) {
		t.Errorf("of a generation that is not kept: %v", err)
	}
	if err := d.exec.Images.Restore(d.now, 7, 0, "ada"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("of a vjob that is not known: %v", err)
	}
	if err := d.exec.Images.Restore(d.now, 1, 0, "ada"); err != nil {
		t.Fatal(err)
	}
	d.settle()
	d.wants("1 seal 1.0@a")
	d.reply(1, nil)
	d.isIn(gang.Saved)
	r, _ := d.exec.Job(1)
	if !r.Job.Held || r.Job.State != cluster.Suspended || len(r.Record.Kept) != 1 || !r.Record.Kept[0].Wanted {
		t.Errorf("held: %v, %s, kept %+v", r.Job.Held, r.Job.State, r.Record.Kept)
	}
	d.pass(2 * time.Hour)
	d.wants("1 seal 1.0@a")
	if r, _ := d.exec.Job(1); len(r.Record.Kept) != 1 {
		t.Error("the images expire")
	}
}

// Images are kept for as long as the settings say, also of a vjob that has ended; those
// that are newer than the record stay.
func TestKeptImagesExpire(t *testing.T) {
	set := settings()
	set.KeepLost = time.Hour
	l := lost(cluster.Waiting)
	l.Gangs[0].Kept = append(l.Gangs[0].Kept, gang.Kept{Generation: 3, Newer: true, Since: start})
	l.Ended = append(l.Ended, gang.Record{VJob: 5, Kept: []gang.Kept{{Generation: 1, Since: start}}, Generation: 1, Members: make([]gang.Member, 1)})
	d := newHarness(t, set, l)
	d.store.Images = []hypervisor.Image{imageOf(1, 2), imageOf(1, 3), imageOf(5, 1)}
	d.settle()
	d.pass(time.Hour - time.Second)
	d.wants("")
	d.pass(5 * time.Second)
	d.wants("1 discard 5.0@a, 2 discard 1.0@a")
	d.store.Images = d.store.Images[1:2]
	d.reply(1, nil)
	d.reply(2, nil)
	d.pass(time.Minute)
	last := d.steps[len(d.steps)-1]
	var left *gang.Record
	for _, s := range d.steps {
		for i := range s.Gangs {
			if s.Gangs[i].VJob == 5 {
				left = &s.Gangs[i]
			}
		}
	}
	if left == nil || len(left.Kept) > 0 {
		t.Errorf("vjob 5 still keeps images: %+v, last step %+v", left, last)
	}
	if r, _ := d.exec.Job(1); len(r.Record.Kept) != 1 || r.Record.Kept[0].Generation != 3 {
		t.Errorf("vjob 1 keeps %+v", r.Record.Kept)
	}
}

// An administrator deletes an orphan, and no image that a gang is saved in.
func TestDiscardImage(t *testing.T) {
	l := lost(cluster.Suspended)
	saved := imageOf(1, 3)
	l.Gangs[0].Phase, l.Gangs[0].Members[0].Image = gang.Saved, &gang.Image{ID: saved.ID, Node: "a"}
	d := newHarness(t, settings(), l)
	d.store.Images = []hypervisor.Image{saved, imageOf(9, 1)}
	d.settle()
	if err := d.exec.Images.Discard(d.now, saved.ID, "ada"); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("of one that a gang is saved in: %v", err)
	}
	if err := d.exec.Images.Discard(d.now, imageOf(9, 2).ID, "ada"); !errors.Is(err, cluster.ErrNotFound) {
		t.Errorf("of one that is not there: %v", err)
	}
	d.steps = nil
	later := d.now.Add(time.Second)
	if err := d.exec.Images.Discard(later, imageOf(9, 1).ID, "ada"); err != nil {
		t.Error(err)
	}
	d.settle()
	d.wants("1 discard 9.0@a")
	want := journal.Event{At: later, Kind: journal.EventAction, VM: "9.0", Node: "a", Text: "image 9.0.g1.a1 is deleted by ada"}
	if got := d.steps[0].Events; len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("told is %+v, want %+v", got, want)
	}
}

// A vjob with a record that breaks an invariant is left alone, with an alarm; the others go on.
func TestOneBadRowStopsOneVJob(t *testing.T) {
	l := world(job(1, 1, cluster.Suspended), job(2, 1, cluster.Waiting)) // says that it is suspended, and its gang boots
	rec := at(1, gang.Creating, "")
	rec.Members[0].Next = "a"
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyRunning)
	d.settle()
	if d.told("vjob 1 is left alone") != 1 {
		t.Error("no alarm is raised")
	}
	d.exec.Adopt(d.now, 1, "test", ctxswitch.Plan{
		Actions: []ctxswitch.Action{act(cluster.Boot, 2, 0, "", "b")}, Gangs: []ctxGang{group(cluster.Boot, 2, 0)},
	})
	d.settle()
	d.wants("1 boot 2.0@b")
	if r, _ := d.exec.Job(1); r.Idle || !strings.Contains(r.Wait, "left alone") {
		t.Errorf("idle: %v, waits for %q", r.Idle, r.Wait)
	}
}

// A long call raises one alarm, before it is given up.
func TestLongCallsAreTold(t *testing.T) {
	set := settings()
	set.Costs.SuspendPer = time.Hour // per GiB: the deadline is four hours away
	l := world(job(1, 1, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a"))
	d := newHarness(t, set, l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.wants("1 save 1.0@a")
	d.pass(59 * time.Minute)
	if d.told("is given up at") != 0 {
		t.Error("the alarm comes too early")
	}
	d.pass(2 * time.Hour)
	if n := d.told("is given up at"); n != 1 {
		t.Errorf("%d alarms, want one", n)
	}
}

// A call without a reply may still happen: it stays open until its node has answered for
// long enough, and no other call is made beside it.
func TestLostRepliesSettle(t *testing.T) {
	l := world(job(1, 1, cluster.Suspending))
	l.Gangs = append(l.Gangs, at(1, gang.Saving, "a"))
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.settle()
	d.wants("1 save 1.0@a")
	d.reply(1, fmt.Errorf("connection closed: %w", hypervisor.ErrTimeout))
	d.pass(settings().Settle - time.Second)
	d.wants("1 save 1.0@a")
	if d.told("save of 1.0 on a: no reply") != 1 {
		t.Error("it is not told")
	}
	d.pass(5 * time.Second)
	d.wants("1 save 1.0@a, 2 save 1.0@a")
}
