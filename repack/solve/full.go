package solve

import (
	"cmp"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/fill"
)

// Where hardly any room is left, VMs placed one by one leave gaps that nothing fits into. Package
// fill decides what a node holds, node by node.

// scarceShare is the share of the room that VMs leave free where that is worth while, in
// thousandths.
const scarceShare = 50

// fillProblem returns the placement problem for package fill, or nil if there is ample room.
func (s *search) fillProblem() *fill.Problem {
	scarce := false
	for d := range s.Dims {
		var free, room int64
		for _, n := range s.OpenNodes {
			room += s.Room[n*s.Dims+d]
		}
		free = room
		for _, vm := range s.Wanted {
			free -= s.Next[vm*s.Dims+d]
		}
		scarce = scarce || free >= 0 && free <= room/1000*scarceShare
	}
	if !scarce {
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
	return p
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
	slices.SortFunc(goes, func(a, b int) int { return cmp.Or(cmp.Compare(s.DepartureTime[a], s.DepartureTime[b]), cmp.Compare(a, b)) })
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

// fillSteps and repackSteps bound the searches.
const (
	fillSteps   = 20_000_000
	repackSteps = 30_000
)

// fillNodes places all VMs so that no room is wasted. If it fails, nothing has changed.
func (s *search) fillNodes() bool {
	placed := fill.Place(s.full, s.rng, fillSteps)
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

// repackNodes places the VMs anew that are on the nodes of one improvable VM and some more, and
// keeps that if it is not worse.
func (s *search) repackNodes(improvable []int) (better bool) {
	nodes := s.pick(improvable)
	for _, n := range slices.Clone(nodes) { // what else moves there
		for _, vm := range s.VMsOn[n] {
			if h := s.Home[vm]; h != n && h != repack.Nowhere && s.Open[h] && !slices.Contains(nodes, h) {
				nodes = append(nodes, h)
			}
		}
		for _, vm := range s.Residents[n] {
			if at := s.NodeOf[vm]; at != n && at != repack.Nowhere && !slices.Contains(nodes, at) {
				nodes = append(nodes, at)
			}
		}
	}
	s.rng.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	size := 2 + s.rng.IntN(4)
	nodes = nodes[:min(len(nodes), size)]
	for range 20 {
		if n := s.OpenNodes[s.rng.IntN(len(s.OpenNodes))]; len(nodes) < size && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	placed := fill.Repack(s.full, s.NodeOf, nodes, s.rng, repackSteps)
	if placed == nil {
		return false
	}
	before := s.Value()
	s.Record()
	s.placeAll(placed)
	s.Recording = false
	s.RefreshDelays(s.TouchedNodes()...)
	after := s.Value()
	if after > before {
		s.Undo()
		return false
	}
	return after < before
}
