package api

import "sync"

// broadcast wakes any number of waiting goroutines.
type broadcast struct {
	mu      sync.Mutex
	count   uint64
	waiting chan struct{}
}

func newBroadcast() *broadcast { return &broadcast{waiting: make(chan struct{})} }

// next returns a channel that the next call of notify closes.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting
}

// notices returns how many calls of notify there were.
func (b *broadcast) notices() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	close(b.waiting)
	b.waiting = make(chan struct{})
}
