package simulated

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
)

// Rehearsal is a fault of a node that a [Driver] lets happen by itself, so that people see
// what they will have to do one day.
type Rehearsal struct {
	Node  cluster.NodeID
	Kind  FaultKind     // a lasting one
	After time.Duration // since the driver was opened, of real time
	Lasts time.Duration // likewise; 0 is until it is mended
}

// rehearsed checks what is to go wrong, and puts it in order.
func rehearsed(s *Settings) ([]Rehearsal, error) {
	for i, r := range s.Rehearsals {
		field := fmt.Sprintf("rehearsals[%d]", i)
		switch {
		case r.Kind >= lastingKinds:
			return nil, cluster.BadField(field+".kind", r.Kind, "a fault that lasts")
		case !slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.ID == r.Node }):
			return nil, cluster.BadField(field+".node", string(r.Node), "one of the nodes")
		}
	}
	list := slices.Clone(s.Rehearsals)
	slices.SortStableFunc(list, func(a, b Rehearsal) int { return cmp.Compare(a.After, b.After) })
	return list, nil
}

// rehearse lets happen what is due, and returns after how long something is again; mu is
// held.
func (d *Driver) rehearse() (next time.Duration) {
	for len(d.ahead) > 0 {
		r := &d.ahead[0]
		if wait := r.After - time.Since(d.real); wait > 0 {
			return wait
		}
		lasts := time.Duration(float64(r.Lasts) * d.speed)
		// The node is there: that was seen to when the driver was opened.
		_ = d.cluster.Inject(d.virtual(), Fault{Kind: r.Kind, Node: r.Node, For: lasts})
		d.ahead = d.ahead[1:]
	}
	return idle
}
