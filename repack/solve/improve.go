package solve

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/placement"
	"vjob/repack/internal/proof"
	"vjob/repack/internal/schedule"
)

// search improves a placement by large neighbourhood search: it removes VMs around a few
// nodes, brings them home again, and decides anew which go and where.
type search struct {
	*placement.State
	bounds *proof.Bounds
	rng    *rand.Rand
	turn   int // where the next search for a node begins
	bound  int64
	fixed  int64 // cost of the actions that do not depend on the placement
	best   *found
	found  func(objective int64)
	full   *fullness // nil if there is ample room
	// patterns are what package pattern knows of the problem, nil if the VMs are of too many kinds.
	patterns  func() *proof.Patterns
	patterned bool // all VMs have been given places by patterns
}

// improvable returns the VMs that cost more than necessary: those without a place, and if all
// have one, those that wait or are not at home.
func (s *search) improvable() (list []int) {
	for _, vm := range s.Wanted {
		switch {
		case s.NodeOf[vm] == repack.Nowhere:
			list = append(list, vm)
		case s.Unplaced == 0 && (s.Delays[vm] > 0 || s.NodeOf[vm] != s.Home[vm] && s.Home[vm] != repack.Nowhere || s.breaksSoftRule(vm)):
			list = append(list, vm)
		}
	}
	return list
}

// breaksSoftRule reports whether soft rules would cost less without the VM.
func (s *search) breaksSoftRule(vm int) bool {
	if s.Penalty == 0 {
		return false
	}
	_, penalty := s.Delta(vm, s.NodeOf[vm], repack.Nowhere)
	return penalty < 0
}

// tryNeighbourhood tries one neighbourhood and keeps it if it is not worse.
func (s *search) tryNeighbourhood(improvable []int) (better bool) {
	if s.full.ready() && s.complete() && s.rng.IntN(4) > 0 {
		return s.improveFull(improvable)
	}
	before := s.Value()
	s.Record()
	nodes := s.pick(improvable)
	s.destroy(nodes)
	s.recreate(nodes)
	s.Avoid = placement.Move{VM: repack.Nowhere, From: repack.Nowhere}
	s.Recording = false
	s.RefreshDelays(s.TouchedNodes()...)
	after := s.Value()
	s.full.tried(after < before)
	if after > before {
		s.Undo()
		return false
	}
	return after < before
}

// rebuild places all VMs anew, the largest first, in the rebuild mode of the paper (§4.3), and
// keeps that if it is better.
func (s *search) rebuild() bool {
	before := s.Value()
	s.Record()
	for _, vm := range s.Wanted {
		if n := s.NodeOf[vm]; n != repack.Nowhere && (!s.Rooted[vm] || !s.StaysAt(vm, n)) {
			s.Move(vm, repack.Nowhere)
		}
	}
	s.Noise = s.rng
	s.insertEach(s.unplacedVMs())
	s.Noise, s.Recording = nil, false
	s.RefreshDelays(s.TouchedNodes()...)
	if after := s.Value(); after >= before {
		s.Undo()
		return false
	}
	return true
}

// pick chooses the nodes of one improvable VM, and sometimes of more.
func (s *search) pick(improvable []int) (nodes []int) {
	add := func(n int) {
		if n != repack.Nowhere && s.Open[n] && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	for range 1 + s.rng.IntN(3) {
		vm := improvable[s.rng.IntN(len(improvable))]
		add(s.Home[vm])
		add(s.NodeOf[vm])
		if s.NodeOf[vm] != repack.Nowhere && s.breaksSoftRule(vm) {
			s.Avoid = placement.Move{VM: vm, From: s.NodeOf[vm]} // somewhere else at any cost
			s.Move(vm, repack.Nowhere)
		}
		if s.NodeOf[vm] == repack.Nowhere {
			add(s.OpenNodes[s.rng.IntN(len(s.OpenNodes))])
		}
	}
	return nodes
}

// destroy removes the VMs that come to the nodes and brings back the VMs that have left them.
func (s *search) destroy(nodes []int) {
	for _, n := range nodes {
		for _, vm := range slices.Clone(s.VMsOn.At(n)) {
			if s.Home[vm] != n {
				s.Move(vm, repack.Nowhere)
			}
		}
	}
	for _, n := range nodes {
		for _, vm := range s.Residents.At(n) {
			if s.NodeOf[vm] != n && s.MayEnd(vm, n) {
				if s.In.VMs[vm].State != repack.Running && s.rng.IntN(2) == 0 {
					continue // it may be quicker elsewhere
				}
				if s.NodeOf[vm] != repack.Nowhere {
					s.Move(vm, repack.Nowhere)
				}
				if b, _ := s.Delta(vm, repack.Nowhere, n); b <= 0 {
					s.Move(vm, n)
				}
			}
		}
	}
}

// recreate evicts VMs from overloaded nodes and finds places for all VMs without one. For VMs
// that fit nowhere it displaces others.
func (s *search) recreate(nodes []int) {
	s.Noise = s.rng
	for _, n := range nodes {
		if s.Overloaded(n) {
			s.Evict(n)
		}
	}
	list := s.unplacedVMs()
	s.turn = s.rng.IntN(len(s.OpenNodes))
	for _, vm := range s.insertEach(list) {
		if s.displace(vm, s.rng.IntN(2)) {
			continue
		}
		if near := s.closestNodes(vm); len(near) > 0 {
			s.replace(vm, near[s.rng.IntN(len(near))])
		}
	}
	s.replaceDelayed()
	s.Noise = nil
}

// replace puts a VM on a node and evicts others for it, perhaps without finding them places.
func (s *search) replace(vm, node int) {
	s.Kept = append(s.Kept, vm)
	mark := len(s.Moves)
	s.Move(vm, node)
	gone, ok := s.Evict(node)
	s.Kept = s.Kept[:len(s.Kept)-1]
	if !ok {
		s.RollBack(mark)
		return
	}
	s.byBulk(gone)
	s.insertEach(gone)
}

// replaceDelayed looks for other places for VMs that would have to wait.
func (s *search) replaceDelayed() {
	nodes := s.TouchedNodes()
	s.RefreshDelays(nodes...)
	var late []int
	for _, n := range nodes {
		for _, vm := range s.VMsOn.At(n) {
			if s.Delays[vm] > 0 {
				late = append(late, vm)
			}
		}
	}
	for _, vm := range late {
		from := s.NodeOf[vm]
		s.Move(vm, repack.Nowhere)
		if !s.insert(vm) {
			s.Move(vm, from)
		}
	}
}

// run searches for some rounds, until stop says so or it has found an optimal plan.
func (s *search) run(rounds int, stop func() bool) {
	s.schedulePlacement()
	improvable := s.improvable()
	for i := range rounds {
		if len(improvable) == 0 || s.optimal() || i%8 == 0 && stop() {
			return
		}
		better := s.Unplaced > 0 && i%32 == 31 && (s.rebuild() || s.anneal(stop) || s.fillNodes()) || s.tryNeighbourhood(improvable)
		switch {
		case better || s.best == nil && i%16 == 15:
			s.schedulePlacement()
		case i%4 == 3 && s.best != nil && (s.best.Indirect() || s.Congestion != nil) && s.complete(): // the order matters, too
			s.offerPlan(schedule.Follow(s.State, s.rng))
		}
		if better || s.Unplaced > 0 {
			improvable = s.improvable()
		}
	}
}

// optimal reports whether no plan is better than the best one found.
func (s *search) optimal() bool { return s.best != nil && s.best.score.first <= s.bound }

// complete reports whether a plan may lead to the placement.
func (s *search) complete() bool {
	return s.Unplaced == 0 && s.Breaches == 0 && !slices.ContainsFunc(s.OpenNodes, s.Overloaded)
}

// schedulePlacement schedules the placement, if it is complete and may be the best.
func (s *search) schedulePlacement() {
	if !s.complete() || s.best != nil && s.Objective != repack.Makespan && s.Value()-s.Congestion.Uncertainty()+s.fixed >= s.best.score.first {
		return
	}
	c := schedule.Follow(s.State, nil)
	s.offerPlan(c)
	if !c.Indirect() {
		return
	}
	s.offerPlan(schedule.FollowPatiently(s.State, nil))
	for range variants { // which bypass is best shows only at the end
		s.offerPlan(schedule.Follow(s.State, s.rng))
	}
}

// variants is how many schedules with bypasses are tried for one placement.
const variants = 12

// offerPlan keeps a schedule if it is complete and the best one yet.
func (s *search) offerPlan(c *schedule.Schedule) {
	if !c.Complete() {
		return
	}
	if f := (found{c, scoreOf(s.State, c)}); s.best == nil || f.score.less(s.best.score) {
		s.best = &f
		s.found(f.score.first)
	}
}

// found is a complete schedule and its score.
type found struct {
	*schedule.Schedule
	score score
}

// score is what a plan costs in the objective, and what breaks ties.
type score struct{ first, second int64 }

func (a score) less(b score) bool {
	return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second)) < 0
}

// byBulk sorts VMs without a place, the largest first, with some noise.
func (s *search) byBulk(list []int) {
	weight := make(map[int]int64, len(list))
	for _, vm := range list {
		weight[vm] = s.Perturb(s.Bulk[vm])
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) })
}
