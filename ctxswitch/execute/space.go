package execute

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// Space is the room for images where each node saves: the free space, less what gangs that are
// being saved still need, and less the margin. Nodes without a look at their store are missing.
func (e *Executor) Space() hypervisor.Spaces { return e.spaces(nil) }

// spaces is the room beside what all gangs but one that are being saved still need.
func (e *Executor) spaces(but *gangState) hypervisor.Spaces {
	if !e.store.seen {
		return nil
	}
	spaces, promised := hypervisor.Spaces{}, e.promised(but)
	for id, room := range e.store.Free {
		room.Free = max(0, room.Free-promised[room.Pool]-e.settings.Limits.Margin)
		spaces[id] = room
	}
	return spaces
}

// StoreProblem says why no image can be written or read at all; "" when they can.
func (e *Executor) StoreProblem() string { return e.store.problem }

// tellStore tells when the image store cannot be read any more, and when it can again.
func (e *Executor) tellStore(err error) {
	was := e.store.problem
	e.store.problem = ""
	if err != nil {
		e.store.problem = "the image store cannot be read: " + err.Error()
	}
	switch {
	case err != nil && was == "":
		e.event(journal.Event{Kind: journal.EventAlarm, Text: e.store.problem + "; until it can, no vjob is saved or resumed"})
		e.changes++
	case err == nil && was != "":
		e.event(journal.Event{Kind: journal.EventNode, Text: "the image store can be read again"})
		e.changes++
	}
}

// space says what is missing on the image stores for a gang that is about to be
// saved, beside what the gangs that are being saved still need.
func (e *Executor) space(p *gangState, need map[cluster.NodeID]cluster.MiB) string {
	spaces, pools := e.spaces(p), map[string]cluster.MiB{}
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
func (e *Executor) promised(but *gangState) map[string]cluster.MiB {
	pools := map[string]cluster.MiB{}
	writers := e.writers()
	if len(writers) == 0 {
		return pools
	}
	shown := e.shownImages()
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
			pools[e.store.Free[m.Node].Pool] += max(0, gang.ImageSpace(vm.Reserved.Memory)-written)
		}
	}
	return pools
}

// writers are the gangs that write images, or are about to.
func (e *Executor) writers() (list []*gangState) {
	for _, p := range e.active {
		if p.rec.Phase == gang.Saving || p.rec.Phase == gang.Pausing && p.rec.Then == gang.ThenSave {
			list = append(list, p)
		}
	}
	return list
}

// shownImages is how large the images are that the last look at the store shows.
func (e *Executor) shownImages() map[hypervisor.ImageID]cluster.MiB {
	shown := make(map[hypervisor.ImageID]cluster.MiB, len(e.store.Images))
	for _, i := range e.store.Images {
		shown[i.ID] = cluster.MiB(i.Bytes >> 20)
	}
	return shown
}
