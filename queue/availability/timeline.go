package availability

import (
	"fmt"
	"iter"
	"math"
)

// Time is an instant or a length of time in seconds; the caller chooses the origin.
type Time int64

// Never is after every other instant, and the length of what has no end.
const Never Time = math.MaxInt64

// Plus returns the instant a length later, at most [Never].
func (t Time) Plus(length Time) Time {
	if length > Never-max(t, 0) {
		return Never
	}
	return t + length
}

// Timeline is the free amount of one resource over time: a step function on which periods are
// reserved and released, and the earliest period for a request is found. It has one owner at a time.
//
// The steps lie in chunks of some dozen in order of time, each with the least and the most that is
// free in it. A reservation over a thousand steps changes some twenty numbers, and a search skips
// whole chunks. With ten thousand reservations this flat layout is faster than a balanced tree.
//
// Several resources take a timeline each: ask each in turn for the earliest instant from the last
// answer on until all agree.
type Timeline struct {
	size   int64
	heads  []summary // in order of time; the first is never empty
	chunks []*chunk
}

// NewTimeline returns a timeline of a size, all free.
func NewTimeline(size int64) *Timeline {
	p := &Timeline{size: size}
	c := &chunk{n: 1}
	c.at[0], c.free[0] = math.MinInt64, size
	p.insertChunk(0, c)
	return p
}

// Reserve takes an amount from one instant until before another. So much must be free, as
// [Timeline.Earliest] tells; otherwise it panics.
func (p *Timeline) Reserve(from, to Time, amount int64) { p.change(from, to, -amount) }

// Release returns what was reserved, or the rest of it. It panics if that is more.
func (p *Timeline) Release(from, to Time, amount int64) { p.change(from, to, amount) }

// Free returns how much is free at an instant.
func (p *Timeline) Free(at Time) int64 {
	i, k := p.find(at)
	return p.chunks[i].free[k] + p.heads[i].offset
}

// Steps returns the instants at which the free amount changes, from one on and beginning with it, each
// with the amount until the next.
func (p *Timeline) Steps(from Time) iter.Seq2[Time, int64] {
	return func(yield func(Time, int64) bool) {
		for i, k := p.find(from); i < len(p.chunks); i, k = i+1, 0 {
			for c := p.chunks[i]; k < c.n; k++ {
				if !yield(max(from, c.at[k]), c.free[k]+p.heads[i].offset) {
					return
				}
			}
		}
	}
}

// Earliest returns the first instant, not before from, from which an amount is free for a length of
// time. What the caller already holds, from the instant own on, counts as free, so that the result is at
// most own. A caller that holds nothing passes [Never], which is also returned if there is no such
// instant: the amount exceeds the size, or what is reserved has no end.
func (p *Timeline) Earliest(from, length Time, amount int64, own Time) Time {
	i, k := p.find(from)
	for {
		if i, k = p.reach(i, k, amount); i == len(p.heads) {
			return own
		}
		start := max(from, p.chunks[i].at[k])
		if start >= own {
			return own
		}
		if i, k = p.drop(i, k, amount, min(start.Plus(length), own)); i == len(p.heads) {
			return start
		}
	}
}

// reach returns the first step, this one or later, with the amount.
func (p *Timeline) reach(i, k int, amount int64) (chunk, step int) {
	for ; i < len(p.heads); i++ {
		h := &p.heads[i]
		if h.most >= amount {
			c, want := p.chunks[i], amount-h.offset
			for ; k < c.n; k++ {
				if c.free[k] >= want {
					return i, k
				}
			}
		}
		k = 0
	}
	return i, 0
}

// drop returns the first step after this one with less than the amount that begins before an instant;
// the end of the timeline if no step has.
func (p *Timeline) drop(i, k int, amount int64, before Time) (chunk, step int) {
	for k++; i < len(p.heads); i++ {
		h := &p.heads[i]
		if h.at >= before {
			break
		}
		if h.least < amount {
			c, want := p.chunks[i], amount-h.offset
			for ; k < c.n; k++ {
				if c.free[k] < want {
					if c.at[k] >= before {
						return len(p.heads), 0
					}
					return i, k
				}
			}
		}
		k = 0
	}
	return len(p.heads), 0
}

// Forget drops what was before an instant; later calls must not ask for it.
func (p *Timeline) Forget(before Time) {
	n := 0
	for n+1 < len(p.heads) && p.heads[n+1].at <= before {
		n++
	}
	if n > 0 {
		p.removeChunks(0, n)
	}
}

// change adds to what is free between two instants.
func (p *Timeline) change(from, to Time, amount int64) {
	if from >= to || amount == 0 {
		return
	}
	if to < Never {
		p.cut(to)
	}
	first, step := p.cut(from)
	i, k := first, step
	for i < len(p.heads) && p.heads[i].at < to {
		if k == 0 && p.endsBefore(i, to) {
			p.heads[i].add(amount)
		} else {
			k = p.heads[i].update(p.chunks[i], k, to, amount)
		}
		p.check(i, from, to)
		if 0 < k && k < p.chunks[i].n {
			break
		}
		i, k = i+1, 0
	}
	if to < Never {
		p.join(i, k)
	}
	p.join(first, step)
}

// check panics if more is taken than was free, or released than was taken.
func (p *Timeline) check(i int, from, to Time) {
	if h := &p.heads[i]; h.least < 0 || h.most > p.size {
		panic(fmt.Sprintf("timeline: %d to %d of %d free between %d and %d", h.least, h.most, p.size, from, to))
	}
}

// endsBefore reports whether a chunk ends before an instant.
func (p *Timeline) endsBefore(i int, to Time) bool {
	return to == Never || i+1 < len(p.heads) && p.heads[i+1].at <= to
}
