// Package cpupool is a capacity for tests of queue policies: a pool of CPU without nodes.
package cpupool

import (
	"vjob/cluster"
	"vjob/queue"
)

// Pool takes vjobs as long as the sum of their needs fits.
type Pool struct {
	Free  cluster.MilliCPU
	Needs map[cluster.VJobID]cluster.MilliCPU
	Taken []cluster.VJobID // in order
}

var _ queue.Capacity = (*Pool)(nil)

// Take implements [queue.Capacity].
func (p *Pool) Take(id cluster.VJobID) (bool, queue.Shortage) {
	need := p.Needs[id]
	if need > p.Free {
		return false, queue.Shortage{Missing: cluster.Resources{CPU: need - p.Free}}
	}
	p.Free -= need
	p.Taken = append(p.Taken, id)
	return true, queue.Shortage{}
}
