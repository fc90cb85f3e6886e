package gang

import (
	"slices"

	"vjob/hypervisor"
)

// clearance is the turn of a gang of which everything is removed.
type clearance struct{ *turn }

// clearing removes everything of a gang: first no restore can succeed any more,
// then the copies go, then the images, but for those that are kept. It is done when
// nothing else is seen.
func (t clearance) clearing() {
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
				t.endCopy(rank, f)
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
		t.changed = true
	}
	if t.forgetImages() || t.discard(func(hypervisor.Image) bool { return true }) {
		t.waitFor("deletes its images")
		return
	}
	then, cause := t.rec.Then, t.rec.Cause
	for i := range t.rec.Members {
		m := &t.rec.Members[i]
		if then.InOrder() {
			*m = Member{Ended: m.Ended, Exit: m.Exit}
		} else {
			*m = Member{}
		}
	}
	t.enter(Absent, then, cause)
}

// forgetImages deletes by name all that the gang may have been saved in of late, but for
// what is kept: a look that does not show it may be old. It reports whether some may be left.
func (t clearance) forgetImages() (some bool) {
	if !t.StoreAt.Before(t.rec.Since.Add(t.Limits.StoreLag)) {
		return false // a look shows all there is
	}
	for rank, m := range t.rec.Members {
		for _, id := range t.rec.imageIDs(rank) {
			if t.Sights[rank].Discarded[id] || t.rec.spares(id) {
				continue
			}
			some = true
			t.call(rank, hypervisor.Call{Verb: hypervisor.Discard, Node: t.holder(id, m), Image: id})
		}
	}
	return some
}

// imageIDs lists the image of a member, and those that attempts to save it in the present
// generation may have left.
func (r *Record) imageIDs(rank int) (ids []hypervisor.ImageID) {
	m := &r.Members[rank]
	if m.Image != nil {
		ids = append(ids, m.Image.ID)
	}
	for attempt := 1; attempt <= m.Save; attempt++ {
		id := hypervisor.ImageID{VM: r.member(rank), Generation: r.Generation, Attempt: attempt}
		if m.Image == nil || m.Image.ID != id {
			ids = append(ids, id)
		}
	}
	return ids
}

// endCopy ends one copy: a running guest is asked first, when its vjob ends in order.
func (t clearance) endCopy(rank int, f Found) {
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
