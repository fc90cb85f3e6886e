package execute_test

import (
	"testing"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
)

// A gang was turned back in the middle of a suspension, and the image of a member does not
// load where it was saved: the others are saved too, so that other nodes can take it.
func TestTurnedBackAndThenSaved(t *testing.T) {
	rec := at(1, gang.Restoring, "a", "b")
	rec.Generation = 1
	sealed := imageOf(1, 1)
	sealed.ID.VM.Rank, sealed.Node = 1, "b"
	rec.Members[0].Next, rec.Members[0].Save = "a", 1
	rec.Members[1] = gang.Member{Next: "b", Save: 1, Image: &gang.Image{ID: sealed.ID, Node: "b", Incarnation: 1}}
	l := world(job(1, 2, cluster.Resuming))
	l.Gangs = append(l.Gangs, rec)
	d := newHarness(t, settings(), l)
	d.has(1, 0, "a", hypervisor.CopyPaused)
	d.store.Images = append(d.store.Images, sealed)
	d.settle()
	saves := func() bool { return len(d.calls) > 0 && d.calls[len(d.calls)-1].Verb == hypervisor.Save }
	for answered, seconds := 0, 0; !saves() && seconds < 300; seconds++ {
		for ; answered < len(d.calls); answered++ {
			err := hypervisor.ErrBadImage
			if d.calls[answered].Verb == hypervisor.Revoke {
				err = nil
			}
			d.reply(d.calls[answered].Op, err)
		}
		d.pass(time.Second)
	}
	d.isIn(gang.Saving)
	r, _ := d.exec.Job(1)
	if r.Job.State != cluster.Suspending || !r.Job.Held || d.told("left alone") != 0 {
		t.Errorf("it is %s, held %t: %s", r.Job.State, r.Job.Held, r.Job.Cause)
	}
	if last := d.calls[len(d.calls)-1]; last.Verb != hypervisor.Save || last.VM.Rank != 0 {
		t.Errorf("the last call is %s of %s, want the save of the first", last.Verb, last.VM)
	}
}
