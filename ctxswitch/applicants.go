package ctxswitch

import "vjob/cluster"

// Applicant is a vjob that is nowhere yet and asks for room.
type Applicant struct {
	VJob  cluster.VJobID
	Needs []cluster.Resources // of its members that are to run, by rank
	Rules string              // its own
	Total cluster.Resources   // what they need in sum
}

// Line is the applicants that wait, in the order in which they will as a rule ask. Many
// a [Packing] may share one; it does not change.
type Line struct {
	queue []Applicant
	place map[cluster.VJobID]int // of each in the queue
}

// NewLine lines them up.
func NewLine(queue []Applicant) *Line {
	l := &Line{queue: queue, place: make(map[cluster.VJobID]int, len(queue))}
	for i := range queue {
		l.place[queue[i].VJob] = i
	}
	return l
}
