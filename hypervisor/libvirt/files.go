package libvirt

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vjob/hypervisor"
)

// files runs operations on the shared file systems, which may hang as well as a host. One
// that hangs holds a thread until its file system answers, so there are at most so many:
// then others fail at once. A healthy store never sees that many.
type files struct {
	most    int
	running *sync.WaitGroup // goroutines of the driver

	mu    sync.Mutex
	begun map[*operation]struct{} // those under way
}

// operation is one operation under way.
type operation struct{ since time.Time }

func newFiles(most int, running *sync.WaitGroup) *files {
	return &files{most: most, running: running, begun: map[*operation]struct{}{}}
}

// filesPerHost and filesLeast say how many operations may be under way: each host has a
// few images read or sealed at once.
const (
	filesPerHost = 8
	filesLeast   = 64
)

// begin notes an operation, or says that there are too many.
func (f *files) begin() (*operation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if len(f.begun) >= f.most {
		oldest := now
		for o := range f.begun {
			if o.since.Before(oldest) {
				oldest = o.since
			}
		}
		return nil, fmt.Errorf("%w: %d operations on the shared file systems have not ended, the oldest since %s ago: see whether image_dir, console_dir and seed_dir answer",
			hypervisor.ErrNoImage, len(f.begun), now.Sub(oldest).Round(time.Second))
	}
	o := &operation{now}
	f.begun[o] = struct{}{}
	return o, nil
}

func (f *files) end(o *operation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.begun, o)
}

// file runs one operation and waits for it or for the context.
func file[T any](ctx context.Context, files *files, f func() (T, error)) (T, error) {
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

// do is file for operations that bring nothing back.
func (f *files) do(ctx context.Context, operation func() error) error {
	_, err := file(ctx, f, func() (struct{}, error) { return struct{}{}, operation() })
	return err
}

// shared lets callers that want the same at the same time have it together, so that a
// store which hangs costs one thread and not one for each look. None of them gets a
// result that was begun before it asked: while one is under way, they wait for the next.
type shared[T any] struct {
	files *files
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
func (s *shared[T]) get(ctx context.Context) (T, error) {
	mine := s.join()
	select {
	case <-mine.ended:
		return mine.value, mine.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("%w: the file system has not answered", hypervisor.ErrTimeout)
	}
}

func (s *shared[T]) join() *flight[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = newFlight[T]()
		first := s.now
		s.files.running.Go(func() { s.fly(first) })
		return first
	}
	if s.next == nil {
		s.next = newFlight[T]()
	}
	return s.next
}

func newFlight[T any]() *flight[T] { return &flight[T]{ended: make(chan struct{})} }

// fly runs a flight, and then those that have come to wait.
func (s *shared[T]) fly(f *flight[T]) {
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
