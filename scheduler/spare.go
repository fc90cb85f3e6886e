package scheduler

import (
	"runtime"
	"time"
)

// spare are the processors for what is computed beside the loop: half of all, so that the rest is left for the loop and for
// short requests, however much is asked for.
type spare chan struct{}

func newSpare() spare { return make(spare, max(1, runtime.GOMAXPROCS(0)/2)) }

// take waits for a processor, which the caller gives back.
func (s spare) take() (give func()) {
	s <- struct{}{}
	return func() { <-s }
}

// decisionWait is how long a decision waits for a processor that what-ifs have. On a large cluster each takes seconds.
const decisionWait = 100 * time.Millisecond

// takeSoon takes a processor for a decision: if none is spare for too long, one of the others.
func (s spare) takeSoon() (give func()) {
	select {
	case s <- struct{}{}:
		return func() { <-s }
	case <-time.After(decisionWait):
		return func() {}
	}
}
