package placement

import (
	"vjob/repack"
	"vjob/repack/internal/problem"
)

// FreeIndex indexes the free capacity of nodes that accept VMs, by blocks of nodes: what
// exceeds the largest free capacity of a block fits on none of its nodes. It is updated when
// it is read.
type FreeIndex struct {
	*State
	Accepts   []bool // nodes that some VM may come to
	maxFree   []int64
	SumFree   []int64 // by block and dimension; an overloaded node counts as full
	TotalFree []int64
	stale     []int  // blocks that have changed
	Dirty     []bool // whether a block is stale
}

// BlockSize is the number of nodes in a block.
const BlockSize = 32

// NewFreeIndex indexes the nodes of a state by what is free on them.
func NewFreeIndex(s *State) *FreeIndex {
	blocks := (len(s.In.Nodes) + BlockSize - 1) / BlockSize
	o := &FreeIndex{
		State: s, Accepts: acceptingNodes(s.Problem),
		maxFree: make([]int64, blocks*s.Dims), SumFree: make([]int64, blocks*s.Dims), TotalFree: make([]int64, s.Dims),
		Dirty: make([]bool, blocks),
	}
	for b := range blocks {
		o.touch(b * BlockSize)
	}
	o.Refresh()
	return o
}

// acceptingNodes returns the open nodes that some VM may come to. A VM that is there already
// does not count.
func acceptingNodes(m *problem.Problem) []bool {
	takes := make([]bool, len(m.In.Nodes))
	seen := map[*problem.NodeSet]int{} // except for the home of the first VM that asked
	for _, vm := range m.Wanted {
		set, home := m.Banned[vm], repack.Nowhere
		if m.In.VMs[vm].State == repack.Running {
			home = m.Home[vm]
			if m.Rooted[vm] {
				continue
			}
		}
		but, asked := seen[set]
		switch {
		case !asked:
			set.EachOutside(len(takes), func(n int) { takes[n] = takes[n] || n != home && m.Open[n] })
			seen[set] = home
		case but != repack.Nowhere && but != home:
			takes[but] = takes[but] || m.Open[but] && !set.Has(but)
			seen[set] = repack.Nowhere
		}
	}
	return takes
}

// touch marks the block of a node as changed.
func (o *FreeIndex) touch(n int) {
	if o == nil || o.Dirty[n/BlockSize] {
		return
	}
	o.Dirty[n/BlockSize] = true
	o.stale = append(o.stale, n/BlockSize)
}

// Refresh updates the blocks that have changed.
func (o *FreeIndex) Refresh() {
	for _, b := range o.stale {
		o.recompute(b)
		o.Dirty[b] = false
	}
	o.stale = o.stale[:0]
}

func (o *FreeIndex) recompute(b int) {
	most, sums := o.maxFree[b*o.Dims:(b+1)*o.Dims], o.SumFree[b*o.Dims:(b+1)*o.Dims]
	for d := range most {
		o.TotalFree[d] -= sums[d]
	}
	clear(most)
	clear(sums)
	for n := b * BlockSize; n < min((b+1)*BlockSize, len(o.Accepts)); n++ {
		if !o.Accepts[n] {
			continue
		}
		for d := range most {
			free := max(0, o.Room[n*o.Dims+d]-o.EndLoad[n*o.Dims+d])
			most[d] = max(most[d], free)
			sums[d] += free
		}
	}
	for d := range most {
		o.TotalFree[d] += sums[d]
	}
}

// Each visits the nodes that accept VMs and have room for a need, beginning near one node,
// until visit returns false.
func (o *FreeIndex) Each(need []int64, near int, visit func(n int) bool) {
	o.Refresh()
	for i := range o.Dirty {
		b := (near/BlockSize + i) % len(o.Dirty)
		if !Within(need, o.maxFree[b*o.Dims:(b+1)*o.Dims]) {
			continue
		}
		for n := b * BlockSize; n < min((b+1)*BlockSize, len(o.Accepts)); n++ {
			if o.Accepts[n] && o.Holds(need, n) && !visit(n) {
				return
			}
		}
	}
}

// Within reports whether the room covers a need. Dimensions without a need do not count.
func Within(need, room []int64) bool {
	for d, x := range need {
		if x > 0 && x > room[d] {
			return false
		}
	}
	return true
}

// Holds reports whether a node has room for a need.
func (s *State) Holds(need []int64, n int) bool {
	load, room := s.EndLoad[n*s.Dims:(n+1)*s.Dims], s.Room[n*s.Dims:(n+1)*s.Dims]
	for d, x := range need {
		if x > 0 && load[d]+x > room[d] {
			return false
		}
	}
	return true
}
