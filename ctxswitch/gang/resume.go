package gang

import (
	"errors"
	"fmt"
	"slices"

	"vjob/hypervisor"
)

// restoration is the turn of a gang that is saved, or comes back.
type restoration struct{ *turn }

// saved removes what must not exist beside the images of a saved gang: incomplete images, images that
// are older than the disks, and paused copies, made by a restore that was given up and came late.
// Other complete images stay until the members run: only that proves that the images in the record
// can be read.
//
// A copy that runs is not of our making, and its disk is newer than the images now. So it is not
// destroyed but isolated, and the vjob is held: the copy is paused and stays on its node, which the
// record keeps as the Node of the member. Members of a saved gang have no Node otherwise.
func (t restoration) saved() {
	for rank := range t.rec.Members {
		m := &t.rec.Members[rank]
		if t.Sights[rank].Busy {
			continue
		}
		for _, f := range t.own(rank) {
			switch {
			case f.State == hypervisor.CopyRunning:
				t.holdFor(fmt.Sprintf("%s runs on %s although its gang is saved: a pause is requested, and the copy stays there", f.VM, f.Node))
				t.changed = t.changed || m.Node != f.Node
				m.Node = f.Node
				t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: f.Node})
			case f.Node != m.Node && t.shown(rank):
				t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: f.Node})
			}
		}
	}
	t.discard(func(image hypervisor.Image) bool {
		m := &t.rec.Members[image.ID.VM.Rank]
		if m.Image != nil && m.Image.ID == image.ID {
			return false
		}
		return !image.Complete || image.ID.Generation <= t.rec.UsedUpTo && t.shown(image.ID.VM.Rank)
	})
}

// shown reports whether the store shows the sealed image of a member, complete.
func (t restoration) shown(rank int) bool {
	m := &t.rec.Members[rank]
	if m.Image == nil || t.Store == nil {
		return false
	}
	image, _ := t.Store.Find(m.Image.ID)
	return image.Complete
}

// restoring brings every member back, paused. Until all copies are there no image is
// used up: the gang can still return to its images.
func (t restoration) restoring() {
	if t.rec.Then == ThenSave {
		t.returning()
		return
	}
	done := true
	for rank := range t.rec.Members {
		m, s := &t.rec.Members[rank], &t.Sights[rank]
		if !t.live(rank) {
			continue
		}
		own := t.own(rank)
		if !s.Busy && len(own) == 1 && own[0].State == hypervisor.CopyPaused && own[0].Job == hypervisor.JobNone {
			continue
		}
		done = false
		switch {
		case s.Busy:
		case len(own) > 1:
			t.oneOf(rank, own)
		case len(own) == 1 && own[0].Job != hypervisor.JobNone:
			t.underWay(rank, own[0])
		case len(own) == 1 && own[0].State == hypervisor.CopyDead:
			t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: own[0].Node})
		case len(own) == 1:
			t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: own[0].Node})
		case m.Image == nil:
			t.lose(fmt.Sprintf("the memory of %s: neither a copy nor a sealed image is left", t.VJob.VMs[rank].ID))
			return
		case errors.Is(s.Err, hypervisor.ErrBadImage) || s.Tries >= t.Limits.MaxTries || t.Retreat != "":
			t.giveUp(rank)
			if t.changed {
				return
			}
		default:
			t.restore(rank)
		}
	}
	if !done {
		t.waitFor("restores")
		return
	}
	if t.rec.Then == ThenStand {
		t.stand(t.rec.Cause)
		return
	}
	t.rec.mark()
	t.enter(Resuming, ThenNothing, t.rec.Cause)
}

// restore makes one more attempt. The link of any earlier attempt is removed
// first, in the same chain: a late restore can then no longer succeed.
func (t restoration) restore(rank int) {
	m := &t.rec.Members[rank]
	call := hypervisor.Call{
		Verb: hypervisor.Restore, VM: t.VJob.VMs[rank].ID, Node: m.Next, Image: m.Image.ID,
		Checksum: m.Image.Checksum, Attempt: t.rec.Restores + 1,
	}
	if !t.May(call) {
		return
	}
	t.rec.Restores++
	t.changed = true
	revoke := hypervisor.Call{
		Verb: hypervisor.Revoke, Node: m.Image.Node, Image: m.Image.ID, Attempt: t.rec.Restores - 1,
	}
	if t.Sights[rank].Tries == 0 {
		t.call(rank, call)
		return
	}
	t.call(rank, revoke, call)
}

// giveUp returns to the images when every member has one. A gang that was turned back in
// the middle of saving has members without: it tries again, and then saves these too, so
// that other nodes can take it. An image that is not what was sealed stays, and the vjob
// is held.
func (t restoration) giveUp(rank int) {
	s, m := &t.Sights[rank], &t.rec.Members[rank]
	cause := t.Retreat
	switch {
	case errors.Is(s.Err, hypervisor.ErrBadImage):
		cause = t.unusable(m.Image.ID, s.Err)
		t.holdFor(cause)
	case cause == "":
		cause = fmt.Sprintf("%s is not restored on %s", t.VJob.VMs[rank].ID, m.Next)
		if s.Err != nil { // nil: the calls ended well, and yet no copy is there
			cause += ": " + s.Err.Error()
		}
	}
	switch {
	case !t.quiet():
	case t.rec.Whole():
		t.enter(Restoring, ThenSave, aborted(cause))
	case s.Tries >= 3*t.Limits.MaxTries:
		if !t.revokeAll() {
			t.alarms = append(t.alarms, cause)
			t.enter(Saving, t.rec.Then, aborted(cause))
		}
	default:
		t.restore(rank)
	}
}

// returning gives a restore up: first no attempt can succeed any more, then the
// paused copies go, and only when none is left the gang is Saved again.
func (t restoration) returning() {
	done := true
	for rank := range t.rec.Members {
		if !t.live(rank) {
			continue
		}
		if t.Sights[rank].Busy || t.revoke(rank) {
			done = false
			continue
		}
		for _, f := range t.own(rank) { // whole or not: its image is
			done = false
			t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: f.Node})
		}
	}
	if !done {
		t.waitFor("returns to its images")
		return
	}
	for i := range t.rec.Members {
		t.rec.Members[i].Node, t.rec.Members[i].Next = "", ""
	}
	t.enter(Saved, ThenNothing, t.rec.Cause)
}

// unusable says what to do about an image that is not what was sealed.
func (t *turn) unusable(id hypervisor.ImageID, err error) string {
	return fmt.Sprintf("image %s cannot be used: %v; put a good copy of it back and release vjob %s, or requeue it to start from scratch",
		id, err, t.rec.VJob)
}

// revoke makes sure that no attempt to restore a member can succeed any more. It reports
// whether that is still to be done.
func (t *turn) revoke(rank int) bool {
	image := t.rec.Members[rank].Image
	if image == nil || t.Sights[rank].Revoked >= t.rec.Restores {
		return false
	}
	t.call(rank, hypervisor.Call{Verb: hypervisor.Revoke, Node: t.holder(image.ID, t.rec.Members[rank]), Image: image.ID, Attempt: t.rec.Restores})
	return true
}

// revokeAll revokes for all members, before the gang is saved as it is: a copy beside an
// image that becomes the gang's must not come any more. It reports whether that is still to
// be done.
func (t restoration) revokeAll() (open bool) {
	for rank := range t.rec.Members {
		open = t.revoke(rank) || open
	}
	return open
}

// resuming lets the members go on one after another in rank order. There is no
// way back from here: a member that runs is ahead of its image.
func (t restoration) resuming() {
	if t.rec.Then == ThenBack {
		t.unpauseSeen()
	}
	if t.lockedOut() || !t.quiet() {
		t.waitFor("resumes")
		return
	}
	var chain []hypervisor.Call
	done := true
	open := false // a job is under way on a member: those of higher rank wait for its end
	for rank := range t.rec.Members {
		if !t.live(rank) {
			continue
		}
		s := &t.Sights[rank]
		if len(s.Blind) > 0 {
			done = false
			continue
		}
		own := t.own(rank)
		switch {
		case len(own) == 0:
			done = false
		case len(own) > 1:
			done = false
			if !t.oneOf(rank, own) {
				return
			}
		case own[0].Job != hypervisor.JobNone:
			done, open = false, true
			t.underWay(rank, own[0])
		case own[0].State == hypervisor.CopyPaused && open && t.rec.Then != ThenBack: // its turn comes
		case own[0].State == hypervisor.CopyPaused:
			done = false
			if errors.Is(s.Err, hypervisor.ErrLocked) {
				t.alarms = append(t.alarms, fmt.Sprintf("%s on %s is locked by another copy", own[0].VM, own[0].Node))
			}
			chain = append(chain, t.address(rank, []hypervisor.Call{{Verb: hypervisor.Unpause, Node: own[0].Node}})...)
		default:
			t.rec.Members[rank].Node = own[0].Node
		}
	}
	if len(chain) > 0 {
		t.chains = append(t.chains, chain)
	}
	if !done {
		t.waitFor("resumes")
		return
	}
	t.rec.mark()
	t.rec.UsedUpTo = t.rec.Generation
	t.rec.Kept = slices.DeleteFunc(t.rec.Kept, func(k Kept) bool { return k.Wanted })
	t.enter(Active, ThenNothing, t.rec.Cause)
	t.rec.Skew = t.Skew
}

// lockedOut pauses the members that run while a lock keeps another one from running: an
// administrator has to find the copy that holds the lock, and until then no half of the gang
// runs. It reports whether there was one to pause.
func (t restoration) lockedOut() bool {
	locked, stops := false, false
	for rank := range t.Sights {
		own := t.own(rank)
		locked = locked || t.live(rank) && len(own) == 1 && own[0].State == hypervisor.CopyPaused &&
			errors.Is(t.Sights[rank].Err, hypervisor.ErrLocked)
	}
	for rank := range t.Sights {
		s, own := &t.Sights[rank], t.own(rank)
		if locked && t.live(rank) && (!s.Busy || s.BacksOff) && len(own) == 1 && own[0].State == hypervisor.CopyRunning {
			stops = true
			t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: own[0].Node})
		}
	}
	return stops
}

// unpauseSeen unpauses the members of a gang with an aborted pause that
// are seen paused while a call on them is still open. That can only be a pause: if it is
// carried out once more, the member is unpaused once more. Waiting for its reply would exceed
// the skew limit.
func (t restoration) unpauseSeen() {
	for rank := range t.Sights {
		s, own := &t.Sights[rank], t.own(rank)
		if !t.live(rank) || !s.Busy || s.Tries > 0 || len(s.Blind) > 0 || len(own) != 1 ||
			own[0].State != hypervisor.CopyPaused || own[0].Job != hypervisor.JobNone {
			continue
		}
		t.call(rank, hypervisor.Call{Verb: hypervisor.Unpause, Node: own[0].Node})
	}
}
