package ctxswitch

import "vjob/cluster"

// Applicant is a vjob without VMs on any node that asks for room.
type Applicant struct {
	VJob  cluster.VJobID
	Needs []cluster.Resources // of the members that are to run, by rank
	Rules string              // of the vjob itself
	Total cluster.Resources   // the sum of Needs
}

// ApplicantQueue holds the applicants in the order in which they are expected to ask. Packings may share
// one; it does not change.
type ApplicantQueue struct {
	queue []Applicant
	place map[cluster.VJobID]int // of each in the queue
}

// NewApplicantQueue returns the line of a queue.
func NewApplicantQueue(queue []Applicant) *ApplicantQueue {
	l := &ApplicantQueue{queue: queue, place: make(map[cluster.VJobID]int, len(queue))}
	for i := range queue {
		l.place[queue[i].VJob] = i
	}
	return l
}
