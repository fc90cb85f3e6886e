package solve

import (
	"math"
	"math/rand/v2"
)

// thresholds are exponentially distributed. A move is accepted if it costs less than the
// temperature times a random one of them (Metropolis).
var thresholds = func() (list [4096]float64) {
	for i := range list {
		list[i] = -math.Log((float64(i) + 0.5) / float64(len(list)))
	}
	return list
}()

// anneal is simulated annealing of a state, with the given nodes on and all others off.
type anneal struct {
	*state
	rng         *rand.PCG
	on          []int // nodes that may have jobs
	off         []int
	temperature float64
	// onBetter is called for each state without overload that costs less than best. May be nil.
	onBetter         func()
	best             float64
	overloadedBefore []int // nodes that were overloaded when the step began
}

// setOn sets the nodes that may have jobs.
func (a *anneal) setOn(on []int) {
	clear(a.paid)
	a.on, a.off = append(a.on[:0], on...), a.off[:0]
	for _, n := range on {
		a.paid[n] = true
	}
	for n := range a.Nodes {
		if !a.paid[n] {
			a.off = append(a.off, n)
		}
	}
}

// intn returns a random number below n.
func (a *anneal) intn(n int) int { return int((a.rng.Uint64() >> 32) * uint64(n) >> 32) }

// moves tries the given number of moves at the current temperature.
func (a *anneal) moves(count int) {
	if len(a.on)+len(a.off) < 2 {
		return
	}
	a.noteOverloaded()
	for range count {
		r := a.rng.Uint64()
		limit := a.temperature * thresholds[r&4095]
		switch kind := r >> 12 & 15; {
		case kind < 4:
			a.shift(limit)
		case kind < 10:
			a.exchange(limit, 0)
		case kind < 15:
			a.exchange(limit, r>>16&3)
		default:
			a.swapNodes(limit)
		}
		if a.overloads == 0 && a.sum < a.best-1e-9 {
			a.best = a.sum
			if a.onBetter != nil {
				a.onBetter()
			}
		}
	}
}

// noteOverloaded lists the overloaded nodes.
func (a *anneal) noteOverloaded() {
	a.overloadedBefore = a.overloadedBefore[:0]
	if a.overloads > 0 {
		for _, n := range a.on {
			if a.overloaded[n] {
				a.overloadedBefore = append(a.overloadedBefore, n)
			}
		}
	}
}

// pickJob returns a random job; one time in four, a job of a node that was overloaded when the
// step began, since few would be picked otherwise.
func (a *anneal) pickJob() int {
	if len(a.overloadedBefore) > 0 && a.rng.Uint64()&3 == 0 {
		if list := a.jobs[a.overloadedBefore[a.intn(len(a.overloadedBefore))]]; len(list) > 0 {
			return list[a.intn(len(list))]
		}
	}
	return a.intn(a.noJob)
}

// shift tries to move a job to another node.
func (a *anneal) shift(limit float64) {
	j, to := a.pickJob(), a.on[a.intn(len(a.on))]
	a.attempt(&exchange{jobs: [2]int{j, a.noJob}, others: [2]int{a.noJob, a.noJob}, from: a.at[j], to: to}, limit)
}

// exchange tries to exchange two jobs; bit 0 of more adds a second job on the one side, bit 1
// on the other.
func (a *anneal) exchange(limit float64, more uint64) {
	i := a.pickJob()
	k := a.partner(i)
	x := exchange{jobs: [2]int{i, a.noJob}, others: [2]int{k, a.noJob}, from: a.at[i], to: a.at[k]}
	if more&1 != 0 {
		x.jobs[1] = a.another(i)
	}
	if more&2 != 0 {
		x.others[1] = a.another(k)
	}
	a.attempt(&x, limit)
}

// partner returns a job to exchange for i: half of the time one that needs nearly as much CPU.
func (a *anneal) partner(i int) int {
	if a.rng.Uint64()&1 == 0 || a.noJob <= 2*rankWindow {
		return a.intn(a.noJob)
	}
	return a.bySize[min(max(a.rank[i]+a.intn(2*rankWindow+1)-rankWindow, 0), a.noJob-1)]
}

// rankWindow is the distance, in the order of CPU needs, within which jobs need nearly as
// much.
const rankWindow = 16

// another returns another job of the same node, or noJob.
func (a *anneal) another(j int) int {
	list := a.jobs[a.at[j]]
	if m := list[a.intn(len(list))]; m != j {
		return m
	}
	return a.noJob
}

func (a *anneal) attempt(x *exchange, limit float64) {
	if x.from != x.to && a.evaluate(x) <= limit && a.allowed(x) {
		a.apply(x)
	}
}

// swapNodes tries to exchange all jobs of two nodes. If the second one is off, it is switched
// on and the first one off.
func (a *anneal) swapNodes(limit float64) {
	i, k := a.intn(len(a.on)), a.intn(len(a.on)+len(a.off))
	h, g := a.on[i], 0
	if k < len(a.on) {
		g = a.on[k]
	} else {
		g = a.off[k-len(a.on)]
	}
	if h == g {
		return
	}
	clear(a.delta)
	delta, here, there, hereO, thereO := a.evaluateSwap(h, g)
	if delta > limit || !a.allAllowed(h, g) || !a.allAllowed(g, h) {
		return
	}
	a.applySwap(h, g, here, there, hereO, thereO)
	if k >= len(a.on) {
		a.on[i], a.off[k-len(a.on)] = g, h
	}
}
