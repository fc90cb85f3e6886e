package solve

import "vjob/repack"

// FreeIndex is the free room on the nodes that VMs may come to, by blocks of nodes:
// what does not fit into the most of a block fits on no node of it. It is brought up
// to date when it is read.
type FreeIndex struct {
	*State
	accepts   []bool // nodes that somebody may come to
	maxFree   []int64
	sumFree   []int64 // by block and dimension; an overloaded node uses up nothing of others
	totalFree []int64
	stale     []int  // blocks of which something has changed
	dirty     []bool // whether a block is one of them
}

// blockSize is how many nodes are a block.
const blockSize = 32

func newOpenings(s *State) *FreeIndex {
	blocks := (len(s.in.Nodes) + blockSize - 1) / blockSize
	o := &FreeIndex{
		State: s, accepts: acceptingNodes(s.Problem),
		maxFree: make([]int64, blocks*s.dims), sumFree: make([]int64, blocks*s.dims), totalFree: make([]int64, s.dims),
		dirty: make([]bool, blocks),
	}
	for b := range blocks {
		o.touch(b * blockSize)
	}
	o.refresh()
	return o
}

// acceptingNodes are the open nodes that some VM may come to: being there already does
// not count.
func acceptingNodes(m *Problem) []bool {
	takes := make([]bool, len(m.in.Nodes))
	seen := map[*nodeSet]int{} // but for the home of the one that was asked first
	for _, vm := range m.wanted {
		set, home := m.banned[vm], repack.Nowhere
		if m.in.VMs[vm].State == repack.Running {
			if home = m.home[vm]; m.rooted[vm] {
				continue
			}
		}
		but, asked := seen[set]
		switch {
		case !asked:
			set.eachOutside(len(takes), func(n int) { takes[n] = takes[n] || n != home && m.open[n] })
			seen[set] = home
		case but != repack.Nowhere && but != home:
			takes[but] = takes[but] || m.open[but] && !set.has(but)
			seen[set] = repack.Nowhere
		}
	}
	return takes
}

// touch notes that something has come to a node or left it.
func (o *FreeIndex) touch(n int) {
	if o == nil || o.dirty[n/blockSize] {
		return
	}
	o.dirty[n/blockSize] = true
	o.stale = append(o.stale, n/blockSize)
}

// refresh brings the blocks up to date.
func (o *FreeIndex) refresh() {
	for _, b := range o.stale {
		o.recompute(b)
		o.dirty[b] = false
	}
	o.stale = o.stale[:0]
}

func (o *FreeIndex) recompute(b int) {
	most, sums := o.maxFree[b*o.dims:(b+1)*o.dims], o.sumFree[b*o.dims:(b+1)*o.dims]
	for d := range most {
		o.totalFree[d] -= sums[d]
	}
	clear(most)
	clear(sums)
	for n := b * blockSize; n < min((b+1)*blockSize, len(o.accepts)); n++ {
		if !o.accepts[n] {
			continue
		}
		for d := range most {
			free := max(0, o.room[n*o.dims+d]-o.endLoad[n*o.dims+d])
			most[d] = max(most[d], free)
			sums[d] += free
		}
	}
	for d := range most {
		o.totalFree[d] += sums[d]
	}
}

// each visits the nodes that have room for a need and that VMs may come to, those
// near one node first, until it is told to stop.
func (o *FreeIndex) each(need []int64, near int, visit func(n int) bool) {
	o.refresh()
	for i := range o.dirty {
		b := (near/blockSize + i) % len(o.dirty)
		if !within(need, o.maxFree[b*o.dims:(b+1)*o.dims]) {
			continue
		}
		for n := b * blockSize; n < min((b+1)*blockSize, len(o.accepts)); n++ {
			if o.accepts[n] && o.holds(need, n) && !visit(n) {
				return
			}
		}
	}
}

// within reports whether a need is met. What is not needed need not be there.
func within(need, room []int64) bool {
	for d, x := range need {
		if x > 0 && x > room[d] {
			return false
		}
	}
	return true
}

// holds reports whether a node has room for a need.
func (s *State) holds(need []int64, n int) bool {
	load, room := s.endLoad[n*s.dims:(n+1)*s.dims], s.room[n*s.dims:(n+1)*s.dims]
	for d, x := range need {
		if x > 0 && load[d]+x > room[d] {
			return false
		}
	}
	return true
}
