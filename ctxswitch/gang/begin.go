package gang

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// Aim is what is asked of a gang: one action for all its members.
type Aim struct {
	Kind  cluster.ActionKind
	Next  []cluster.NodeID // Boot, Resume, Migrate: by rank; "" for members that stay
	Live  bool             // Migrate: without pausing
	Then  Then             // Stop: what comes after
	Cause string
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
	n.Since, n.Cause, n.Then, n.Skew = now, aim.Cause, ThenNothing, 0
	switch aim.Kind {
	case cluster.Boot:
		n.Phase = Creating
		n.Incarnation++
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
		n.Phase, n.Then = Clearing, aim.Then
	case cluster.Pause:
		n.Phase, n.Then = Pausing, ThenStand
	case cluster.Unpause:
		n.Phase = Resuming
	}
	for i := range n.Members {
		if i < len(aim.Next) && !n.Members[i].Ended && aim.travels() {
			n.Members[i].Next = aim.Next[i]
		}
	}
	return *n, nil
}

// travels reports whether members go to the nodes that the aim names.
func (a *Aim) travels() bool { return a.Kind != cluster.Pause && a.Kind != cluster.Unpause }

// Hop sends a member of a moving gang on to its next node.
func (r *Record) Hop(rank int, next cluster.NodeID) Record {
	n := r.Clone()
	n.Members[rank].Next = next
	return *n
}

// mark makes every image up to the present generation unusable for ever: from
// the commit of this record on, no restore of them is issued (RELIABILITY §0.6).
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
