// Package guard bounds what peers can take of a server: connections, and requests in
// flight. An eighth of each is reserved for privileged peers, such as administrators.
package guard

import (
	"errors"
	"sync"
)

// Why a place is refused.
var (
	ErrFull  = errors.New("all places are taken")
	ErrShare = errors.New("the holder has its share of the places")
)

// Pool bounds what is in flight, in all and for each holder. It is safe for concurrent use.
type Pool struct {
	total, perHolder int

	mu       sync.Mutex
	used     int
	byHolder map[string]int // places by holder, no zeros
}

// NewPool makes a pool of so many places, of which one holder has at most each.
func NewPool(total, each int) *Pool {
	return &Pool{total: total, perHolder: each, byHolder: map[string]int{}}
}

// Sizes are the places that there are, and those that one holder can have.
func (p *Pool) Sizes() (total, each int) { return p.total, p.perHolder }

// Acquire takes a place, or fails with [ErrFull] or [ErrShare]. The last places are for
// privileged holders. Each place is given back by [Pool.Release].
func (p *Pool) Acquire(holder string, privileged bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.used >= usableBy(p.total, privileged):
		return ErrFull
	case p.byHolder[holder] >= p.perHolder:
		return ErrShare
	}
	p.used++
	p.byHolder[holder]++
	return nil
}

// Release gives a place back.
func (p *Pool) Release(holder string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used--
	p.byHolder[holder]--
	if p.byHolder[holder] == 0 {
		delete(p.byHolder, holder)
	}
}

// usableBy is how many of the places a peer may see taken and still have one.
func usableBy(total int, privileged bool) int {
	if privileged {
		return total
	}
	return total - total/8
}
