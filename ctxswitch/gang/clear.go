package gang

import (
	"slices"

	"vjob/hypervisor"
)

// clearing removes everything of a gang: first no restore can succeed any more,
// then the copies go, then the images, but for those that are kept. It is done when
// nothing else is seen.
func (t *turn) clearing() {
	done := true
	for rank := range t.rec.Members {
		s := &t.Sights[rank]
		if s.Busy {
			done = false
			continue
		}
		if t.revoke(rank) {
			done = false
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
	known := func(k Kept) bool { return !k.Newer || k.Wanted }
	if t.rec.Then.InOrder() && slices.ContainsFunc(t.rec.Kept, known) { // the vjob was ended on request
		t.rec.Kept = slices.DeleteFunc(t.rec.Kept, known)
		t.moved = true
	}
	if t.forgetImages() || t.discard(func(hypervisor.Image) bool { return true }) {
		t.waitFor("deletes its images")
		return
	}
	then, cause := t.rec.Then, t.rec.Cause
	for i := range t.rec.Members {
		t.rec.Members[i] = Member{Ended: t.rec.Members[i].Ended && then.InOrder()}
	}
	t.enter(Absent, then, cause)
}

// forgetImages deletes the images that the gang was saved in, but for those that are kept.
// It does not ask whether a look shows them: that may be old.
func (t *turn) forgetImages() (some bool) {
	for rank := range t.rec.Members {
		m := &t.rec.Members[rank]
		if m.Image == nil {
			continue
		}
		if _, kept := t.rec.Keeps(m.Image.ID.Generation); !kept {
			some = true
			t.call(rank, hypervisor.Call{Verb: hypervisor.Discard, Node: m.Image.Node, Image: m.Image.ID})
		}
		m.Image, t.moved = nil, true
	}
	return some
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
