package execute

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Images keeps the images of vjobs for as long as they may be wanted, and deletes them afterwards.
type Images struct {
	*batch
	settings *Settings
	gangs    *gangs
	nodes    *nodes
	store    *store
	calls    *calls
	engine   *engine
	// discards are images that are deleted, and that the last look at the store showed.
	discards map[hypervisor.ImageID]*tries
}

// forgetDeleted forgets the images that the last look at the store does not show any more.
func (im *Images) forgetDeleted() {
	shown := map[hypervisor.ImageID]bool{}
	for _, image := range im.store.shown.Images {
		shown[image.ID] = true
	}
	maps.DeleteFunc(im.discards, func(id hypervisor.ImageID, _ *tries) bool { return !shown[id] })
}

// Orphan is an image that no gang is saved in.
type Orphan struct {
	hypervisor.Image
	Why        string
	Until      time.Time // when it is deleted; zero: it stays until an administrator deletes it
	Restorable bool      // its vjob can be restored from the generation
}

// Orphans lists the images that the last look at the store showed and no gang is saved
// in, in order of names. Those that are about to be deleted are not in it.
func (im *Images) Orphans() []Orphan {
	var list []Orphan
	if !im.store.seen {
		return nil
	}
	for _, image := range im.store.shown.Images {
		if o, orphan := im.orphan(image); orphan {
			list = append(list, o)
		}
	}
	return list
}

func (im *Images) orphan(image hypervisor.Image) (Orphan, bool) {
	id := image.ID
	o := Orphan{Image: image}
	rec, live := im.record(id.VM.VJob)
	if rec == nil {
		o.Why = fmt.Sprintf("vjob %s is not known, or has ended: the database may be older than the image store", id.VM.VJob)
		return o, true
	}
	k, kept := rec.Keeps(id.Generation)
	switch {
	case kept && !k.Wanted:
		o.Why, o.Until = k.Cause, im.until(k)
		o.Restorable = live && rec.CanRestore(id.Generation, &im.store.shown)
	case id.Generation > rec.Generation:
		o.Why = fmt.Sprintf("generation %d is newer than the record, which knows %d", id.Generation, rec.Generation)
	default:
		return Orphan{}, false
	}
	return o, true
}

// record is the record of a vjob that lives, or has ended and left images that are kept.
func (im *Images) record(id cluster.VJobID) (rec *gang.Record, live bool) {
	if p, ok := im.gangs.live[id]; ok {
		return p.rec, true
	}
	return im.gangs.kept[id], false
}

// until is when images that are kept may be deleted; zero is never.
func (im *Images) until(k gang.Kept) time.Time {
	if k.Newer || k.Wanted || im.settings.KeepLost <= 0 {
		return time.Time{}
	}
	return k.Since.Add(im.settings.KeepLost)
}

// expire lets go of the images that have been kept for long enough. A vjob that lives
// deletes its own, see package gang.
func (im *Images) expire() {
	due := func(k gang.Kept) bool {
		until := im.until(k)
		return !until.IsZero() && !im.now.Before(until)
	}
	for _, id := range slices.Sorted(maps.Keys(im.gangs.withImages)) {
		p, live := im.gangs.live[id]
		switch {
		case !live || len(p.rec.Kept) == 0:
			delete(im.gangs.withImages, id)
		case slices.ContainsFunc(p.rec.Kept, due) && p.rec.Phase.Stable():
			rec := *p.rec.Clone()
			rec.Kept = slices.DeleteFunc(rec.Kept, due)
			im.engine.commit(p, rec)
			im.dirty[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(im.gangs.kept)) {
		im.expireEnded(im.gangs.kept[id], due)
	}
}

// expireEnded deletes the images that a vjob has left, and forgets the vjob once a look
// shows none of them.
func (im *Images) expireEnded(rec *gang.Record, due func(gang.Kept) bool) {
	if !im.store.seen {
		return
	}
	left := rec.Clone()
	left.Kept = slices.DeleteFunc(left.Kept, func(k gang.Kept) bool {
		return due(k) && !im.discardKept(rec.VJob, k.Generation)
	})
	if len(left.Kept) == len(rec.Kept) {
		return
	}
	im.out.Step.Gangs = append(im.out.Step.Gangs, *left)
	im.gangs.kept[rec.VJob] = left
	if len(left.Kept) == 0 {
		delete(im.gangs.kept, rec.VJob)
	}
}

// discardKept deletes the images of one generation that an ended vjob has left. It
// reports whether the last look at the store showed any.
func (im *Images) discardKept(id cluster.VJobID, generation int) (some bool) {
	for _, image := range im.store.shown.Images {
		if image.ID.VM.VJob == id && image.ID.Generation == generation {
			some = true
			im.discard(image)
		}
	}
	return some
}

// discard deletes an image, as often as it takes.
func (im *Images) discard(image hypervisor.Image) {
	for _, o := range im.calls.ops {
		if o.call.Verb == hypervisor.Discard && o.call.Image == image.ID {
			return
		}
	}
	t, tried := im.discards[image.ID]
	if !tried {
		t = &tries{}
		im.discards[image.ID] = t
	}
	if t.next(im.now) {
		im.calls.begin([]hypervisor.Call{{Verb: hypervisor.Discard, VM: image.ID.VM, Node: image.Node, Image: image.ID}}, 0, false,
			func(hypervisor.Call) time.Duration { return leastDeadline })
	}
}

// Restore goes back to images of a vjob that are kept: it will be suspended, and held.
// Generation 0 is the newest of which the image store shows all images.
func (im *Images) Restore(now time.Time, id cluster.VJobID, generation int, by string) error {
	im.now = now
	p, ok := im.gangs.live[id]
	switch {
	case !ok:
		return fmt.Errorf("vjob %s: it has ended: %w", id, cluster.ErrNotFound)
	case !im.store.seen:
		return fmt.Errorf("the image store cannot be read: %w", cluster.ErrUnavailable)
	}
	rec, err := p.rec.Restore(generation, &im.store.shown, &cluster.Cause{Kind: cluster.CauseOrder, By: by, Text: "restored from kept images"}, now)
	if err != nil {
		return err
	}
	p.drop(journal.PlanDropped, "its images are restored")
	im.engine.hold(p, true, cluster.Because(fmt.Sprintf("restored by %s: release it to go on", by)))
	im.engine.commit(p, rec)
	im.dirty[id] = true
	return nil
}

// Discard deletes an image that no gang is saved in.
func (im *Images) Discard(now time.Time, id hypervisor.ImageID, by string) error {
	im.now = now
	for _, image := range im.store.shown.Images {
		if image.ID != id {
			continue
		}
		if _, orphan := im.orphan(image); !orphan {
			return fmt.Errorf("image %s: vjob %s is saved in it: delete the vjob instead: %w", id, id.VM.VJob, cluster.ErrConflict)
		}
		im.event(journal.Event{
			Kind: journal.EventAction, VM: id.VM.String(), Node: image.Node, Text: fmt.Sprintf("image %s is deleted by %s", id, by),
		})
		delete(im.discards, id) // at once, however often it was tried before
		im.discard(image)
		return nil
	}
	return fmt.Errorf("image %s: the image store does not show it: %w", id, cluster.ErrNotFound)
}
