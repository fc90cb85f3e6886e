package scheduler

import (
	"sync"

	"github.com/tidwall/btree"

	"vjob/cluster"
)

// places are the places of the vjobs that wait only for resources or power: as of one decision, with those that have come
// since behind them. They never change.
type places struct {
	inOrder []cluster.VJobID
	index   func() map[cluster.VJobID]int
	late    *btree.Map[cluster.VJobID, int]
}

func newPlaces(inOrder []cluster.VJobID) *places {
	return &places{inOrder: inOrder, late: &btree.Map[cluster.VJobID, int]{}, index: sync.OnceValue(func() map[cluster.VJobID]int {
		index := make(map[cluster.VJobID]int, len(inOrder))
		for i, id := range inOrder {
			index[id] = i + 1
		}
		return index
	})}
}

// of returns the place of a vjob, from 1; 0 if it does not wait. The first call for a decision makes the index.
func (p *places) of(id cluster.VJobID) int {
	if place, late := p.late.Get(id); late {
		return place
	}
	return p.index()[id]
}

// with returns the places with one more vjob behind the others.
func (p *places) with(id cluster.VJobID) *places {
	q := &places{inOrder: append(p.inOrder, id), index: p.index, late: p.late.Copy()}
	q.late.Set(id, len(q.inOrder))
	return q
}
