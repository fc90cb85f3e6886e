package gang

import (
	"errors"
	"fmt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// suspension is the turn of a gang that is paused, and perhaps saved.
type suspension struct{ *turn }

// pausing pauses the members one after another in rank order. Nothing is saved or
// moved before all of them are paused, at most MaxSkew apart.
func (t suspension) pausing() {
	if !t.quiet() {
		if t.overdue() {
			t.back(fmt.Sprintf("not all are paused after %s", t.Limits.MaxSkew))
			return
		}
		t.waitFor("pauses")
		return
	}
	var chain []hypervisor.Call
	for rank := range t.rec.Members {
		if !t.live(rank) {
			continue
		}
		own := t.own(rank) // not empty: see noteEndings
		switch {
		case len(own) > 1:
			t.back(fmt.Sprintf("%s has %d copies", own[0].VM, len(own)))
			return
		case own[0].Job != hypervisor.JobNone && t.overdue():
			t.back(fmt.Sprintf("the job of %s is %s after %s", own[0].VM, own[0].Job, t.Limits.MaxSkew))
			return
		case own[0].Job != hypervisor.JobNone:
			t.underWay(rank, own[0])
			return
		case own[0].State == hypervisor.CopyPaused:
			continue
		case t.Sights[rank].Tries >= t.Limits.MaxTries:
			t.back(fmt.Sprintf("%s does not pause: %v", own[0].VM, t.Sights[rank].Err))
			return
		}
		t.rec.Members[rank].Node = own[0].Node
		chain = append(chain, t.address(rank, []hypervisor.Call{{Verb: hypervisor.Pause, Node: own[0].Node}})...)
	}
	switch {
	case t.Retreat != "":
		t.back(t.Retreat)
	case len(chain) > 0 && t.Skew > t.Limits.MaxSkew:
		t.tooMuchSkew()
	case len(chain) > 0:
		if t.rec.Then == ThenSave {
			if missing := t.space(); missing != "" {
				t.back(missing)
				return
			}
		}
		t.chains = append(t.chains, chain)
	case t.Skew > t.Limits.MaxSkew:
		t.tooMuchSkew()
	case t.rec.Then == ThenStand:
		t.rec.Skew = t.Skew
		t.stand(t.rec.Cause)
	case t.rec.Then == ThenMove:
		t.enter(Moving, ThenNothing, t.rec.Cause)
		t.rec.Skew = t.Skew
	default:
		t.enter(Saving, ThenNothing, t.rec.Cause)
		t.rec.Skew = t.Skew
	}
}

// overdue reports whether the pauses have taken longer than the members may be
// apart: whatever is still under way then comes too late.
func (t suspension) overdue() bool { return t.Now.Sub(t.rec.Since) > t.Limits.MaxSkew }

func (t suspension) tooMuchSkew() {
	t.back(fmt.Sprintf("skew %s is over the limit of %s", t.Skew, t.Limits.MaxSkew))
}

// back lets the members of a gang that was being paused go on where they are.
func (t suspension) back(cause string) {
	t.rec.UsedUpTo = t.rec.Generation
	for i := range t.rec.Members {
		t.rec.Members[i].Next = ""
	}
	t.enter(Resuming, ThenBack, aborted(cause))
}

// space reserves room for all images of the gang before the first of them is written,
// and of a gang that runs before the first pause (I21).
func (t suspension) space() string {
	need := map[cluster.NodeID]cluster.MiB{}
	for rank, m := range t.rec.Members {
		if t.live(rank) {
			need[m.Node] += ImageSpace(t.VJob.VMs[rank].Reserved.Memory)
		}
	}
	return t.Space(need)
}

// ImageSpace is the most that an image of a VM with so much memory takes: beside the
// memory a header, and what the device models keep.
func ImageSpace(memory cluster.MiB) cluster.MiB { return memory + memory/20 + 1 }

// saving writes every paused member to an image of its own, seals it, and only
// when all are sealed calls the gang Saved: until then no room is free. When a
// member cannot be saved, no more saves begin; but what is written already is
// sealed first, since it is all that is left of its member.
func (t suspension) saving() {
	if t.rec.Then == ThenStand && !t.rec.saveTried() && t.quiet() {
		if missing := t.space(); missing != "" {
			t.stand(aborted(missing))
			return
		}
	}
	abort := t.unsavable()
	done, whole := true, true
	for rank := range t.rec.Members {
		if !t.live(rank) || t.rec.Members[rank].Image != nil && len(t.own(rank)) == 0 {
			continue
		}
		done = false
		if t.Sights[rank].Busy {
			continue
		}
		own := t.own(rank)
		switch {
		case len(own) == 0:
			whole = false
			t.seal(rank)
			if t.rec.Phase != Saving {
				return
			}
		case own[0].Job != hypervisor.JobNone:
			whole = false
			t.underWay(rank, own[0])
		case own[0].State == hypervisor.CopyDead: // whether an image is left is seen next
			whole = false
			t.call(rank, hypervisor.Call{Verb: hypervisor.Destroy, Node: own[0].Node})
		case own[0].State == hypervisor.CopyRunning:
			t.call(rank, hypervisor.Call{Verb: hypervisor.Pause, Node: own[0].Node})
		case abort == "":
			t.save(rank, own[0].Node)
		}
	}
	if abort != "" && whole && t.quiet() {
		t.unsave(abort)
		return
	}
	if !done {
		t.waitFor("saves")
		return
	}
	for i := range t.rec.Members {
		t.rec.Members[i].Node, t.rec.Members[i].Next = "", ""
	}
	skew := t.rec.Skew
	t.enter(Saved, ThenNothing, t.rec.Cause)
	t.rec.Skew = skew
}

// unsavable says why the gang is to go back instead of being saved, or "".
func (t suspension) unsavable() string {
	if t.Retreat != "" {
		return t.Retreat
	}
	for rank := range t.rec.Members {
		s, own := &t.Sights[rank], t.own(rank)
		if !t.live(rank) || s.Busy || len(own) != 1 || own[0].Job != hypervisor.JobNone || own[0].State != hypervisor.CopyPaused {
			continue
		}
		if s.Tries >= t.Limits.MaxTries || errors.Is(s.Err, hypervisor.ErrNoSpace) {
			return fmt.Sprintf("%s cannot be saved: %v", own[0].VM, s.Err)
		}
	}
	return ""
}

// save makes one more attempt under a name of its own: a save that failed may
// have left anything under the old one, and a late one can do no harm there.
func (t suspension) save(rank int, node cluster.NodeID) {
	m := &t.rec.Members[rank]
	call := hypervisor.Call{
		Verb: hypervisor.Save, VM: t.VJob.VMs[rank].ID, Node: node,
		Image: hypervisor.ImageID{VM: t.VJob.VMs[rank].ID, Generation: t.rec.Generation, Attempt: m.Save + 1},
	}
	if !t.May(call) {
		return
	}
	m.Save++
	t.changed = true
	t.call(rank, call)
}

// seal seals the image of a member without a copy: the one that was written completely, in any
// attempt. After an error it is retried without a limit.
func (t suspension) seal(rank int) {
	if t.Store == nil {
		t.waitFor("the image store to be seen")
		return
	}
	m, s, vm := &t.rec.Members[rank], &t.Sights[rank], t.VJob.VMs[rank].ID
	image, ok := written(t.Store, hypervisor.ImageID{VM: vm, Generation: t.rec.sealing()})
	if !ok {
		t.unwrittenFor(rank)
		return
	}
	if sealed := s.Sealed[image.ID.String()]; sealed != nil {
		m.Image = sealed
		if t.rec.Then == ThenVerify && sealed.Incarnation > 0 {
			t.rec.Incarnation = sealed.Incarnation
		}
		t.changed = true
		return
	}
	switch {
	case errors.Is(s.Err, hypervisor.ErrBadImage):
		t.holdFor(t.unusable(image.ID, s.Err))
	case s.Tries >= t.Limits.MaxTries*2:
		t.holdFor(fmt.Sprintf("image %s on %s cannot be sealed: %v; it stays, and sealing is tried again", image.ID, image.Node, s.Err))
	}
	t.call(rank, hypervisor.Call{Verb: hypervisor.Seal, Node: image.Node, Image: image.ID})
}

// unwrittenFor loses the gang when neither a copy of a member nor a complete image was seen for
// [Limits.StoreLag].
func (t suspension) unwrittenFor(rank int) {
	since := t.Now.Add(-t.Sights[rank].Absent)
	if t.rec.Then == ThenVerify { // there was no copy to begin with
		since = t.rec.Since
	}
	lag := t.Limits.StoreLag
	if t.StoreAt.Before(since.Add(lag)) {
		t.waitFor(fmt.Sprintf("a complete image of %s to be seen", t.VJob.VMs[rank].ID))
		return
	}
	t.lose(fmt.Sprintf("for %s neither a copy nor a complete image of %s has been seen", lag, t.VJob.VMs[rank].ID))
}

// unsave turns a gang that cannot be saved back as a whole: the members that were saved are restored
// beside those that are still paused, and then all run, or all stay paused if they were before.
func (t suspension) unsave(cause string) {
	for rank := range t.rec.Members {
		m := &t.rec.Members[rank]
		if t.live(rank) {
			m.Next = m.Node
		}
	}
	t.enter(Restoring, t.rec.Then, aborted(cause))
}
