package disk

import (
	"maps"
	"math/rand/v2"
	"slices"
)

const (
	sector = 512
	page   = 4096
)

// cut is one loss of power: what lands is drawn once for each.
type cut struct {
	log     *Log
	profile Profile
	random  *rand.Rand
	inOrder bool // nothing is reordered: the disk has all up to the operation last
	last    int  // of names in the journal, and of everything on a disk in order
}

func newCut(d *Disk, random *rand.Rand) *cut {
	var pending []int
	for _, n := range d.inodes {
		pending = append(pending, n.pending...)
	}
	slices.Sort(pending)
	c := &cut{log: d.log, profile: d.profile, random: random, inOrder: random.IntN(8) == 0, last: -1}
	if k := random.IntN(len(pending) + 1); k > 0 {
		c.last = pending[k-1]
	}
	if random.IntN(4) == 0 { // the ends deserve more than their share
		c.last = []int{-1, d.at}[random.IntN(2)]
	}
	return c
}

// chance draws how likely an operation is to land: surely, never, or between.
func (c *cut) chance() float64 {
	return []float64{0, 0.1, 0.5, 0.9, 1, 0.5}[c.random.IntN(6)]
}

// names are those that a folder has on the disk.
func (c *cut) names(n *inode) map[string]int {
	names := maps.Clone(n.names)
	likely := c.chance()
	for _, i := range n.pending {
		lands := i <= c.last
		if c.profile == Adversarial && !c.inOrder {
			lands = c.random.Float64() < likely
		}
		if lands {
			rename(names, &c.log.Ops[i])
		}
	}
	return names
}

// content is what a file has on the disk.
func (c *cut) content(n *inode) []byte {
	if len(n.pending) == 0 {
		return n.data
	}
	likely := c.chance()
	size, newest := c.size(n, likely)
	length := max(size, int64(len(n.data)))
	for _, i := range n.pending {
		length = max(length, c.log.Ops[i].end())
	}
	data := resize(slices.Clone(n.data), length)
	if c.profile == Adversarial && c.random.IntN(2) == 0 {
		c.stale(data[len(n.data):], n.data)
	}
	versions := c.versions(n, newest, likely)
	for _, i := range n.pending {
		op := &c.log.Ops[i]
		if op.Kind == Truncate && i <= newest {
			clear(data[op.Offset:])
		}
		op.sectors(func(s, from, to int64) {
			if version, lands := versions[s]; lands && i <= version {
				copy(data[from:to], op.Data[from-op.Offset:])
			}
		})
	}
	return data[:size]
}

// size draws the size of a file, and the last operation on it that counts for that.
func (c *cut) size(n *inode, likely float64) (size int64, newest int) {
	size, newest = int64(len(n.data)), -1
	now := size
	for _, i := range n.pending {
		op := &c.log.Ops[i]
		switch {
		case op.Kind == Truncate:
			now = op.Offset
		case op.end() > now:
			now = op.end()
		default:
			continue
		}
		if c.inOrder && i <= c.last || !c.inOrder && c.random.Float64() < likely {
			size, newest = now, i
		}
	}
	durable := int64(len(n.data))
	if !c.inOrder && size > durable && c.random.IntN(2) == 0 { // it grew page by page
		pages := (size - durable + page - 1) / page
		size = min(size, durable/page*page+page*(1+c.random.Int64N(pages)))
	}
	return size, newest
}

// versions draws of each sector the last operation of which it holds the bytes. A
// sector that is missing is as it was at the last sync.
func (c *cut) versions(n *inode, newest int, likely float64) map[int64]int {
	versions := map[int64]int{}
	grown := int64(len(n.data)) / sector
	torn := c.random.IntN(2) == 0 // each sector lands or not; else each write
	for _, i := range n.pending {
		whole := c.random.Float64() < likely
		c.log.Ops[i].sectors(func(s, _, _ int64) {
			lands := whole
			switch {
			case c.inOrder:
				lands = i <= c.last
			case torn:
				lands = c.random.Float64() < likely
			}
			if c.profile == Ordered && s >= grown && i <= newest {
				lands = true // the data came before the size
			}
			if lands {
				versions[s] = i
			}
		})
	}
	return versions
}

// sectors calls do with each sector that a write touches, and the bytes in it.
func (op *Op) sectors(do func(s, from, to int64)) {
	if op.Kind != Write {
		return
	}
	for from := op.Offset; from < op.end(); {
		s := from / sector
		to := min(op.end(), (s+1)*sector)
		do(s, from, to)
		from = to
	}
}

// stale fills space with what was there before: pages of the file's own past, which
// may look right, or noise.
func (c *cut) stale(space, past []byte) {
	if len(past) < page || c.random.IntN(2) == 0 {
		past = make([]byte, page)
		for i := range past {
			past[i] = byte(c.random.Uint32())
		}
	}
	for len(space) > 0 {
		from := c.random.IntN(len(past)/page) * page
		space = space[copy(space, past[from:from+page]):]
	}
}
