package execute

import (
	"fmt"
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/hypervisor"
	"vjob/journal"
)

// checkImages finds the suspended vjobs whose images cannot be read now, after a
// look at the store: a store that is not mounted is no loss, but nothing can be
// resumed from it, and somebody should look (fault scenario 14).
func (e *Executor) checkImages() {
	there := map[hypervisor.ImageID]bool{}
	if e.store.seen {
		for _, image := range e.store.Images {
			there[image.ID] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.gangs)) {
		p := e.gangs[id]
		missing := e.missing(p, there)
		if missing == p.missing {
			continue
		}
		if missing != "" && p.missing == "" {
			e.event(journal.Event{Kind: journal.EventAlarm, VJob: id, Text: fmt.Sprintf("vjob %s: %s", id, missing)})
		}
		p.missing = missing
		e.changes++
	}
}

// missing says which image of a suspended vjob the last look at the store did not
// show, "" when all are there. What was sealed after that look began was not due.
func (e *Executor) missing(p *pursuit, there map[hypervisor.ImageID]bool) string {
	if p.rec.Phase != gang.Saved {
		return ""
	}
	if e.store.seen && e.store.began <= p.store {
		return p.missing
	}
	for _, m := range p.rec.Members {
		if m.Image != nil && !there[m.Image.ID] {
			return fmt.Sprintf("the image store does not show %s", m.Image.ID)
		}
	}
	return ""
}

// shun notes the nodes on which a member could not be created: the next attempt
// is made elsewhere, if there is an elsewhere. It is told of a gang that leaves a
// phase, or of a member that gives its move up.
func (p *pursuit) shun(before, after *gang.Record) {
	gaveUp := before.Phase == gang.Creating && after.Phase == gang.Clearing ||
		before.Phase == gang.Restoring && after.Phase == gang.Restoring && after.Then == gang.ThenSave
	moves := before.Phase == gang.Moving || before.Phase == gang.Shifting
	for rank := range before.Members {
		next := before.Members[rank].Next
		stays := moves && after.Members[rank].Next == "" && after.Members[rank].Node != next
		if next == "" || p.trail(rank).err == nil || !gaveUp && !stays {
			continue
		}
		if p.shunned == nil {
			p.shunned = map[cluster.VMID][]cluster.NodeID{}
		}
		vm := p.job.VMs[rank].ID
		if !slices.Contains(p.shunned[vm], next) {
			p.shunned[vm] = append(p.shunned[vm], next)
		}
	}
}
