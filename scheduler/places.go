package scheduler

import (
	"sync"

	"vjob/cluster"
)

// places are the places of the vjobs that wait only for resources or power, as of one decision.
type places struct {
	inOrder []cluster.VJobID // it never changes
	index   func() map[cluster.VJobID]int
}

func newPlaces(inOrder []cluster.VJobID) *places {
	return &places{inOrder: inOrder, index: sync.OnceValue(func() map[cluster.VJobID]int {
		index := make(map[cluster.VJobID]int, len(inOrder))
		for i, id := range inOrder {
			index[id] = i + 1
		}
		return index
	})}
}

// of returns the place of a vjob, from 1; 0 if it does not wait. The first call for a decision makes the index.
func (p *places) of(id cluster.VJobID) int { return p.index()[id] }
