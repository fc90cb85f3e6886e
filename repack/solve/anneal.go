package solve

import (
	"math"

	"vjob/repack"
)

// anneal places everybody, whether there is room or not, and then lets VMs move and
// change places by simulated annealing until no node has too many. It is for
// packings so tight that no single VM fits anywhere. False: it came to nothing, and
// nothing has changed.
func (s *search) anneal(stop func() bool) bool {
	s.record()
	s.noise = s.rng
	for _, vm := range s.unplacedVMs() {
		if near := s.closestNodes(vm); len(near) > 0 {
			s.move(vm, near[0])
		}
	}
	s.noise = nil
	if s.unplaced > 0 || s.breaches > 0 {
		s.undo()
		return false
	}
	a := newAnnealing(s)
	a.run(stop)
	if a.pressure > 0 {
		s.undo()
		return false
	}
	s.recording = false
	s.refreshDelays(s.touchedNodes()...)
	return true
}

// annealing is the search for a placement without pressure: the sum over all nodes
// of what is too much there, in millionths of an average node.
type annealing struct {
	*search
	pressureOn  []int64 // pressure on each node
	pressure    int64
	temperature float64
	pressed     []int // nodes under pressure, and some that were
}

// How long to anneal, how hot it is at first and at last, and what being away from
// home is worth, in millionths of an average node.
const (
	stepsPerVM         = 200
	maxSteps           = 400_000
	initialTemperature = 40_000.0
	finalTemperature   = 300.0
	awayPenalty        = 2_000
	candidatesPerStep  = 12 // nodes that are looked at for one VM
)

func newAnnealing(s *search) *annealing {
	a := &annealing{search: s, pressureOn: make([]int64, len(s.in.Nodes))}
	for _, n := range s.openNodes {
		a.pressureOn[n] = a.pressureWith(n, repack.Nowhere, repack.Nowhere)
		a.pressure += a.pressureOn[n]
		if a.pressureOn[n] > 0 {
			a.pressed = append(a.pressed, n)
		}
	}
	return a
}

// pressureWith is the pressure on a node if one VM goes from it and another comes.
func (a *annealing) pressureWith(n int, goes, comes int) (sum int64) {
	for d := range a.dims {
		load := a.endLoad[n*a.dims+d]
		if goes != repack.Nowhere {
			load -= a.next[goes*a.dims+d]
		}
		if comes != repack.Nowhere {
			load += a.next[comes*a.dims+d]
		}
		if over := load - a.room[n*a.dims+d]; over > 0 && a.average[d] > 0 {
			sum += over * 1_000_000 / a.average[d]
		}
	}
	return sum
}

func (a *annealing) run(stop func() bool) {
	steps := min(maxSteps, stepsPerVM*len(a.wanted))
	cooling := math.Pow(finalTemperature/initialTemperature, 1/float64(steps))
	a.temperature = initialTemperature
	for i := 0; i < steps && a.pressure > 0; i++ {
		if i%1024 == 0 && stop() {
			return
		}
		a.step()
		a.temperature *= cooling
	}
}

// step tries to take one VM from a node under pressure, or to swap it.
func (a *annealing) step() {
	n, ok := a.pressedNode()
	if !ok || len(a.vmsOn[n]) == 0 {
		return
	}
	vm := a.vmsOn[n][a.rng.IntN(len(a.vmsOn[n]))]
	if a.rooted[vm] && a.staysAt(vm, n) {
		return
	}
	best, with, least := repack.Nowhere, repack.Nowhere, int64(math.MaxInt64)
	for k := range candidatesPerStep {
		m := a.openNodes[a.rng.IntN(len(a.openNodes))]
		if k == 0 && a.home[vm] != repack.Nowhere {
			m = a.home[vm]
		}
		if m == n || !a.mayEnd(vm, m) {
			continue
		}
		if d := a.change(n, m, vm, repack.Nowhere); d < least {
			best, with, least = m, repack.Nowhere, d
		}
		for _, other := range a.vmsOn[m] {
			if d := a.change(n, m, vm, other); d < least && a.mayEnd(other, n) && (!a.rooted[other] || !a.staysAt(other, m)) {
				best, with, least = m, other, d
			}
		}
	}
	if best == repack.Nowhere || least > 0 && a.rng.Float64() >= math.Exp(-float64(least)/a.temperature) {
		return
	}
	a.swap(n, best, vm, with)
}

// pressedNode is a node under pressure.
func (a *annealing) pressedNode() (int, bool) {
	for len(a.pressed) > 0 {
		i := a.rng.IntN(len(a.pressed))
		if n := a.pressed[i]; a.pressureOn[n] > 0 {
			return n, true
		}
		a.pressed[i] = a.pressed[len(a.pressed)-1]
		a.pressed = a.pressed[:len(a.pressed)-1]
	}
	return 0, false
}

// change is how the pressure changes, and the longing for home, if a VM goes from
// one node to another, and another one the other way.
func (a *annealing) change(n, m, vm, other int) int64 {
	d := a.pressureWith(n, vm, other) - a.pressureOn[n] + a.pressureWith(m, other, vm) - a.pressureOn[m]
	d += a.awayPenalty(vm, m) - a.awayPenalty(vm, n)
	if other != repack.Nowhere {
		d += a.awayPenalty(other, n) - a.awayPenalty(other, m)
	}
	return d
}

func (a *annealing) awayPenalty(vm, n int) int64 {
	if n == a.home[vm] || a.home[vm] == repack.Nowhere {
		return 0
	}
	return awayPenalty
}

// swap makes the change, unless a hard rule is against it.
func (a *annealing) swap(n, m, vm, other int) {
	mark, broken := len(a.moves), a.breaches
	if other != repack.Nowhere {
		a.move(other, repack.Nowhere)
	}
	a.move(vm, m)
	if other != repack.Nowhere {
		a.move(other, n)
	}
	if a.breaches > broken {
		a.rollBack(mark)
		return
	}
	for _, x := range [...]int{n, m} {
		before := a.pressureOn[x]
		a.pressureOn[x] = a.pressureWith(x, repack.Nowhere, repack.Nowhere)
		a.pressure += a.pressureOn[x] - before
		if before == 0 && a.pressureOn[x] > 0 {
			a.pressed = append(a.pressed, x)
		}
	}
}
