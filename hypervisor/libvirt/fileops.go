package libvirt

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vjob/hypervisor"
)

// fileOps runs operations on the shared file systems, which may hang like a node. An operation
// that hangs holds a thread until its file system answers, so their number is limited: beyond
// the limit operations fail at once. A healthy store never reaches it.
type fileOps struct {
	limit   int
	running *sync.WaitGroup // goroutines of the driver

	mu         sync.Mutex
	inProgress map[*operation]struct{} // those under way
}

// operation is one operation in progress.
type operation struct{ since time.Time }

func newFileOps(most int, running *sync.WaitGroup) *fileOps {
	return &fileOps{limit: most, running: running, inProgress: map[*operation]struct{}{}}
}

// fileOpsPerNode and filesLeast say how many operations may be under way: each host has a
// few images read or sealed at once.
const (
	fileOpsPerNode = 8
	minFileOps     = 64
)

// begin registers an operation. The error says that there are too many.
func (f *fileOps) begin() (*operation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if len(f.inProgress) >= f.limit {
		oldest := now
		for o := range f.inProgress {
			if o.since.Before(oldest) {
				oldest = o.since
			}
		}
		return nil, fmt.Errorf("%w: %d operations on the shared file systems have not ended, the oldest since %s ago: see whether image_dir, console_dir and seed_dir answer",
			hypervisor.ErrNoImage, len(f.inProgress), now.Sub(oldest).Round(time.Second))
	}
	o := &operation{now}
	f.inProgress[o] = struct{}{}
	return o, nil
}

func (f *fileOps) end(o *operation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.inProgress, o)
}

// runFileOp runs an operation. It returns with the operation or with the context.
func runFileOp[T any](ctx context.Context, files *fileOps, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	o, err := files.begin()
	if err != nil {
		return none, err
	}
	answered := make(chan answer, 1)
	files.running.Go(func() {
		defer files.end(o)
		value, err := f()
		answered <- answer{value, err}
	})
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		return none, fmt.Errorf("%w: the file system has not answered", hypervisor.ErrTimeout)
	}
}

// do is runFileOp for operations without a result.
func (f *fileOps) do(ctx context.Context, operation func() error) error {
	_, err := runFileOp(ctx, f, func() (struct{}, error) { return struct{}{}, operation() })
	return err
}

// coalesced shares one run among concurrent callers, so that a store that hangs costs one
// thread, not one for each look. A caller never gets the result of a run that began before its
// call: while a run is in progress, callers wait for the next.
type coalesced[T any] struct {
	files *fileOps
	run   func() (T, error)

	mu        sync.Mutex
	now, next *flight[T]
}

// flight is one run and its result.
type flight[T any] struct {
	ended chan struct{}
	value T
	err   error
}

// get returns the result of a run that begins after the call.
func (s *coalesced[T]) get(ctx context.Context) (T, error) {
	mine := s.join()
	select {
	case <-mine.ended:
		return mine.value, mine.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("%w: the file system has not answered", hypervisor.ErrTimeout)
	}
}

func (s *coalesced[T]) join() *flight[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = newFlight[T]()
		first := s.now
		s.files.running.Go(func() { s.runFlights(first) })
		return first
	}
	if s.next == nil {
		s.next = newFlight[T]()
	}
	return s.next
}

func newFlight[T any]() *flight[T] { return &flight[T]{ended: make(chan struct{})} }

// runFlights runs a flight, and then the next ones while callers wait.
func (s *coalesced[T]) runFlights(f *flight[T]) {
	for f != nil {
		o, err := s.files.begin()
		if err == nil {
			f.value, err = s.run()
			s.files.end(o)
		}
		f.err = err
		s.mu.Lock()
		s.now, s.next = s.next, nil
		next := s.now
		s.mu.Unlock()
		close(f.ended)
		f = next
	}
}
