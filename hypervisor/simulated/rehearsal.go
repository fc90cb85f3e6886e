package simulated

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// Rehearsal is a fault of a node that a [Driver] injects at a given time, so that administrators
// can practise.
type Rehearsal struct {
	Node  cluster.NodeID
	Kind  FaultKind     // a lasting one
	After time.Duration // since the driver was opened, of real time
	Lasts time.Duration // of real time; 0 is until [Driver.EndFault]
}

// sortRehearsals validates the rehearsals and sorts them by time.
func sortRehearsals(s *Settings) ([]Rehearsal, error) {
	known := make(map[cluster.NodeID]bool, len(s.Nodes))
	for i := range s.Nodes {
		known[s.Nodes[i].ID] = true
	}
	for i, r := range s.Rehearsals {
		field := fmt.Sprintf("rehearsals[%d]", i)
		switch {
		case r.Kind >= lastingKinds:
			return nil, cluster.BadField(field+".kind", r.Kind, "a fault that lasts")
		case !known[r.Node]:
			return nil, cluster.BadField(field+".node", string(r.Node), "one of the nodes")
		}
	}
	list := slices.Clone(s.Rehearsals)
	slices.SortStableFunc(list, func(a, b Rehearsal) int { return cmp.Compare(a.After, b.After) })
	return list, nil
}

// rehearse injects the faults that are due, and returns the time until the next; mu is held.
func (d *Driver) rehearse() (next time.Duration) {
	for len(d.rehearsals) > 0 {
		r := &d.rehearsals[0]
		if wait := r.After - time.Since(d.opened); wait > 0 {
			return wait
		}
		lasts := time.Duration(float64(r.Lasts) * d.clock().speed)
		// Open has checked that the node exists.
		_ = d.cluster.Inject(d.clock().now(), Fault{Kind: r.Kind, Node: r.Node, For: lasts})
		d.rehearsals = d.rehearsals[1:]
	}
	return maxSleep
}
