package scheduler

import (
	"slices"

	"github.com/tidwall/btree"

	"vjob/cluster"
)

// places are the places of the vjobs that wait only for resources or power: as of one decision, with those that have come
// since behind them. They never change.
type places struct {
	inOrder []cluster.VJobID
	decided map[cluster.VJobID]int // from 1
	late    *btree.Map[cluster.VJobID, int]
}

func newPlaces(inOrder []cluster.VJobID) *places {
	p := &places{inOrder: inOrder, decided: make(map[cluster.VJobID]int, len(inOrder)), late: &btree.Map[cluster.VJobID, int]{}}
	for i, id := range inOrder {
		p.decided[id] = i + 1
	}
	return p
}

// of returns the place of a vjob, from 1; 0 if it does not wait.
func (p *places) of(id cluster.VJobID) int {
	if place, late := p.late.Get(id); late {
		return place
	}
	return p.decided[id]
}

// with returns the places with one more vjob behind the others.
func (p *places) with(id cluster.VJobID) *places {
	q := &places{inOrder: append(p.inOrder, id), decided: p.decided, late: p.late.Copy()}
	q.late.Set(id, len(q.inOrder))
	return q
}

// without returns the places without a vjob. Those behind it keep theirs until the next decision.
func (p *places) without(id cluster.VJobID) *places {
	at := slices.Index(p.inOrder, id)
	if at < 0 {
		return p
	}
	return &places{inOrder: slices.Concat(p.inOrder[:at], p.inOrder[at+1:]), decided: p.decided, late: p.late}
}
