package scheduler

import (
	"runtime"
	"sync"
)

// spare are the processors for what is computed beside the loop: half of all, so that the rest is left for the loop and for
// short requests, however much is asked for. Decisions take one at once, and other work waits for what they leave.
type spare struct {
	mu    sync.Mutex
	freed sync.Cond
	free  int // fewer than 0 while decisions take more than there are
}

func newSpare() *spare {
	s := &spare{free: max(1, runtime.GOMAXPROCS(0)/2)}
	s.freed.L = &s.mu
	return s
}

// take waits for a processor.
func (s *spare) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.free <= 0 {
		s.freed.Wait()
	}
	s.free--
}

// seize takes a processor at once.
func (s *spare) seize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free--
}

// give gives a processor back.
func (s *spare) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.freed.Signal()
}
