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
	*state
	bounds *bounds
	rng    *rand.Rand
	turn   int // where the next search for a node begins
	bound  int64
	fixed  int64 // what the actions cost that do not depend on the placement
	best   *finding
	found  func(objective int64)
}

// sore are the VMs that cost more than they would have to: those that are nowhere,
// and if there are none, those that wait or are not where they would like to be.
func (s *search) sore() (list []int) {
	for _, vm := range s.hot {
		switch {
		case s.at[vm] == repack.Nowhere:
			list = append(list, vm)
		case s.nowhere == 0 && (s.lag[vm] > 0 || s.at[vm] != s.home[vm] && s.home[vm] != repack.Nowhere || s.blamed(vm)):
			list = append(list, vm)
		}
	}
	return list
}

// blamed reports whether a soft rule would be broken less without the VM.
func (s *search) blamed(vm int) bool {
	if s.penalty == 0 {
		return false
	}
	_, penalty := s.delta(vm, s.at[vm], repack.Nowhere)
	return penalty < 0
}

// round tries one neighbourhood and keeps what is not worse.
func (s *search) round(sore []int) (better bool) {
	before := s.value()
	s.note()
	nodes := s.pick(sore)
	s.loosen(nodes)
	s.resettle(nodes)
	s.shun = step{repack.Nowhere, repack.Nowhere}
	s.noted = false
	s.refresh(s.touched()...)
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
	s.note()
	for _, vm := range s.hot {
		if n := s.at[vm]; n != repack.Nowhere && (!s.rooted[vm] || !s.staysAt(vm, n)) {
			s.move(vm, repack.Nowhere)
		}
	}
	s.noise = s.rng
	s.placeAll(s.homeless())
	s.noise, s.noted = nil, false
	s.refresh(s.touched()...)
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
		add(s.at[vm])
		if s.at[vm] != repack.Nowhere && s.blamed(vm) {
			s.shun = step{vm, s.at[vm]} // somewhere else, whatever it takes
			s.move(vm, repack.Nowhere)
		}
		if s.at[vm] == repack.Nowhere {
			add(s.order[s.rng.IntN(len(s.order))])
		}
	}
	return nodes
}

// loosen takes away everybody who comes to the nodes and brings home everybody who
// has left them.
func (s *search) loosen(nodes []int) {
	for _, n := range nodes {
		for _, vm := range slices.Clone(s.here[n]) {
			if s.home[vm] != n {
				s.move(vm, repack.Nowhere)
			}
		}
	}
	for _, n := range nodes {
		for _, vm := range s.wishing[n] {
			if s.at[vm] != n && s.mayEnd(vm, n) {
				if s.in.VMs[vm].State != repack.Running && s.rng.IntN(2) == 0 {
					continue // it may be quicker elsewhere
				}
				if s.at[vm] != repack.Nowhere {
					s.move(vm, repack.Nowhere)
				}
				if b, _ := s.delta(vm, repack.Nowhere, n); b <= 0 {
					s.move(vm, n)
				}
			}
		}
	}
}

// resettle relieves the nodes and finds places for all who have none; for those
// who fit nowhere it makes room, or puts them in the place of others.
func (s *search) resettle(nodes []int) {
	s.noise = s.rng
	for _, n := range nodes {
		if s.over(n) {
			s.relieve(n)
		}
	}
	list := s.homeless()
	s.turn = s.rng.IntN(len(s.order))
	for _, vm := range s.placeAll(list) {
		if s.squeeze(vm, s.rng.IntN(2)) {
			continue
		}
		if near := s.tightest(vm); len(near) > 0 {
			s.oust(vm, near[s.rng.IntN(len(near))])
		}
	}
	s.reconsider()
	s.noise = nil
}

// oust puts a VM on a node whoever has to go for it, perhaps nowhere.
func (s *search) oust(vm, node int) {
	s.held = append(s.held, vm)
	mark := len(s.trail)
	s.move(vm, node)
	gone, ok := s.relieve(node)
	s.held = s.held[:len(s.held)-1]
	if !ok {
		s.back(mark)
		return
	}
	s.byBulk(gone)
	s.placeAll(gone)
}

// reconsider looks for other places for those who would have to wait for theirs.
func (s *search) reconsider() {
	nodes := s.touched()
	s.refresh(nodes...)
	var late []int
	for _, n := range nodes {
		for _, vm := range s.here[n] {
			if s.lag[vm] > 0 {
				late = append(late, vm)
			}
		}
	}
	for _, vm := range late {
		from := s.at[vm]
		s.move(vm, repack.Nowhere)
		if !s.place(vm) {
			s.move(vm, from)
		}
	}
}

// run searches for some rounds, or until it is told to stop or has found what
// cannot be bettered.
func (s *search) run(rounds int, stop func() bool) {
	s.try()
	sore := s.sore()
	for i := range rounds {
		if len(sore) == 0 || s.done() || i%8 == 0 && stop() {
			return
		}
		better := s.nowhere > 0 && i%32 == 31 && (s.rebuild() || s.press(stop)) || s.round(sore)
		switch {
		case better || s.best == nil && i%16 == 15:
			s.try()
		case i%4 == 3 && s.best != nil && (s.best.astray() || s.jam != nil) && s.complete(): // who goes when matters, too
			s.keep(newSchedule(s.state, s.rng))
		}
		if better || s.nowhere > 0 {
			sore = s.sore()
		}
	}
}

// done reports whether no plan is better than the best one found.
func (s *search) done() bool { return s.best != nil && s.best.score.first <= s.bound }

// complete reports whether the placement is one that a plan may lead to.
func (s *search) complete() bool {
	return s.nowhere == 0 && s.breaches == 0 && !slices.ContainsFunc(s.order, s.over)
}

// try makes a schedule of the placement, if it is complete and may be the best.
func (s *search) try() {
	if !s.complete() || s.best != nil && s.aim != Makespan && s.value()-s.jam.doubt()+s.fixed >= s.best.score.first {
		return
	}
	c := newSchedule(s.state, nil)
	s.keep(c)
	if !c.astray() {
		return
	}
	s.keep(newPatient(s.state, nil))
	for range variants { // which detour is best shows only at the end
		s.keep(newSchedule(s.state, s.rng))
	}
}

// variants is how many schedules with detours are tried of one placement.
const variants = 12

// keep keeps a schedule if it is complete and the best one yet.
func (s *search) keep(c *schedule) {
	if c.left > 0 || !c.inTime() {
		return
	}
	if f := (finding{c, scoreOf(s.state, c)}); s.best == nil || f.score.less(s.best.score) {
		s.best = &f
		s.found(f.score.first)
	}
}

// finding is a complete schedule and what it is worth.
type finding struct {
	*schedule
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
		weight[vm] = s.noisy(s.bulk(vm))
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) })
}
