package gang

import (
	"vjob/hypervisor"
)

// clearing removes everything of a gang: first no restore can succeed any more,
// then the copies go, then the images. It is done when nothing is seen.
func (t *turn) clearing() {
	done := true
	for rank := range t.rec.Members {
		s := &t.Sights[rank]
		if s.Busy {
			done = false
			continue
		}
		if image := t.rec.Members[rank].Image; image != nil && s.Tries == 0 {
			done = false
			t.call(rank, hypervisor.Call{
				Verb: hypervisor.Revoke, Node: image.Node, Image: image.ID, Attempt: t.rec.Restores,
			})
			continue
		}
		if own := t.own(rank); len(own) > 0 {
			done = false
			for _, f := range own {
				t.end(rank, f)
			}
		}
	}
	if !done {
		t.waitFor("ends its VMs")
		return
	}
	if t.Store == nil && t.rec.Generation > 0 { // else nothing was ever saved
		t.waitFor("the image store to be seen")
		return
	}
	if t.discardAll() {
		t.waitFor("deletes its images")
		return
	}
	then, cause := t.rec.Then, t.rec.Cause
	for i := range t.rec.Members {
		t.rec.Members[i] = Member{Ended: t.rec.Members[i].Ended && then.InOrder()}
	}
	t.enter(Absent, then, cause)
}

// discardAll deletes every image of the gang; it reports whether there was one.
func (t *turn) discardAll() bool {
	if t.Store == nil {
		return false
	}
	images := false
	for _, image := range t.Store.Images {
		if image.ID.VM.VJob == t.rec.VJob && image.ID.VM.Rank < len(t.rec.Members) {
			images = true
			t.call(image.ID.VM.Rank, hypervisor.Call{Verb: hypervisor.Discard, Node: image.Node, Image: image.ID})
		}
	}
	return images
}

// end ends one copy: a running guest is asked first, when its vjob ends in order.
func (t *turn) end(rank int, f Found) {
	polite := t.rec.Then.InOrder() && f.State == hypervisor.CopyRunning &&
		f.Job == hypervisor.JobNone && t.Limits.StopGrace > 0
	switch {
	case polite && t.Sights[rank].Tries == 0:
		t.call(rank, hypervisor.Call{Verb: hypervisor.Shutdown, Node: f.Node})
	case polite && t.Now.Sub(t.rec.Since) < t.Limits.StopGrace:
		t.waitFor("waits for its guests to shut down")
	default:
		t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: f.Node})
	}
}
