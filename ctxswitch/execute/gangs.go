package execute

import (
	"vjob/cluster"
	"vjob/ctxswitch/gang"
)

// gangs are the gangs of all vjobs that have not ended, and what those that have ended left.
type gangs struct {
	live map[cluster.VJobID]*gangState
	// active gangs are under way, have calls without an observed effect, or back off before a
	// retry.
	active map[cluster.VJobID]*gangState
	// begun gangs are on nodes, or were: those that have something to account.
	begun      map[cluster.VJobID]*gangState
	containers map[cluster.VJobID]*gangState // those that others run in
	promises   promises
	// withImages are the vjobs that keep images of earlier lives, and some that did.
	withImages map[cluster.VJobID]bool
	// kept holds the records of vjobs that have ended and left images.
	kept map[cluster.VJobID]*gang.Record
	// unplaced is the members of gangs that have not begun; it never changes.
	unplaced []gang.Member
}

func newGangs() *gangs {
	return &gangs{
		live: map[cluster.VJobID]*gangState{}, active: map[cluster.VJobID]*gangState{}, begun: map[cluster.VJobID]*gangState{},
		containers: map[cluster.VJobID]*gangState{},
		promises:   promises{},
		withImages: map[cluster.VJobID]bool{}, kept: map[cluster.VJobID]*gang.Record{},
	}
}

// of returns the gang of a VM that is a member of a live vjob.
func (gs *gangs) of(vm cluster.VMID) (p *gangState, ok bool) {
	p, ok = gs.live[vm.VJob]
	if !ok || vm.Rank >= len(p.job.VMs) {
		return nil, false
	}
	return p, true
}

// add enters a gang that is new, or was loaded.
func (gs *gangs) add(p *gangState) {
	gs.live[p.job.ID] = p
	if !p.rec.Phase.Stable() {
		gs.active[p.job.ID] = p
	}
	if p.rec.Phase != gang.Absent || p.history != &noHistory {
		gs.begin(p)
	}
	if len(p.rec.Kept) > 0 {
		gs.withImages[p.job.ID] = true
	}
	if p.job.Container {
		gs.containers[p.job.ID] = p
	}
}

// begin enters a gang that has something to account, and gives it a history.
func (gs *gangs) begin(p *gangState) {
	p.begin()
	gs.begun[p.job.ID] = p
}

// remove forgets a vjob that has ended, but for the images that it keeps.
func (gs *gangs) remove(p *gangState) {
	if len(p.rec.Kept) > 0 {
		gs.kept[p.job.ID] = p.rec.Clone()
	}
	delete(gs.live, p.job.ID)
	delete(gs.active, p.job.ID)
	delete(gs.begun, p.job.ID)
	delete(gs.containers, p.job.ID)
}

// unplacedMembers returns n members without a node. Gangs that have not begun share them: in a
// long queue that is nearly all gangs.
func (gs *gangs) unplacedMembers(n int) []gang.Member {
	if n > len(gs.unplaced) {
		gs.unplaced = make([]gang.Member, n)
	}
	return gs.unplaced[:n:n]
}
