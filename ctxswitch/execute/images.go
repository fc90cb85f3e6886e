package execute

import (
	"fmt"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
	"vjob/hypervisor"
)

// check finds the suspended vjobs with images that cannot be read now, after a look at the
// store: a store that is not mounted is no loss, but no vjob can be resumed from it, and an
// administrator should look (scenario 14_store_unmounted).
func (im *Images) check() {
	there, readableAt := map[hypervisor.ImageID]bool{}, map[hypervisor.ImageID]cluster.NodeID{}
	if im.store.seen {
		for _, image := range im.store.shown.Images {
			there[image.ID], readableAt[image.ID] = true, image.Node
		}
	}
	for _, id := range sortedIDs(im.gangs.begun) { // those with images are among them
		p := im.gangs.begun[id]
		im.reroute(p, readableAt)
		missing := p.unreadable(there)
		if missing == p.missing {
			continue
		}
		if p.missing == "" {
			im.event(journal.Event{Kind: journal.EventAlarm, VJob: id, Text: fmt.Sprintf("vjob %s: %s", id, missing)})
		}
		p.begin()
		p.missing = missing
		im.changed(p)
		im.alarmed[id] = true
		im.changes++
	}
}

// reroute notes through which nodes the images of a suspended vjob can be read, if those
// that have saved them are switched off, or silent, and others share their store.
func (im *Images) reroute(p *gangState, readableAt map[hypervisor.ImageID]cluster.NodeID) {
	if p.rec.Phase != gang.Saved || !p.idle() {
		return
	}
	rec := p.rec.Clone()
	changed := false
	for rank := range rec.Members {
		image := rec.Members[rank].Image
		if image == nil || im.nodes.seen(image.Node) || !im.nodes.seen(readableAt[image.ID]) {
			continue
		}
		through := *image
		through.Node = readableAt[image.ID]
		rec.Members[rank].Image, changed = &through, true
	}
	if changed {
		im.engine.commit(p, *rec)
		im.changes++
	}
}
