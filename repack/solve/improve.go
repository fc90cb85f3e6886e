package solve

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"vjob/repack"
)

// search improves a placement by large neighbourhood search: it takes away what
// moves around a few nodes, lets everybody there have their wish again, and decides
// anew who goes and where to.
type search struct {
	*State
	bounds *Bounds
	rng    *rand.Rand
	turn   int // where the next search for a node begins
	bound  int64
	fixed  int64 // what the actions cost that do not depend on the placement
	best   *found
	found  func(objective int64)
}

// improvable are the VMs that cost more than they would have to: those that are nowhere,
// and if there are none, those that wait or are not where they would like to be.
func (s *search) improvable() (list []int) {
	for _, vm := range s.wanted {
		switch {
		case s.nodeOf[vm] == repack.Nowhere:
			list = append(list, vm)
		case s.unplaced == 0 && (s.delays[vm] > 0 || s.nodeOf[vm] != s.home[vm] && s.home[vm] != repack.Nowhere || s.breaksSoftRule(vm)):
			list = append(list, vm)
		}
	}
	return list
}

// breaksSoftRule reports whether a soft rule would be broken less without the VM.
func (s *search) breaksSoftRule(vm int) bool {
	if s.penalty == 0 {
		return false
	}
	_, penalty := s.delta(vm, s.nodeOf[vm], repack.Nowhere)
	return penalty < 0
}

// tryNeighbourhood tries one neighbourhood and keeps what is not worse.
func (s *search) tryNeighbourhood(sore []int) (better bool) {
	before := s.value()
	s.record()
	nodes := s.pick(sore)
	s.destroy(nodes)
	s.recreate(nodes)
	s.avoid = move{repack.Nowhere, repack.Nowhere}
	s.recording = false
	s.refreshDelays(s.touchedNodes()...)
	after := s.value()
	if after > before {
		s.undo()
		return false
	}
	return after < before
}

// rebuild places everybody anew, the bulky first, in the rebuild mode of the paper
// (§4.3), and keeps that if fewer are left without a place.
func (s *search) rebuild() bool {
	before := s.value()
	s.record()
	for _, vm := range s.wanted {
		if n := s.nodeOf[vm]; n != repack.Nowhere && (!s.rooted[vm] || !s.staysAt(vm, n)) {
			s.move(vm, repack.Nowhere)
		}
	}
	s.noise = s.rng
	s.insertEach(s.unplacedVMs())
	s.noise, s.recording = nil, false
	s.refreshDelays(s.touchedNodes()...)
	if after := s.value(); after >= before {
		s.undo()
		return false
	}
	return true
}

// pick chooses a few nodes: those of one sore VM, and of another at times.
func (s *search) pick(sore []int) (nodes []int) {
	add := func(n int) {
		if n != repack.Nowhere && s.open[n] && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	for range 1 + s.rng.IntN(3) {
		vm := sore[s.rng.IntN(len(sore))]
		add(s.home[vm])
		add(s.nodeOf[vm])
		if s.nodeOf[vm] != repack.Nowhere && s.breaksSoftRule(vm) {
			s.avoid = move{vm, s.nodeOf[vm]} // somewhere else, whatever it takes
			s.move(vm, repack.Nowhere)
		}
		if s.nodeOf[vm] == repack.Nowhere {
			add(s.openNodes[s.rng.IntN(len(s.openNodes))])
		}
	}
	return nodes
}

// destroy takes away everybody who comes to the nodes and brings home everybody who
// has left them.
func (s *search) destroy(nodes []int) {
	for _, n := range nodes {
		for _, vm := range slices.Clone(s.vmsOn[n]) {
			if s.home[vm] != n {
				s.move(vm, repack.Nowhere)
			}
		}
	}
	for _, n := range nodes {
		for _, vm := range s.residents[n] {
			if s.nodeOf[vm] != n && s.mayEnd(vm, n) {
				if s.in.VMs[vm].State != repack.Running && s.rng.IntN(2) == 0 {
					continue // it may be quicker elsewhere
				}
				if s.nodeOf[vm] != repack.Nowhere {
					s.move(vm, repack.Nowhere)
				}
				if b, _ := s.delta(vm, repack.Nowhere, n); b <= 0 {
					s.move(vm, n)
				}
			}
		}
	}
}

// recreate relieves the nodes and finds places for all who have none; for those
// who fit nowhere it makes room, or puts them in the place of others.
func (s *search) recreate(nodes []int) {
	s.noise = s.rng
	for _, n := range nodes {
		if s.overloaded(n) {
			s.evict(n)
		}
	}
	list := s.unplacedVMs()
	s.turn = s.rng.IntN(len(s.openNodes))
	for _, vm := range s.insertEach(list) {
		if s.displace(vm, s.rng.IntN(2)) {
			continue
		}
		if near := s.closestNodes(vm); len(near) > 0 {
			s.replace(vm, near[s.rng.IntN(len(near))])
		}
	}
	s.replaceDelayed()
	s.noise = nil
}

// replace puts a VM on a node whoever has to go for it, perhaps nowhere.
func (s *search) replace(vm, node int) {
	s.kept = append(s.kept, vm)
	mark := len(s.moves)
	s.move(vm, node)
	gone, ok := s.evict(node)
	s.kept = s.kept[:len(s.kept)-1]
	if !ok {
		s.rollBack(mark)
		return
	}
	s.byBulk(gone)
	s.insertEach(gone)
}

// replaceDelayed looks for other places for those who would have to wait for theirs.
func (s *search) replaceDelayed() {
	nodes := s.touchedNodes()
	s.refreshDelays(nodes...)
	var late []int
	for _, n := range nodes {
		for _, vm := range s.vmsOn[n] {
			if s.delays[vm] > 0 {
				late = append(late, vm)
			}
		}
	}
	for _, vm := range late {
		from := s.nodeOf[vm]
		s.move(vm, repack.Nowhere)
		if !s.insert(vm) {
			s.move(vm, from)
		}
	}
}

// run searches for some rounds, or until it is told to stop or has found what
// cannot be bettered.
func (s *search) run(rounds int, stop func() bool) {
	s.schedulePlacement()
	sore := s.improvable()
	for i := range rounds {
		if len(sore) == 0 || s.optimal() || i%8 == 0 && stop() {
			return
		}
		better := s.unplaced > 0 && i%32 == 31 && (s.rebuild() || s.anneal(stop)) || s.tryNeighbourhood(sore)
		switch {
		case better || s.best == nil && i%16 == 15:
			s.schedulePlacement()
		case i%4 == 3 && s.best != nil && (s.best.indirect() || s.congestion != nil) && s.complete(): // who goes when matters, too
			s.offerPlan(Follow(s.State, s.rng))
		}
		if better || s.unplaced > 0 {
			sore = s.improvable()
		}
	}
}

// optimal reports whether no plan is better than the best one found.
func (s *search) optimal() bool { return s.best != nil && s.best.score.first <= s.bound }

// complete reports whether the placement is one that a plan may lead to.
func (s *search) complete() bool {
	return s.unplaced == 0 && s.breaches == 0 && !slices.ContainsFunc(s.openNodes, s.overloaded)
}

// schedulePlacement makes a schedule of the placement, if it is complete and may be the best.
func (s *search) schedulePlacement() {
	if !s.complete() || s.best != nil && s.objective != repack.Makespan && s.value()-s.congestion.uncertainty()+s.fixed >= s.best.score.first {
		return
	}
	c := Follow(s.State, nil)
	s.offerPlan(c)
	if !c.indirect() {
		return
	}
	s.offerPlan(FollowPatiently(s.State, nil))
	for range variants { // which detour is best shows only at the end
		s.offerPlan(Follow(s.State, s.rng))
	}
}

// variants is how many schedules with detours are tried of one placement.
const variants = 12

// offerPlan keeps a schedule if it is complete and the best one yet.
func (s *search) offerPlan(c *Schedule) {
	if !c.Complete() {
		return
	}
	if f := (found{c, scoreOf(s.State, c)}); s.best == nil || f.score.less(s.best.score) {
		s.best = &f
		s.found(f.score.first)
	}
}

// found is a complete schedule and what it is worth.
type found struct {
	*Schedule
	score score
}

// score is what a plan costs: in the objective, and what breaks ties.
type score struct{ first, second int64 }

func (a score) less(b score) bool {
	return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second)) < 0
}

// byBulk sorts VMs without a place, the bulky first, with some noise.
func (s *search) byBulk(list []int) {
	weight := make(map[int]int64, len(list))
	for _, vm := range list {
		weight[vm] = s.perturb(s.bulk(vm))
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) })
}
