package availability

import (
	"fmt"
	"iter"
	"math"
)

// Time is an instant, or a length of time, in seconds. Where it begins is the
// caller's choice.
type Time int64

// Never is after every other instant; it is also the length of what has no end.
const Never Time = math.MaxInt64

// Plus is the instant a length later, [Never] at the latest.
func (t Time) Plus(length Time) Time {
	if length > Never-max(t, 0) {
		return Never
	}
	return t + length
}

// Timeline is the free part of one pool, from an instant on for ever. It has one
// owner at a time.
type Timeline struct {
	size   int64
	heads  []summary // in order of time; the first is never empty
	chunks []*chunk
}

// NewTimeline is a pool of which everything is free.
func NewTimeline(size int64) *Timeline {
	p := &Timeline{size: size}
	c := &chunk{n: 1}
	c.at[0], c.free[0] = math.MinInt64, size
	p.insertChunk(0, c)
	return p
}

// Reserve takes an amount from one instant until before another. There must be so
// much: take it where [Timeline.Earliest] says.
func (p *Timeline) Reserve(from, to Time, amount int64) { p.change(from, to, -amount) }

// Release gives back what was reserved, or the rest of it.
func (p *Timeline) Release(from, to Time, amount int64) { p.change(from, to, amount) }

// Free is how much is free at an instant.
func (p *Timeline) Free(at Time) int64 {
	i, k := p.find(at)
	return p.chunks[i].free[k] + p.heads[i].offset
}

// Steps are the instants from one on at which what is free changes, beginning with that
// one, each with what is free from then until the next.
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

// Earliest is the first instant from which an amount is free for a length of time;
// it is not before from. Room that the asker holds already, from the instant own
// on, counts as free: the answer is own at the latest. Who holds nothing has own
// [Never], and gets that when there is no place: when the amount is more than the
// pool has or what is reserved has no end.
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

// reach finds the first step, this one or later, with the amount.
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

// drop finds the first step after this one with less than the amount that begins
// before an instant; without one it is beyond the last chunk.
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

// Forget drops what was before an instant, of which nobody will ask any more.
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

// check panics when more is taken than there is, or given back than was taken.
func (p *Timeline) check(i int, from, to Time) {
	if h := &p.heads[i]; h.least < 0 || h.most > p.size {
		panic(fmt.Sprintf("profile: %d to %d of %d free between %d and %d", h.least, h.most, p.size, from, to))
	}
}

// endsBefore reports whether all of a chunk is before an instant.
func (p *Timeline) endsBefore(i int, to Time) bool {
	return to == Never || i+1 < len(p.heads) && p.heads[i+1].at <= to
}
