package execute_test

import (
	"errors"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// deletedUnseen is a vjob that is deleted while it is saved, after so many attempts, of which
// no look shows an image.
func deletedUnseen(t *testing.T, saves int) *harness {
	t.Helper()
	rec := at(1, gang.Saving, "a")
	rec.Members[0].Save = saves
	l := world(job(1, 1, cluster.Suspending))
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.gone(1, 0, "a")
	d.settle()
	if err := d.exec.Clear(d.now, 1, gang.ThenTerminate, cluster.Because("deleted")); err != nil {
		t.Fatal(err)
	}
	d.settle()
	return d
}

// A vjob is deleted while it is saved, and no look shows its image yet: the image is deleted
// by name, and the vjob has ended only when that is done.
func TestUnseenImagesAreDeleted(t *testing.T) {
	d := deletedUnseen(t, 1)
	for n := 1; n <= 2; n++ {
		if got := d.count(hypervisor.Discard); got != n {
			t.Fatalf("%d calls to delete the image, want %d", got, n)
		}
		last := d.calls[len(d.calls)-1]
		if want := imageOf(1, 1).ID; last.Image != want || last.Node != "a" {
			t.Fatalf("%s is deleted on %s, want %s on a", last.Image, last.Node, want)
		}
		d.isIn(gang.Clearing)
		d.reply(last.Op, errors.New("input/output error"))
		d.pass(time.Second)
	}
	d.reply(d.calls[len(d.calls)-1].Op, nil)
	d.settle()
	if _, ok := d.exec.Job(1); ok {
		t.Error("the image is deleted, and the vjob has not ended")
	}
	if n := d.count(hypervisor.Discard); n != 3 {
		t.Errorf("%d calls to delete the image, want 3", n)
	}
}

// Each image is deleted once: what became of one call is not forgotten over another.
func TestUnseenImagesAreDeletedOnce(t *testing.T) {
	d := deletedUnseen(t, 2)
	for op := range hypervisor.OpID(2) {
		d.reply(op+1, nil)
	}
	d.wants("1 discard 1.0@a, 2 discard 1.0@a")
	if _, ok := d.exec.Job(1); ok {
		t.Error("the images are deleted, and the vjob has not ended")
	}
}

// A guest crashes while the image store cannot be read: its gang waits for the store, and
// goes on once it can be read, though nothing else happens to it.
func TestAGangThatWaitsForTheStore(t *testing.T) {
	l := world(job(1, 1, cluster.Running))
	l.Gangs = append(l.Gangs, at(1, gang.Active, "a"))
	d := newHarness(t, settings(), l)
	d.storeErr = errors.New("stale file handle")
	d.settle()
	d.has(1, 0, "a", hypervisor.CopyDead)
	d.exec.Hint(d.now, "a")
	d.pass(time.Minute)
	d.isIn(gang.Active)
	d.storeErr = nil
	d.pass(time.Minute)
	d.isIn(gang.Clearing)
}
