package scheduler

import (
	"sync"

	"vjob/cluster"
	"vjob/hypervisor"
)

// mostLooks are made at once: goroutines for looks at 100,000 nodes at once would take a gigabyte.
const mostLooks = 2048

// lookRequest is a node to look at, with the guests to ask it for.
type lookRequest struct {
	node    cluster.NodeID
	missing []hypervisor.Guest
}

// lookQueue holds the looks that wait for a worker, in order.
type lookQueue struct {
	mu      sync.Mutex
	waiting []lookRequest
	workers int
}

// add appends a look.
func (q *lookQueue) add(r lookRequest) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, r)
}

// claimWorkers returns how many workers the caller must start, each of which calls next until nothing is left.
func (q *lookQueue) claimWorkers() (more int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	more = min(len(q.waiting), mostLooks-q.workers)
	q.workers += more
	return more
}

// next returns the next look. Without one, the worker ends.
func (q *lookQueue) next() (r lookRequest, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.waiting = nil
		q.workers--
		return lookRequest{}, false
	}
	r, q.waiting = q.waiting[0], q.waiting[1:]
	return r, true
}
