package solve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/fill"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/proof"
)

// Where hardly any room is left, VMs that are placed one by one leave gaps into which nothing fits.
// Package fill decides what each node holds instead.

// fullness is the search of a full cluster. While some room is left, the whole placement is improved by simulated
// annealing, in which nodes may be overloaded on the way. Where no room is left and hardly two VMs are equal, that
// never gets rid of the overload: a few nodes at a time are filled anew there, and in clusters of few nodes as well. That
// search walks: it accepts placements that are little worse, and if that leads nowhere it goes on from a new filling of
// all nodes, or from the best plan.
type fullness struct {
	*fill.Problem
	actions   fill.Actions
	annealing *fill.Annealing // under way; may be nil
	steps     int             // of the next annealing
	hard      float64         // of the next annealing
	won       bool            // the annealing has found a better placement
	anneals   bool            // the whole placement
	repacks   bool            // some nodes at a time
	lowest    int64           // the least value of a placement so far
	age       int             // neighbourhoods since then
	vain      int             // neighbourhoods of the other kind in a row that were not better
	fills     int             // how often all nodes may still be filled one by one
	reliefs   int             // how often annealing may still look for a placement that fits
}

// Bounds of the search in full clusters.
const (
	scarceShare  = 50      // thousandths of the room that are free at the end at most
	fullShare    = 5       // thousandths below which no room is left
	smallCluster = 6       // nodes of which the other searches try nearly all placements
	fewNodes     = 100     // of which repacking some is fast enough, even if some room is left
	manyNodes    = 1_000   // for which annealing takes too long
	maxFills     = 4       // placements of all VMs that are tried
	fillSteps    = 100_000 // of such a placement, for each node
	repackSteps  = 10_000  // of a placement of the VMs on some nodes
	heat         = 600     // thousandths of the mean value of a node by which a placement may become worse, in the mean
	maxVain      = 4       // neighbourhoods of the other kind in vain, for each node, before nodes are repacked
	maxAge       = 400     // neighbourhoods without a better placement before the walk goes back
	annealPerVM  = 8_000   // steps of the first annealing; each is twice as long as the one before
	reliefPerVM  = 2_000   // steps of an annealing until it fits
	annealSteps  = 16_384  // between two looks
	hardest      = 40      // how much more overload costs where no room is left
	harder       = 1.5     // how much more it costs after an annealing in vain
	pricings     = 4_000   // of nodes, between two meetings
)

// newFullness returns nil if there is ample room, or the cluster is small. Little effort is not enough for annealing.
func newFullness(s *search, effort int) *fullness {
	share := s.freeShare()
	if len(s.OpenNodes) <= smallCluster || share > scarceShare {
		return nil
	}
	full, mixed := share <= fullShare, 4*s.sizes() >= len(s.Wanted) // places of equal VMs can be exchanged
	f := &fullness{
		repacks: mixed && (full || len(s.OpenNodes) <= fewNodes),
		anneals: effort >= DefaultIterations && len(s.OpenNodes) <= manyNodes && (!full || !mixed),
		steps:   annealPerVM * len(s.Wanted), hard: 1, lowest: math.MaxInt64,
	}
	if !f.repacks && !f.anneals {
		return nil
	}
	f.Problem = &fill.Problem{
		Dims: s.Dims, Room: s.Room, Need: s.Next, Home: s.Home, Cost: make([]int64, len(s.In.VMs)),
		Items: s.Wanted, Nodes: s.OpenNodes, May: s.MayEnd, Wait: s.waitFor,
	}
	for _, vm := range s.Wanted {
		if f.Cost[vm] = max(0, s.AwayCost[vm]-s.HomeCost[vm]); s.Rooted[vm] && s.In.VMs[vm].State == repack.Running {
			f.Cost[vm] = fill.Fixed
		}
	}
	if mixed {
		f.fills = maxFills
	}
	if f.anneals {
		f.actions = s.fillActions()
	}
	if full {
		f.hard = hardest
	} else if f.anneals {
		f.reliefs = maxFills
	}
	return f
}

// freeShare returns the share of the scarcest resource that is free at the end, in thousandths, rounded up; a lot
// if some is missing.
func (s *search) freeShare() int64 {
	least := int64(1000)
	for d := range s.Dims {
		var room, need int64
		for _, n := range s.OpenNodes {
			room += s.Room[n*s.Dims+d]
		}
		for _, vm := range s.Wanted {
			need += s.Next[vm*s.Dims+d]
		}
		if room >= need && room > 0 {
			least = min(least, ((room-need)*1000+room-1)/room)
		}
	}
	return least
}

// fillActions returns when VMs leave and come.
func (s *search) fillActions() fill.Actions {
	a := fill.Actions{Start: s.AtStart, Now: s.Now}
	for n := range s.In.Nodes {
		a.Ready = append(a.Ready, int64(s.Ready(n)))
	}
	for vm := range s.In.VMs {
		a.Leave = append(a.Leave, int64(s.DepartureTime[vm]))
		a.Key = append(a.Key, s.SmithRatio(vm, s.Duration(vm, repack.Nowhere)))
		a.LateCost = append(a.LateCost, s.WaitCost(vm))
	}
	return a
}

// improveFull improves the placement of a full cluster, and reports whether it is better.
func (s *search) improveFull(improvable []int) bool {
	if !s.full.anneals || s.full.repacks && s.rng.IntN(2) == 0 {
		return s.repackNodes(improvable)
	}
	return s.annealNodes()
}

// ready reports whether it is the turn of improveFull. Filling nodes anew is slower than the other neighbourhoods
// while these find something.
func (f *fullness) ready() bool { return f != nil && (f.anneals || f.vain >= maxVain*len(f.Nodes)) }

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
	for _, vm := range s.AtStart.At(n) {
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
	if s.full == nil || s.complete() {
		return false
	}
	return s.takePlaces(s.filled())
}

// takePlaces takes a placement of all VMs, if there is one that breaks no rule.
func (s *search) takePlaces(placed []fill.Placed) bool {
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

// filled returns a placement of all VMs, node by node; or if that fails, or many VMs are equal, one from annealing in
// which nodes are overloaded at first.
func (s *search) filled() (placed []fill.Placed) {
	if s.full.fills > 0 {
		s.full.fills--
		placed = s.filledAnew()
	}
	if placed != nil || s.full.reliefs == 0 {
		return placed
	}
	s.full.reliefs--
	at := slices.Clone(s.NodeOf)
	for _, vm := range s.unplacedVMs() {
		near := s.closestNodes(vm)
		if len(near) == 0 {
			return nil
		}
		at[vm] = near[s.rng.IntN(len(near))]
	}
	a := fill.NewAnnealing(s.full.Problem, s.full.actions, at, s.rng, reliefPerVM*len(s.Wanted), s.full.hard)
	for a.Best() == nil && !a.Done() && !s.Aborted() {
		a.Improve(annealSteps)
	}
	if a.Best() == nil {
		return nil
	}
	return s.placed(a.Best())
}

// filledAnew returns a placement of all VMs node by node, or nil.
func (s *search) filledAnew() []fill.Placed {
	return fill.Place(s.full.Problem, s.rng, fillSteps*len(s.OpenNodes))
}

// placed returns the VMs with their nodes in a placement.
func (s *search) placed(at []int) (list []fill.Placed) {
	for _, vm := range s.Wanted {
		list = append(list, fill.Placed{Item: vm, Node: at[vm]})
	}
	return list
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

// annealNodes goes on with simulated annealing of the whole placement, and reports whether it has become better.
func (s *search) annealNodes() (better bool) {
	f := s.full
	if f.annealing == nil {
		f.annealing, f.won = fill.NewAnnealing(f.Problem, f.actions, s.NodeOf, s.rng, f.steps, f.hard), false
	}
	if f.annealing.Improve(annealSteps) {
		better = s.takeAnnealed()
		f.won = f.won || better
	}
	if f.annealing.Done() {
		f.annealing, f.steps = nil, 2*f.steps
		if !f.won {
			f.hard *= harder
		}
	}
	return better
}

// takeAnnealed takes the best placement of the annealing if it is better.
func (s *search) takeAnnealed() bool {
	before := s.Value()
	s.Record()
	s.placeAll(s.placed(s.full.annealing.Best()))
	s.Recording = false
	s.RefreshDelays(s.TouchedNodes()...)
	if s.Value() >= before {
		s.Undo()
		return false
	}
	return true
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
		if !s.full.anneals && s.takePlaces(s.filledAnew()) {
			s.full.lowest = s.Value()
			return false
		}
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
		for _, vm := range s.VMsOn.At(n) {
			add(s.Home[vm])
		}
		for _, vm := range s.Residents.At(n) {
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

// raiseBound raises the lower bound of a full cluster a little.
func (p *portfolio) raiseBound() {
	first := p.searches[0]
	if first.full == nil || p.best == nil || p.best.score.first <= p.bound {
		return
	}
	if p.prices == nil {
		p.prices = proof.NewPrices(first.bounds)
	}
	p.raise(p.prices.Raise(p.best.score.first, 1+pricings/len(first.OpenNodes)))
}
