package gang

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Aim is what is asked of a gang: one action for all its members.
type Aim struct {
	Kind  cluster.ActionKind
	Next  []cluster.NodeID // by rank; "" for members that stay. A pause and its end ignore it
	Live  bool             // Migrate: without pausing
	Then  Then             // Stop: what comes after
	Cause *cluster.Cause
}

// sources are the stable phases from which an aim starts. Stopping may begin anywhere.
var sources = map[cluster.ActionKind][]Phase{
	cluster.Boot: {Absent}, cluster.Suspend: {Active, Paused}, cluster.Resume: {Saved}, cluster.Migrate: {Active},
	cluster.Pause: {Active}, cluster.Unpause: {Paused},
}

// Begin enters the first phase towards the aim. A gang that is not in a phase from
// which the aim starts is a cluster.ErrConflict.
func (r *Record) Begin(aim Aim, now time.Time) (Record, error) {
	if from, ok := sources[aim.Kind]; ok && !slices.Contains(from, r.Phase) {
		return *r, fmt.Errorf("vjob %s: %s while %s: %w", r.VJob, aim.Kind, r.Phase, cluster.ErrConflict)
	}
	n := r.Clone()
	n.Since, n.Cause, n.Skew = now, aim.Cause, 0
	if aim.Kind != cluster.Stop {
		n.Then = ThenNothing
	}
	switch aim.Kind {
	case cluster.Boot:
		n.Phase = Creating
		n.Incarnation = n.boots() + 1
		n.UsedUpTo = n.Generation
		n.Members = make([]Member, len(r.Members))
	case cluster.Suspend:
		n.Phase, n.Then = Pausing, ThenSave
		if r.Phase == Paused {
			n.Phase, n.Then = Saving, ThenStand
		}
		n.Generation++
		for i := range n.Members {
			n.Members[i].Save = 0
		}
	case cluster.Resume:
		n.Phase = Restoring
	case cluster.Migrate:
		n.Phase, n.Then = Pausing, ThenMove
		if aim.Live {
			n.Phase, n.Then = Shifting, ThenNothing
		}
	case cluster.Stop:
		if !aim.Then.InOrder() {
			n.keepImages(aim.Cause.String(), now)
		}
		n.Phase, n.Then = Clearing, aim.Then
	case cluster.Pause:
		n.Phase, n.Then = Pausing, ThenStand
	case cluster.Unpause:
		n.Phase = Resuming
	}
	for i := range n.Members {
		if i < len(aim.Next) && !n.Members[i].Ended && aim.setsNext() {
			n.Members[i].Next = aim.Next[i]
		}
	}
	return *n, nil
}

// Restore goes back to kept images of a gang of which nothing else is left: they are sealed
// once more, and the gang is Saved. The generation 0 is the newest that the store shows
// whole. A gang that is not absent is a cluster.ErrConflict, images that cannot be
// restored are a cluster.ErrInvalid.
func (r *Record) Restore(generation int, store *hypervisor.Store, cause *cluster.Cause, now time.Time) (Record, error) {
	if r.Phase != Absent {
		return *r, fmt.Errorf("vjob %s: restore while %s: delete or stop it first: %w", r.VJob, r.Phase, cluster.ErrConflict)
	}
	if generation == 0 {
		generation = r.Restorable(store)
	}
	n := r.Clone()
	i := slices.IndexFunc(n.Kept, func(k Kept) bool { return k.Generation == generation })
	switch {
	case i < 0:
		return *r, fmt.Errorf("vjob %s: generation: no images that could be restored are kept: %w", r.VJob, cluster.ErrInvalid)
	case n.Kept[i].Used:
		return *r, fmt.Errorf("vjob %s: generation: VMs have run since %d was saved, their disks are newer: %w", r.VJob, generation, cluster.ErrInvalid)
	case !n.complete(store, n.Kept[i]):
		return *r, fmt.Errorf("vjob %s: generation: the image store does not show a complete image of each VM of %d: %w", r.VJob, generation, cluster.ErrInvalid)
	}
	k := &n.Kept[i]
	k.Wanted = true
	n.Phase, n.Then, n.Since, n.Cause, n.Skew = Saving, ThenVerify, now, cause, 0
	n.Boots, n.UsedUpTo = n.boots(), n.Generation
	if k.Incarnation > 0 {
		n.Incarnation = k.Incarnation
	}
	n.Members = make([]Member, len(r.Members))
	for i, rank := range k.Ended {
		n.Members[rank] = Member{Ended: true, Exit: cluster.UnknownExit}
		if i < len(k.Exits) {
			n.Members[rank].Exit = k.Exits[i]
		}
	}
	return *n, nil
}

// setsNext reports whether the nodes that the aim names become the next nodes of the members. A plan
// names the present node of a member that is paused or unpaused: its Next stays "".
func (a *Aim) setsNext() bool { return a.Kind != cluster.Pause && a.Kind != cluster.Unpause }

// Hop sends a member of a moving gang on to its next node.
func (r *Record) Hop(rank int, next cluster.NodeID) Record {
	n := r.Clone()
	n.Members[rank].Next = next
	return *n
}

// mark forgets the sealed images of all members, and their Next becomes their Node: from the commit of
// this record on, no restore of these images is issued (I3).
func (r *Record) mark() {
	for i := range r.Members {
		m := &r.Members[i]
		m.Image = nil
		if m.Next != "" {
			m.Node, m.Next = m.Next, ""
		}
	}
}

// Whole reports whether every member that takes part has a sealed image: a gang that
// is brought back from images without being whole was turned back while it was saved,
// and cannot return to them.
func (r *Record) Whole() bool {
	return !slices.ContainsFunc(r.Members, func(m Member) bool { return !m.Ended && m.Image == nil })
}
