package solve

import (
	"math"
	"math/rand/v2"
)

// thresholds has exponentially distributed numbers: a move that costs less than the
// temperature times one of them, drawn by chance, is taken (Metropolis).
var thresholds = func() (list [4096]float64) {
	for i := range list {
		list[i] = -math.Log((float64(i) + 0.5) / float64(len(list)))
	}
	return list
}()

// anneal cools a state down: with few nodes that are to be on, and all others off.
type anneal struct {
	*state
	rng         *rand.PCG
	on          []int // nodes that may have jobs
	off         []int
	temperature float64
	// onBetter is told of each state without overload that costs less than all before, if
	// it is not nil.
	onBetter         func()
	best             float64
	overloadedBefore []int // nodes that were overloaded when the step began
}

// setOn makes these nodes the ones that may have jobs.
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

// intn is a number below n.
func (a *anneal) intn(n int) int { return int((a.rng.Uint64() >> 32) * uint64(n) >> 32) }

// moves makes so many attempts at one temperature.
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

// noteOverloaded notes which nodes are overloaded.
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

// pickJob is a job to move: now and then one of a node that is, or was, overloaded. When few
// are left, nobody would come by them otherwise.
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

// exchange tries to have two jobs change places; or with bit 0 set two for one, with bit
// 1 one for two.
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

// partner is a job to change places with: half of the time one that needs nearly as much
// CPU, which upsets least.
func (a *anneal) partner(i int) int {
	if a.rng.Uint64()&1 == 0 || a.noJob <= 2*rankWindow {
		return a.intn(a.noJob)
	}
	return a.bySize[min(max(a.rank[i]+a.intn(2*rankWindow+1)-rankWindow, 0), a.noJob-1)]
}

// rankWindow is how far apart in the order of their CPU needs jobs are nearly equal.
const rankWindow = 16

// another is another job of the same node, or none.
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

// swapNodes tries to have two nodes change all their jobs; the second may be one that
// is off, which is on then instead of the first.
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
