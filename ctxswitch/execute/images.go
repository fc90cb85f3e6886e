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

// checkImages finds the suspended vjobs with images that cannot be read now, after a look at the
// store: a store that is not mounted is no loss, but no vjob can be resumed from it, and an
// administrator should look (fault scenario 14).
func (e *Executor) checkImages() {
	there, doors := map[hypervisor.ImageID]bool{}, map[hypervisor.ImageID]cluster.NodeID{}
	if e.store.seen {
		for _, image := range e.store.Images {
			there[image.ID], doors[image.ID] = true, image.Node
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.gangs)) {
		p := e.gangs[id]
		e.reroute(p, doors)
		missing := p.unreadable(there)
		if missing == p.missing {
			continue
		}
		if p.missing == "" {
			e.event(journal.Event{Kind: journal.EventAlarm, VJob: id, Text: fmt.Sprintf("vjob %s: %s", id, missing)})
		}
		p.missing = missing
		e.changes++
	}
}

// reroute notes through which nodes the images of a suspended vjob can be read, if those
// that have saved them are switched off, or silent, and others share their store.
func (e *Executor) reroute(p *gangState, doors map[hypervisor.ImageID]cluster.NodeID) {
	if p.rec.Phase != gang.Saved || !p.idle() {
		return
	}
	rec := p.rec.Clone()
	moved := false
	for rank := range rec.Members {
		image := rec.Members[rank].Image
		if image == nil || e.seen(image.Node) || !e.seen(doors[image.ID]) {
			continue
		}
		through := *image
		through.Node = doors[image.ID]
		rec.Members[rank].Image, moved = &through, true
	}
	if moved {
		e.commit(p, *rec)
		e.changes++
	}
}

// seen reports whether a node has answered to its last look.
func (e *Executor) seen(id cluster.NodeID) bool {
	n, known := e.nodes[id]
	return known && n.seen
}

// unreadable says which image of a suspended vjob the last look at the store did not
// show, "" when all are there. A vjob is suspended only once a look has shown them.
func (p *gangState) unreadable(there map[hypervisor.ImageID]bool) string {
	if p.rec.Phase != gang.Saved {
		return ""
	}
	for _, m := range p.rec.Members {
		if m.Image != nil && !there[m.Image.ID] {
			return fmt.Sprintf("the image store does not show %s", m.Image.ID)
		}
	}
	return ""
}

// Refusal is a node on which a member could not be created.
type Refusal struct {
	VM   cluster.VMID
	Node cluster.NodeID
	At   time.Time
	Why  string
}

// recordRefusals notes the nodes on which a member could not be created: the next attempt is made
// elsewhere, if that is possible. The gang leaves a phase, or gives the move of a member
// up.
func (p *gangState) recordRefusals(before, after *gang.Record, now time.Time) {
	gaveUp := before.Phase == gang.Creating && after.Phase == gang.Clearing ||
		before.Phase == gang.Restoring && (after.Then == gang.ThenSave || after.Phase == gang.Saving)
	moves := before.Phase == gang.Moving || before.Phase == gang.Shifting
	for rank := range before.Members {
		next := before.Members[rank].Next
		stays := moves && after.Members[rank].Next == "" && after.Members[rank].Node != next
		if next == "" || p.member(rank).err == nil || !gaveUp && !stays {
			continue
		}
		vm := p.job.VMs[rank].ID
		p.refusals = slices.DeleteFunc(slices.Clone(p.refusals), func(r Refusal) bool { return r.VM == vm && r.Node == next })
		p.refusals = append(p.refusals, Refusal{VM: vm, Node: next, At: now, Why: p.member(rank).err.Error()})
	}
}
