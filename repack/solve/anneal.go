package solve

import (
	"math"

	"vjob/repack"
)

// press places everybody, whether there is room or not, and then lets VMs move and
// change places by simulated annealing until no node has too many. It is for
// packings so tight that no single VM fits anywhere. False: it came to nothing, and
// nothing has changed.
func (s *search) press(stop func() bool) bool {
	s.note()
	s.noise = s.rng
	for _, vm := range s.homeless() {
		if near := s.tightest(vm); len(near) > 0 {
			s.move(vm, near[0])
		}
	}
	s.noise = nil
	if s.nowhere > 0 || s.breaches > 0 {
		s.undo()
		return false
	}
	a := newAnnealing(s)
	a.run(stop)
	if a.pressure > 0 {
		s.undo()
		return false
	}
	s.noted = false
	s.refresh(s.touched()...)
	return true
}

// annealing is the search for a placement without pressure: the sum over all nodes
// of what is too much there, in millionths of an average node.
type annealing struct {
	*search
	on       []int64 // pressure on each node
	pressure int64
	heat     float64
	full     []int // nodes under pressure, and some that were
}

// How long to anneal, how hot it is at first and at last, and what being away from
// home is worth, in millionths of an average node.
const (
	stepsPerVM = 200
	mostSteps  = 400_000
	hottest    = 40_000.0
	coldest    = 300.0
	homesick   = 2_000
	mates      = 12 // nodes that are looked at for one VM
)

func newAnnealing(s *search) *annealing {
	a := &annealing{search: s, on: make([]int64, len(s.in.Nodes))}
	for _, n := range s.order {
		a.on[n] = a.weigh(n, repack.Nowhere, repack.Nowhere)
		a.pressure += a.on[n]
		if a.on[n] > 0 {
			a.full = append(a.full, n)
		}
	}
	return a
}

// weigh is the pressure on a node if one VM goes from it and another comes.
func (a *annealing) weigh(n int, goes, comes int) (sum int64) {
	for d := range a.dims {
		load := a.load[n*a.dims+d]
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
	steps := min(mostSteps, stepsPerVM*len(a.hot))
	cooling := math.Pow(coldest/hottest, 1/float64(steps))
	a.heat = hottest
	for i := 0; i < steps && a.pressure > 0; i++ {
		if i%1024 == 0 && stop() {
			return
		}
		a.step()
		a.heat *= cooling
	}
}

// step tries to take one VM from a node under pressure, or to swap it.
func (a *annealing) step() {
	n, ok := a.pick()
	if !ok || len(a.here[n]) == 0 {
		return
	}
	vm := a.here[n][a.rng.IntN(len(a.here[n]))]
	if a.rooted[vm] && a.staysAt(vm, n) {
		return
	}
	best, with, least := repack.Nowhere, repack.Nowhere, int64(math.MaxInt64)
	for k := range mates {
		m := a.order[a.rng.IntN(len(a.order))]
		if k == 0 && a.home[vm] != repack.Nowhere {
			m = a.home[vm]
		}
		if m == n || !a.mayEnd(vm, m) {
			continue
		}
		if d := a.change(n, m, vm, repack.Nowhere); d < least {
			best, with, least = m, repack.Nowhere, d
		}
		for _, other := range a.here[m] {
			if d := a.change(n, m, vm, other); d < least && a.mayEnd(other, n) && (!a.rooted[other] || !a.staysAt(other, m)) {
				best, with, least = m, other, d
			}
		}
	}
	if best == repack.Nowhere || least > 0 && a.rng.Float64() >= math.Exp(-float64(least)/a.heat) {
		return
	}
	a.swap(n, best, vm, with)
}

// pick is a node under pressure.
func (a *annealing) pick() (int, bool) {
	for len(a.full) > 0 {
		i := a.rng.IntN(len(a.full))
		if n := a.full[i]; a.on[n] > 0 {
			return n, true
		}
		a.full[i] = a.full[len(a.full)-1]
		a.full = a.full[:len(a.full)-1]
	}
	return 0, false
}

// change is how the pressure changes, and the longing for home, if a VM goes from
// one node to another, and another one the other way.
func (a *annealing) change(n, m, vm, other int) int64 {
	d := a.weigh(n, vm, other) - a.on[n] + a.weigh(m, other, vm) - a.on[m]
	d += a.longing(vm, m) - a.longing(vm, n)
	if other != repack.Nowhere {
		d += a.longing(other, n) - a.longing(other, m)
	}
	return d
}

func (a *annealing) longing(vm, n int) int64 {
	if n == a.home[vm] || a.home[vm] == repack.Nowhere {
		return 0
	}
	return homesick
}

// swap makes the change, unless a hard rule is against it.
func (a *annealing) swap(n, m, vm, other int) {
	mark, broken := len(a.trail), a.breaches
	if other != repack.Nowhere {
		a.move(other, repack.Nowhere)
	}
	a.move(vm, m)
	if other != repack.Nowhere {
		a.move(other, n)
	}
	if a.breaches > broken {
		a.back(mark)
		return
	}
	for _, x := range [...]int{n, m} {
		before := a.on[x]
		a.on[x] = a.weigh(x, repack.Nowhere, repack.Nowhere)
		a.pressure += a.on[x] - before
		if before == 0 && a.on[x] > 0 {
			a.full = append(a.full, x)
		}
	}
}
