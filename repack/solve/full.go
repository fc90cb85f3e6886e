package solve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/fill"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/problem"
)

// Where hardly any room is left, VMs that are placed one by one leave gaps into which nothing fits.
// Package fill decides what each node holds instead.

// fullness is the search of a full cluster, which walks: it accepts placements that are
// little worse, and goes back to the best plan if that leads nowhere.
type fullness struct {
	*fill.Problem
	lowest int64 // the least value of a placement so far
	age    int   // neighbourhoods since then
	vain   int   // neighbourhoods of the other kind in a row that were not better
	fills  int   // how often all nodes may still be filled
}

// Bounds of the search in full clusters.
const (
	scarceShare  = 50      // thousandths of the room that are free at the end at most
	largeCluster = 100     // nodes of more than which repacking is too slow, unless they are full
	fullShare    = 5       // scarceShare in large clusters
	smallCluster = 6       // nodes of which the other searches try nearly all placements
	maxFills     = 4       // placements of all VMs that are tried
	fillSteps    = 100_000 // of such a placement, for each node
	repackSteps  = 10_000  // of a placement of the VMs on some nodes
	heat         = 600     // thousandths of the mean value of a node by which a placement may become worse, in the mean
	maxVain      = 4       // neighbourhoods of the other kind in vain, for each node, before nodes are repacked
	maxAge       = 400     // neighbourhoods without a better placement before the walk goes back
)

// newFullness returns nil if there is ample room, or the cluster is small, or most VMs
// are of a few sizes: then places can be exchanged, and the other searches do better.
func newFullness(s *search) *fullness {
	scarce, share := false, int64(scarceShare)
	if len(s.OpenNodes) > largeCluster {
		share = fullShare
	}
	if len(s.OpenNodes) <= smallCluster {
		return nil
	}
	for d := range s.Dims {
		var free, room int64
		for _, n := range s.OpenNodes {
			room += s.Room[n*s.Dims+d]
		}
		free = room
		for _, vm := range s.Wanted {
			free -= s.Next[vm*s.Dims+d]
		}
		scarce = scarce || free >= 0 && free <= room/1000*share
	}
	if !scarce || 4*s.sizes() < len(s.Wanted) {
		return nil
	}
	p := &fill.Problem{
		Dims: s.Dims, Room: s.Room, Need: s.Next, Home: s.Home, Cost: make([]int64, len(s.In.VMs)),
		Items: s.Wanted, Nodes: s.OpenNodes, May: s.MayEnd, Wait: s.waitFor,
	}
	for _, vm := range s.Wanted {
		if p.Cost[vm] = max(0, s.AwayCost[vm]-s.HomeCost[vm]); s.Rooted[vm] && s.In.VMs[vm].State == repack.Running {
			p.Cost[vm] = fill.Fixed
		}
	}
	return &fullness{Problem: p, lowest: math.MaxInt64, fills: maxFills}
}

// tried counts a neighbourhood of the other kind, which is faster and finds as much until little is left to find.
func (f *fullness) tried(better bool) {
	switch {
	case f == nil:
	case better:
		f.vain = 0
	default:
		f.vain++
	}
}

// sizes returns how many different demands the VMs have.
func (s *search) sizes() int {
	seen := map[string]bool{}
	for _, vm := range s.Wanted {
		seen[fmt.Sprint(s.Next[vm*s.Dims:(vm+1)*s.Dims])] = true
	}
	return len(seen)
}

// waitFor returns what it costs that arrivals on a node wait for those that leave, if these need not wait
// themselves.
func (s *search) waitFor(n int, vms []int) (cost int64) {
	free := slices.Clone(s.Room[n*s.Dims : (n+1)*s.Dims])
	var comes, goes []int
	for _, vm := range vms {
		if !s.StaysAt(vm, n) {
			comes = append(comes, vm)
			continue
		}
		for d := range free {
			free[d] -= s.Next[vm*s.Dims+d]
		}
	}
	if len(comes) == 0 {
		return 0
	}
	for _, vm := range s.AtStart[n] {
		if slices.Contains(vms, vm) {
			continue
		}
		goes = append(goes, vm)
		for d := range free {
			free[d] -= s.Now[vm*s.Dims+d]
		}
	}
	slices.SortFunc(goes, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.DepartureTime[a], s.DepartureTime[b]), cmp.Compare(a, b))
	})
	slices.SortFunc(comes, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.SmithRatio(a, s.Duration(a, n)), s.SmithRatio(b, s.Duration(b, n))), cmp.Compare(a, b))
	})
	clock := s.Ready(n)
	for i := 0; ; i++ {
		comes = slices.DeleteFunc(comes, func(vm int) bool {
			for d, f := range free {
				if need := s.Next[vm*s.Dims+d]; need > 0 && need > f {
					return false
				}
			}
			for d := range free {
				free[d] -= s.Next[vm*s.Dims+d]
			}
			cost += s.WaitCost(vm) * int64(clock)
			return true
		})
		if len(comes) == 0 || i == len(goes) {
			return cost
		}
		clock = max(clock, s.DepartureTime[goes[i]])
		for d := range free {
			free[d] += s.Now[goes[i]*s.Dims+d]
		}
	}
}

// fillNodes places all VMs so that hardly any room is left between them. If it fails, nothing has changed.
func (s *search) fillNodes() bool {
	if s.full == nil || s.full.fills == 0 || s.complete() {
		return false
	}
	s.full.fills--
	placed := fill.Place(s.full.Problem, s.rng, fillSteps*len(s.OpenNodes))
	if placed == nil {
		return false
	}
	s.Record()
	s.placeAll(placed)
	if s.Breaches > 0 {
		s.Undo()
		return false
	}
	s.Recording = false
	s.RefreshDelays(s.OpenNodes...)
	return true
}

// placeAll moves VMs to their nodes.
func (s *search) placeAll(placed []fill.Placed) {
	for _, x := range placed {
		if s.NodeOf[x.Item] != x.Node {
			s.Move(x.Item, repack.Nowhere)
		}
	}
	for _, x := range placed {
		s.Move(x.Item, x.Node)
	}
}

// repackNodes places the VMs on a few nodes anew, and keeps that if it is not much worse. It reports whether no
// placement so far was as good.
func (s *search) repackNodes(improvable []int) (better bool) {
	nodes, before := s.related(improvable), s.Value()
	more := int64(0)
	if s.rng.IntN(2) == 0 {
		more = int64(s.rng.ExpFloat64() * heat * float64(before) / float64(1000*len(s.OpenNodes)))
		s.avoidPlace(improvable, nodes)
	}
	placed := fill.Repack(s.full.Problem, s.NodeOf, nodes, more, s.rng, repackSteps)
	s.Avoid = placement.Move{VM: repack.Nowhere, From: repack.Nowhere}
	s.Record()
	s.placeAll(placed)
	s.Recording = false
	s.RefreshDelays(s.TouchedNodes()...)
	switch after := s.Value(); {
	case after > before+more:
		s.Undo()
	case after < s.full.lowest:
		s.full.lowest, s.full.age = after, 0
		return true
	}
	if s.full.age++; s.full.age > maxAge && s.best != nil {
		s.full.age = 0
		s.best.Place(s.State)
		s.RefreshDelays(s.OpenNodes...)
	}
	return false
}

// related returns the nodes of some improvable VMs, and of VMs that go there or come from there.
func (s *search) related(improvable []int) []int {
	nodes := s.pick(improvable)
	add := func(n int) {
		if n != repack.Nowhere && s.Open[n] && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	for _, n := range nodes {
		for _, vm := range s.VMsOn[n] {
			add(s.Home[vm])
		}
		for _, vm := range s.Residents[n] {
			add(s.NodeOf[vm])
		}
	}
	s.rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	size := min(2+s.rng.IntN(3), len(s.OpenNodes))
	nodes = nodes[:min(len(nodes), size)]
	for len(nodes) < size {
		add(s.OpenNodes[s.rng.IntN(len(s.OpenNodes))])
	}
	return nodes
}

// avoidPlace keeps an improvable VM on one of the nodes from its place.
func (s *search) avoidPlace(improvable, nodes []int) {
	var list []int
	for _, vm := range improvable {
		if at := s.NodeOf[vm]; at != s.Home[vm] && slices.Contains(nodes, at) {
			list = append(list, vm)
		}
	}
	if len(list) > 0 {
		vm := list[s.rng.IntN(len(list))]
		s.Avoid = placement.Move{VM: vm, From: s.NodeOf[vm]}
	}
}

// raiseBound raises the lower bound of a full cluster, once.
func (p *portfolio) raiseBound() {
	first := p.searches[0]
	if p.priced || first.full == nil || p.best != nil && p.best.score.first <= p.bound {
		return
	}
	limit := int64(problem.Never)
	if p.best != nil {
		limit = p.best.score.first
	}
	p.priced, p.bound = true, max(p.bound, first.bounds.Priced(limit, p.Stop))
	for _, s := range p.searches {
		s.bound = p.bound
	}
}
