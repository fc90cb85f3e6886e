package gang

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// lose gives the memory of the gang up, once the image store has been seen: its copies
// are cleared, and the vjob waits again from scratch, or fails when that happened too
// often. Images that were never used are kept. If they are enough to restore the gang,
// the vjob is held, since starting from scratch would throw work away; images of an earlier
// loss hold it no more.
func (t *turn) lose(cause string) {
	if t.Store == nil {
		t.waitFor("the image store to be seen: " + cause)
		return
	}
	t.rec.Losses++
	then := ThenWait
	if t.rec.Losses > t.Limits.MaxLosses {
		then = ThenFail
	}
	t.rec.keepImages(cause, t.Now)
	t.noteNewer()
	recent := func(k Kept) bool { return k.Newer || k.Since.Equal(t.Now) }
	if g := t.rec.restorable(t.Store, recent); g > 0 {
		then = ThenWait
		t.holdFor(fmt.Sprintf("%s; images of generation %d of all its VMs are left: restore vjob %s to go on from them, release it to start from scratch",
			cause, g, t.rec.VJob))
	}
	t.alarms = append(t.alarms, "lost: "+cause)
	t.enter(Clearing, then, &cluster.Cause{Kind: cluster.CauseLost, Text: cause})
}

// keepImages notes that images outlive the loss: all that were written since every member
// last ran, and those that the gang goes back to.
func (r *Record) keepImages(cause string, now time.Time) {
	used := r.Phase == Resuming // some may run
	for i := range r.Kept {
		if k := &r.Kept[i]; k.Wanted {
			k.Wanted, k.Used = false, used
		}
	}
	for g := r.UsedUpTo + 1; g <= r.wrote(); g++ {
		if _, kept := r.Keeps(g); !kept {
			r.addKept(Kept{Generation: g, Incarnation: r.Incarnation, Since: now, Cause: cause, Used: used})
		}
	}
}

// sealing is the generation of the images that are sealed while the gang is saved.
func (r *Record) sealing() int {
	if i := slices.IndexFunc(r.Kept, func(k Kept) bool { return k.Wanted }); i >= 0 {
		return r.Kept[i].Generation
	}
	return r.Generation
}

// wrote is the latest generation of which images may have been written.
func (r *Record) wrote() int {
	if r.Phase == Saving && r.Then != ThenVerify && !r.saveTried() || r.Phase == Pausing && r.Then == ThenSave {
		return r.Generation - 1
	}
	return r.Generation
}

// saveTried reports whether a save of the present generation has been tried.
func (r *Record) saveTried() bool {
	return slices.ContainsFunc(r.Members, func(m Member) bool { return m.Save > 0 })
}

// noteNewer keeps images of generations that the record does not know, for ever: the
// record may come from a database that was put back from a back-up. Their names are not
// given again.
func (t *turn) noteNewer() {
	if t.Store == nil {
		return
	}
	wrote, runs := t.rec.wrote(), t.rec.UsedUpTo == t.rec.Generation
	for _, image := range t.Store.Images {
		g := image.ID.Generation
		if _, kept := t.rec.Keeps(g); kept || image.ID.VM.VJob != t.rec.VJob || g <= wrote {
			continue
		}
		cause := fmt.Sprintf("generation %d is newer than the record, which knows %d: the database may be older than the image store", g, wrote)
		t.alarms = append(t.alarms, fmt.Sprintf("image %s on %s is kept: %s", image.ID, image.Node, cause))
		t.rec.addKept(Kept{Generation: g, Since: t.Now, Cause: cause, Newer: true, Used: t.runs()})
		t.rec.Generation = max(t.rec.Generation, g)
		if runs {
			t.rec.UsedUpTo = t.rec.Generation
		}
		t.changed = true
	}
}

// runs reports whether a copy of any member runs: its disk may be newer than any image.
func (t *turn) runs() bool {
	for rank := range t.rec.Members {
		if slices.ContainsFunc(t.own(rank), func(f Found) bool { return f.State == hypervisor.CopyRunning }) {
			return true
		}
	}
	return false
}

// addKept adds images to those that are kept, in order of generations, with what is known of the members that
// took no further part.
func (r *Record) addKept(k Kept) {
	for rank := range r.Members {
		if m := &r.Members[rank]; m.Ended {
			k.Ended, k.Exits = append(k.Ended, rank), append(k.Exits, m.Exit)
		}
	}
	r.Kept = append(r.Kept, k)
	slices.SortFunc(r.Kept, func(a, b Kept) int { return a.Generation - b.Generation })
}

// Keeps returns why the images of a generation are kept, if they are.
func (r *Record) Keeps(generation int) (Kept, bool) {
	i := slices.IndexFunc(r.Kept, func(k Kept) bool { return k.Generation == generation })
	if i < 0 {
		return Kept{}, false
	}
	return r.Kept[i], true
}

// Restorable is the newest kept generation from which the gang can be restored: members
// have not run since, and the store has a complete image of each. It is 0 otherwise.
func (r *Record) Restorable(store *hypervisor.Store) int {
	return r.restorable(store, func(Kept) bool { return true })
}

func (r *Record) restorable(store *hypervisor.Store, may func(Kept) bool) int {
	for _, k := range slices.Backward(r.Kept) {
		if may(k) && r.CanRestore(k.Generation, store) {
			return k.Generation
		}
	}
	return 0
}

// CanRestore reports whether the gang can be restored from one generation that is kept:
// members have not run since, and the store has a complete image of each.
func (r *Record) CanRestore(generation int, store *hypervisor.Store) bool {
	k, kept := r.Keeps(generation)
	return kept && !k.Used && r.complete(store, k)
}

// complete reports whether the store has a complete image of each member that took part.
func (r *Record) complete(store *hypervisor.Store, k Kept) bool {
	some := false
	for rank := range r.Members {
		if slices.Contains(k.Ended, rank) {
			continue
		}
		if _, ok := written(store, hypervisor.ImageID{VM: r.member(rank), Generation: k.Generation}); !ok {
			return false
		}
		some = true
	}
	return some
}

// written finds the complete image of the latest attempt to save a VM in a generation.
func written(store *hypervisor.Store, id hypervisor.ImageID) (image hypervisor.Image, ok bool) {
	for _, i := range store.Images {
		if i.ID.VM == id.VM && i.ID.Generation == id.Generation && i.Complete && i.ID.Attempt > image.ID.Attempt {
			image, ok = i, true
		}
	}
	return image, ok
}

// spares reports whether an image outlives even the end of the gang.
func (r *Record) spares(id hypervisor.ImageID) bool {
	_, kept := r.Keeps(id.Generation)
	return kept || id.Generation > r.Generation
}

// discard deletes the images of the gang that are not spared, if they may go. It reports
// whether there are any.
func (t *turn) discard(may func(image hypervisor.Image) bool) (some bool) {
	if t.Store == nil {
		return false
	}
	for _, image := range t.Store.Images {
		rank := image.ID.VM.Rank
		if image.ID.VM.VJob != t.rec.VJob || rank >= len(t.rec.Members) || t.rec.spares(image.ID) || !may(image) {
			continue
		}
		some = true
		if !t.Sights[rank].Busy {
			t.call(rank, hypervisor.Call{Verb: hypervisor.Discard, Node: image.Node, Image: image.ID})
		}
	}
	return some
}
