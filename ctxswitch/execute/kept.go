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

// Orphan is an image that no gang is saved in.
type Orphan struct {
	hypervisor.Image
	Why        string
	Until      time.Time // when it is deleted; zero: it stays until an administrator deletes it
	Restorable bool      // its vjob can be restored from the generation
}

// Orphans lists the images that the last look at the store showed and no gang is saved
// in, in order of names. Those that are about to be deleted are not in it.
func (e *Executor) Orphans() []Orphan {
	var list []Orphan
	if !e.store.seen {
		return nil
	}
	for _, image := range e.store.Images {
		if o, orphan := e.orphan(image); orphan {
			list = append(list, o)
		}
	}
	return list
}

func (e *Executor) orphan(image hypervisor.Image) (Orphan, bool) {
	id := image.ID
	o := Orphan{Image: image}
	rec, live := e.record(id.VM.VJob)
	if rec == nil {
		o.Why = fmt.Sprintf("vjob %s is not known, or has ended: the database may be older than the image store", id.VM.VJob)
		return o, true
	}
	k, kept := rec.Keeps(id.Generation)
	switch {
	case kept && !k.Wanted:
		o.Why, o.Until = k.Cause, e.until(k)
		o.Restorable = live && rec.CanRestore(id.Generation, &e.store.Store)
	case id.Generation > rec.Generation:
		o.Why = fmt.Sprintf("generation %d is newer than the record, which knows %d", id.Generation, rec.Generation)
	default:
		return Orphan{}, false
	}
	return o, true
}

// record is the record of a vjob that lives, or has ended and left images that are kept.
func (e *Executor) record(id cluster.VJobID) (rec *gang.Record, live bool) {
	if p, ok := e.gangs[id]; ok {
		return &p.rec, true
	}
	return e.kept[id], false
}

// until is when images that are kept may be deleted; zero is never.
func (e *Executor) until(k gang.Kept) time.Time {
	if k.Newer || k.Wanted || e.settings.KeepLost <= 0 {
		return time.Time{}
	}
	return k.Since.Add(e.settings.KeepLost)
}

// expire lets go of the images that have been kept for long enough. A vjob that lives
// deletes its own, see package gang.
func (e *Executor) expire() {
	due := func(k gang.Kept) bool {
		until := e.until(k)
		return !until.IsZero() && !e.now.Before(until)
	}
	for _, id := range slices.Sorted(maps.Keys(e.withImages)) {
		p, live := e.gangs[id]
		switch {
		case !live || len(p.rec.Kept) == 0:
			delete(e.withImages, id)
		case slices.ContainsFunc(p.rec.Kept, due) && p.rec.Phase.Stable():
			rec := *p.rec.Clone()
			rec.Kept = slices.DeleteFunc(rec.Kept, due)
			e.commit(p, rec)
			e.dirty[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.kept)) {
		e.expireEnded(e.kept[id], due)
	}
}

// expireEnded deletes the images that a vjob has left, and forgets the vjob once a look
// shows none of them.
func (e *Executor) expireEnded(rec *gang.Record, due func(gang.Kept) bool) {
	if !e.store.seen {
		return
	}
	left := rec.Clone()
	left.Kept = slices.DeleteFunc(left.Kept, func(k gang.Kept) bool {
		return due(k) && !e.discardKept(rec.VJob, k.Generation)
	})
	if len(left.Kept) == len(rec.Kept) {
		return
	}
	e.out.Step.Gangs = append(e.out.Step.Gangs, *left)
	e.kept[rec.VJob] = left
	if len(left.Kept) == 0 {
		delete(e.kept, rec.VJob)
	}
}

// discardKept deletes the images of one generation that an ended vjob has left. It
// reports whether the last look at the store showed any.
func (e *Executor) discardKept(id cluster.VJobID, generation int) (some bool) {
	for _, image := range e.store.Images {
		if image.ID.VM.VJob == id && image.ID.Generation == generation {
			some = true
			e.discard(image)
		}
	}
	return some
}

// discard deletes an image, as often as it takes.
func (e *Executor) discard(image hypervisor.Image) {
	for _, o := range e.ops {
		if o.call.Verb == hypervisor.Discard && o.call.Image == image.ID {
			return
		}
	}
	t, tried := e.discards[image.ID]
	if !tried {
		t = &tries{}
		e.discards[image.ID] = t
	}
	if t.next(e.now) {
		e.begin([]hypervisor.Call{{Verb: hypervisor.Discard, VM: image.ID.VM, Node: image.Node, Image: image.ID}}, 0, false,
			func(hypervisor.Call) time.Duration { return leastDeadline })
	}
}

// Restore goes back to images of a vjob that are kept: it will be suspended, and held.
// Generation 0 is the newest of which the image store shows all images.
func (e *Executor) Restore(now time.Time, id cluster.VJobID, generation int, by string) error {
	e.now = now
	p, ok := e.gangs[id]
	switch {
	case !ok:
		return fmt.Errorf("vjob %s: it has ended: %w", id, cluster.ErrNotFound)
	case !e.store.seen:
		return fmt.Errorf("the image store cannot be read: %w", cluster.ErrUnavailable)
	}
	rec, err := p.rec.Restore(generation, &e.store.Store, cluster.Cause{Kind: cluster.CauseOrder, By: by, Text: "restored from kept images"}, now)
	if err != nil {
		return err
	}
	e.drop(p, journal.PlanDropped, "its images are restored")
	e.hold(p, true, cluster.Because(fmt.Sprintf("restored by %s: release it to go on", by)))
	e.commit(p, rec)
	e.dirty[id] = true
	return nil
}

// DiscardImage deletes an image that no gang is saved in.
func (e *Executor) DiscardImage(now time.Time, id hypervisor.ImageID, by string) error {
	e.now = now
	for _, image := range e.store.Images {
		if image.ID != id {
			continue
		}
		if _, orphan := e.orphan(image); !orphan {
			return fmt.Errorf("image %s: vjob %s is saved in it: delete the vjob instead: %w", id, id.VM.VJob, cluster.ErrConflict)
		}
		e.event(journal.Event{
			Kind: journal.EventAction, VM: id.VM.String(), Node: image.Node, Text: fmt.Sprintf("image %s is deleted by %s", id, by),
		})
		delete(e.discards, id) // at once, however often it was tried before
		e.discard(image)
		return nil
	}
	return fmt.Errorf("image %s: the image store does not show it: %w", id, cluster.ErrNotFound)
}
