package availability

import "slices"

// chunkSize is the maximum of steps in a chunk. Longer chunks make searches faster and changes slower.
const chunkSize = 32

// chunk is consecutive steps. The offset of its summary is added to what is free, so that a change of
// all steps is one number.
type chunk struct {
	n    int
	at   [chunkSize]Time // a step lasts until the next one begins
	free [chunkSize]int64
}

// summary describes a chunk.
type summary struct {
	at          Time // where its first step begins
	least, most int64
	offset      int64
}

// add changes what is free in the whole chunk.
func (h *summary) add(amount int64) {
	h.offset += amount
	h.least += amount
	h.most += amount
}

// update changes what is free from a step until an instant, and refreshes the summary.
func (h *summary) update(c *chunk, k int, to Time, amount int64) (end int) {
	for ; k < c.n && c.at[k] < to; k++ {
		c.free[k] += amount
	}
	h.refresh(c)
	return k
}

// refresh recomputes the summary.
func (h *summary) refresh(c *chunk) {
	least, most := c.free[0], c.free[0]
	for _, free := range c.free[1:c.n] {
		least, most = min(least, free), max(most, free)
	}
	h.at, h.least, h.most = c.at[0], least+h.offset, most+h.offset
}

// find returns the step that contains an instant.
func (p *Timeline) find(at Time) (chunk, step int) {
	for n := len(p.heads); n > 1; {
		half := n / 2
		if p.heads[chunk+half].at <= at {
			chunk += half
		}
		n -= half
	}
	c := p.chunks[chunk]
	for n := c.n; n > 1; {
		half := n / 2
		if c.at[step+half] <= at {
			step += half
		}
		n -= half
	}
	return chunk, step
}

// cut makes a step begin at an instant and returns it.
func (p *Timeline) cut(at Time) (chunk, step int) {
	i, k := p.find(at)
	c := p.chunks[i]
	if c.at[k] == at {
		return i, k
	}
	if c.n == chunkSize {
		p.halve(i)
		if k >= chunkSize/2 {
			i, k = i+1, k-chunkSize/2
			c = p.chunks[i]
		}
	}
	k++
	copy(c.at[k+1:c.n+1], c.at[k:c.n])
	copy(c.free[k+1:c.n+1], c.free[k:c.n])
	c.at[k], c.free[k] = at, c.free[k-1]
	c.n++
	return i, k
}

// join removes a step that equals the one before.
func (p *Timeline) join(i, k int) {
	if p.before(i, k) != p.chunks[i].free[k]+p.heads[i].offset {
		return
	}
	c := p.chunks[i]
	copy(c.at[k:], c.at[k+1:c.n])
	copy(c.free[k:], c.free[k+1:c.n])
	c.n--
	switch {
	case c.n == 0:
		p.removeChunks(i, i+1)
	case k == 0:
		p.heads[i].refresh(c)
		fallthrough
	default:
		p.merge(i)
	}
}

// before returns what is free just before a step; -1 before the first.
func (p *Timeline) before(i, k int) int64 {
	if k == 0 {
		if i == 0 {
			return -1
		}
		i--
		k = p.chunks[i].n
	}
	return p.chunks[i].free[k-1] + p.heads[i].offset
}

// halve splits a full chunk.
func (p *Timeline) halve(i int) {
	const half = chunkSize / 2
	left, right := p.chunks[i], &chunk{n: half}
	copy(right.at[:], left.at[half:])
	copy(right.free[:], left.free[half:])
	left.n = half
	p.heads[i].refresh(left)
	p.insertChunk(i+1, right)
	p.heads[i+1].offset = p.heads[i].offset
	p.heads[i+1].refresh(right)
}

// merge joins two neighbours that are nearly empty.
func (p *Timeline) merge(i int) {
	if p.chunks[i].n > chunkSize/4 || i+1 == len(p.heads) || p.chunks[i+1].n > chunkSize/4 {
		return
	}
	left, right := p.chunks[i], p.chunks[i+1]
	for k := range right.n {
		left.at[left.n] = right.at[k]
		left.free[left.n] = right.free[k] + p.heads[i+1].offset - p.heads[i].offset
		left.n++
	}
	p.heads[i].refresh(left)
	p.removeChunks(i+1, i+2)
}

func (p *Timeline) insertChunk(i int, c *chunk) {
	h := summary{}
	h.refresh(c)
	p.heads = slices.Insert(p.heads, i, h)
	p.chunks = slices.Insert(p.chunks, i, c)
}

func (p *Timeline) removeChunks(from, to int) {
	p.heads = slices.Delete(p.heads, from, to)
	p.chunks = slices.Delete(p.chunks, from, to)
}
