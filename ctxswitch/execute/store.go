package execute

import (
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// store is what was observed of the image store, and the space that is left there.
type store struct {
	*batch
	settings *Settings
	gangs    *gangs

	shown     hypervisor.Store // by the last look that succeeded
	asOf      uint64           // logical time at which that look began
	seen      bool             // the last look succeeded
	lookedAt  time.Time        // of the last look
	looking   bool
	lookBegan uint64 // logical time of the look under way
	lookAgain bool   // something happened since it began
	problem   string // why it cannot be read, as of the last look

	free   hypervisor.Spaces // by node, as long as nothing is promised; nil until it is asked for
	margin cluster.MiB       // that is left of it
}

// update takes in a look, and wakes the gangs with images that it shows.
func (st *store) update(shown hypervisor.Store, err error) {
	st.looking, st.lookedAt, st.seen = false, st.now, err == nil
	st.tell(err)
	if err != nil {
		return
	}
	if st.asOf == 0 {
		st.changes++ // suspended vjobs may resume
		for _, p := range st.gangs.begun {
			st.changed(p)
		}
	}
	st.shown, st.asOf, st.free = shown, st.lookBegan, nil
	for _, image := range shown.Images {
		st.dirty[image.ID.VM.VJob] = true
	}
}

// look asks for a look that begins now. While an earlier one is under way, another one follows it.
func (st *store) look() {
	if st.looking {
		st.lookAgain = true
		return
	}
	st.tick++
	st.looking, st.lookBegan, st.lookAgain = true, st.tick, false
	st.out.LookStore = true
}

// lookEvery is how often the image store is looked at although nothing was written:
// more often while it cannot be read.
func (st *store) lookEvery() time.Duration {
	if st.seen {
		return 6 * st.settings.LookEvery
	}
	return st.settings.LookEvery
}

// unseen says that no look has shown the images of a suspended vjob since the start, so that it is not known
// which nodes can run it; "" if one has.
func (st *store) unseen(p *gangState) string {
	if p.rec.Phase != gang.Saved || st.asOf > 0 {
		return ""
	}
	return "the image store has not been seen since the start"
}

// spaces is the room beside what all gangs but one that are being saved still need. The map is shared and never changes.
func (st *store) spaces(but *gangState) hypervisor.Spaces {
	if !st.seen {
		return nil
	}
	promised, margin := st.promised(but), st.settings.Limits.Margin
	if len(promised) == 0 && st.free != nil && st.margin == margin {
		return st.free
	}
	spaces := make(hypervisor.Spaces, len(st.shown.Free))
	for id, room := range st.shown.Free {
		room.Free = max(0, room.Free-promised[room.Pool]-margin)
		spaces[id] = room
	}
	if len(promised) == 0 {
		st.free, st.margin = spaces, margin
	}
	return spaces
}

// tell reports that the image store cannot be read any more, or can be read again.
func (st *store) tell(err error) {
	was := st.problem
	st.problem = ""
	if err != nil {
		st.problem = "the image store cannot be read: " + err.Error()
	}
	switch {
	case err != nil && was == "":
		st.event(journal.Event{Kind: journal.EventAlarm, Text: st.problem + "; until it can, no vjob is saved or resumed"})
		st.changes++
	case err == nil && was != "":
		st.event(journal.Event{Kind: journal.EventNode, Text: "the image store can be read again"})
		st.changes++
	}
}

// lack says what is missing on the image stores for a gang that is about to be
// saved, beside what the gangs that are being saved still need.
func (st *store) lack(p *gangState, need map[cluster.NodeID]cluster.MiB) string {
	spaces, pools := st.spaces(p), map[string]cluster.MiB{}
	for name, mib := range need {
		pools[spaces[name].Pool] += mib
	}
	for _, name := range slices.Sorted(maps.Keys(need)) {
		if lack := spaces.Shortage(name, pools, nil); lack != "" {
			return lack
		}
	}
	return ""
}

// promised is what gangs that are being saved take of each pool beyond what the last look at
// the store shows, but for one of them. An image is sealed only once a look shows it whole.
func (st *store) promised(but *gangState) map[string]cluster.MiB {
	pools := map[string]cluster.MiB{}
	writers := st.writers()
	if len(writers) == 0 {
		return pools
	}
	shown := st.shownImages()
	for _, p := range writers {
		if p == but {
			continue
		}
		for rank, m := range p.rec.Members {
			if m.Ended || m.Node == "" || m.Image != nil {
				continue
			}
			vm := &p.job.VMs[rank]
			written := shown[hypervisor.ImageID{VM: vm.ID, Generation: p.rec.Generation, Attempt: m.Save}]
			pools[st.shown.Free[m.Node].Pool] += max(0, gang.ImageSpace(vm.Reserved.Memory)-written)
		}
	}
	return pools
}

// writers are the gangs that write images, or are about to.
func (st *store) writers() (list []*gangState) {
	for _, p := range st.gangs.active {
		if p.rec.Phase == gang.Saving || p.rec.Phase == gang.Pausing && p.rec.Then == gang.ThenSave {
			list = append(list, p)
		}
	}
	return list
}

// shownImages is how large the images are that the last look at the store shows.
func (st *store) shownImages() map[hypervisor.ImageID]cluster.MiB {
	shown := make(map[hypervisor.ImageID]cluster.MiB, len(st.shown.Images))
	for _, i := range st.shown.Images {
		shown[i.ID] = cluster.MiB(i.Bytes >> 20)
	}
	return shown
}

// shared reports whether what is in the image store of a node can be read without the
// node: another one that answers has the same store.
func (st *store) shared(id cluster.NodeID, ns *nodes) bool {
	pool := st.shown.Free[id].Pool
	if pool == "" {
		return false
	}
	for other, space := range st.shown.Free {
		if n := ns.byID[other]; other != id && space.Pool == pool && n != nil && n.seen && n.offLookEvery == 0 {
			return true
		}
	}
	return false
}
