package solve

import (
	"math"

	"vjob/repack"
)

// anneal places all VMs, whether there is room or not, and then moves and swaps VMs by
// simulated annealing until no node is overloaded. It is for packings so tight that no single
// VM fits anywhere. If it fails, nothing has changed.
func (s *search) anneal(stop func() bool) bool {
	s.Record()
	s.Noise = s.rng
	for _, vm := range s.unplacedVMs() {
		if near := s.closestNodes(vm); len(near) > 0 {
			s.Move(vm, near[0])
		}
	}
	s.Noise = nil
	if s.Unplaced > 0 || s.Breaches > 0 {
		s.Undo()
		return false
	}
	a := newAnnealing(s)
	a.run(stop)
	if a.pressure > 0 {
		s.Undo()
		return false
	}
	s.Recording = false
	s.RefreshDelays(s.TouchedNodes()...)
	return true
}

// annealing searches for a placement without pressure: the overload of all nodes, in
// millionths of an average node.
type annealing struct {
	*search
	pressureOn  []int64
	pressure    int64
	temperature float64
	pressed     []int // nodes with pressure, and some without
}

// How long to anneal, the first and last temperature, and the penalty of being away from home,
// in millionths of an average node.
const (
	stepsPerVM         = 200
	maxSteps           = 400_000
	initialTemperature = 40_000.0
	finalTemperature   = 300.0
	awayPenalty        = 2_000
	candidatesPerStep  = 12 // nodes that are tried for one VM
)

func newAnnealing(s *search) *annealing {
	a := &annealing{search: s, pressureOn: make([]int64, len(s.In.Nodes))}
	for _, n := range s.OpenNodes {
		a.pressureOn[n] = a.pressureWith(n, repack.Nowhere, repack.Nowhere)
		a.pressure += a.pressureOn[n]
		if a.pressureOn[n] > 0 {
			a.pressed = append(a.pressed, n)
		}
	}
	return a
}

// pressureWith returns the pressure on a node if one VM leaves and another comes.
func (a *annealing) pressureWith(n int, goes, comes int) (sum int64) {
	for d := range a.Dims {
		load := a.EndLoad[n*a.Dims+d]
		if goes != repack.Nowhere {
			load -= a.Next[goes*a.Dims+d]
		}
		if comes != repack.Nowhere {
			load += a.Next[comes*a.Dims+d]
		}
		if over := load - a.Room[n*a.Dims+d]; over > 0 && a.Average[d] > 0 {
			sum += over * 1_000_000 / a.Average[d]
		}
	}
	return sum
}

func (a *annealing) run(stop func() bool) {
	steps := min(maxSteps, stepsPerVM*len(a.Wanted))
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

// step tries to move a VM from a node with pressure, or to swap it.
func (a *annealing) step() {
	n, ok := a.pressedNode()
	if !ok || len(a.VMsOn.At(n)) == 0 {
		return
	}
	vm := a.VMsOn.At(n)[a.rng.IntN(len(a.VMsOn.At(n)))]
	if a.Rooted[vm] && a.StaysAt(vm, n) {
		return
	}
	best, with, least := repack.Nowhere, repack.Nowhere, int64(math.MaxInt64)
	for k := range candidatesPerStep {
		m := a.OpenNodes[a.rng.IntN(len(a.OpenNodes))]
		if k == 0 && a.Home[vm] != repack.Nowhere {
			m = a.Home[vm]
		}
		if m == n || !a.MayEnd(vm, m) {
			continue
		}
		if d := a.change(n, m, vm, repack.Nowhere); d < least {
			best, with, least = m, repack.Nowhere, d
		}
		for _, other := range a.VMsOn.At(m) {
			if d := a.change(n, m, vm, other); d < least && a.MayEnd(other, n) && (!a.Rooted[other] || !a.StaysAt(other, m)) {
				best, with, least = m, other, d
			}
		}
	}
	if best == repack.Nowhere || least > 0 && a.rng.Float64() >= math.Exp(-float64(least)/a.temperature) {
		return
	}
	a.swap(n, best, vm, with)
}

// pressedNode returns a random node with pressure.
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

// change returns how pressure and penalties change if a VM goes from one node to another, and
// another VM the other way.
func (a *annealing) change(n, m, vm, other int) int64 {
	d := a.pressureWith(n, vm, other) - a.pressureOn[n] + a.pressureWith(m, other, vm) - a.pressureOn[m]
	d += a.awayPenalty(vm, m) - a.awayPenalty(vm, n)
	if other != repack.Nowhere {
		d += a.awayPenalty(other, n) - a.awayPenalty(other, m)
	}
	return d
}

func (a *annealing) awayPenalty(vm, n int) int64 {
	if n == a.Home[vm] || a.Home[vm] == repack.Nowhere {
		return 0
	}
	return awayPenalty
}

// swap makes the change, unless it breaks a hard rule.
func (a *annealing) swap(n, m, vm, other int) {
	mark, broken := len(a.Moves), a.Breaches
	if other != repack.Nowhere {
		a.Move(other, repack.Nowhere)
	}
	a.Move(vm, m)
	if other != repack.Nowhere {
		a.Move(other, n)
	}
	if a.Breaches > broken {
		a.RollBack(mark)
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
