package solve

import "vjob/energy"

// balance raises the yield of an assignment without overload of rigid resources. While the
// fullest node limits the yield, and not the budget, one of its jobs moves or is exchanged for
// a smaller one, such that the fuller of the two nodes is less full than before. Annealing
// takes long to relieve the last few nodes.
func (r *annealing) balance() {
	if !r.rigidFits() {
		return
	}
	for k := range maxExchanges {
		n, ratio := r.fullest()
		if ratio <= 1 || r.budgetLimits(1/ratio) || k%exchangesPerStep == exchangesPerStep-1 && r.over() {
			return
		}
		x, ok := r.bestExchange(n, ratio)
		if !ok {
			return
		}
		r.evaluate(&x)
		r.apply(&x)
	}
}

// The limit of exchanges, and how many take as long as a step.
const (
	maxExchanges     = 4096
	exchangesPerStep = 4
)

// rigidFits reports whether all rigid needs are met.
func (r *annealing) rigidFits() bool {
	for k := range r.used {
		if r.used[k] > r.room[k]+r.rounding[k] {
			return false
		}
	}
	return true
}

// fullest returns the node with the largest ratio of need to capacity, and the ratio.
func (r *annealing) fullest() (node int, ratio float64) {
	for _, n := range r.on {
		if q := r.load[n] / r.terms[n].cpu; q > ratio {
			node, ratio = n, q
		}
	}
	return node, ratio
}

// budgetLimits reports whether the budget does not cover more than a yield.
func (r *annealing) budgetLimits(yield float64) bool {
	if r.Objective != energy.BoundedPower {
		return false
	}
	idle, watts := float64(r.Standby()), 0.0
	for _, n := range r.on {
		if len(r.jobs[n]) > 0 {
			idle += r.terms[n].idle
			watts += r.terms[n].slope / r.yield * r.load[n]
		}
	}
	return idle+yield*watts >= float64(r.Budget)
}

// bestExchange returns the exchange that leaves the fuller of two nodes the least full.
func (r *annealing) bestExchange(n int, ratio float64) (best exchange, ok bool) {
	least := ratio * (1 - tiny)
	try := func(i, k, g int) {
		here := (r.load[n] - r.cpu[i] + r.cpu[k]) / r.terms[n].cpu
		there := (r.load[g] + r.cpu[i] - r.cpu[k]) / r.terms[g].cpu
		if q := max(here, there); g != n && q < least {
			x := exchange{jobs: [2]int{i, r.noJob}, others: [2]int{k, r.noJob}, from: n, to: g}
			if r.rigidFitsAfter(i, k, n, g) && r.allowed(&x) {
				best, least, ok = x, q, true
			}
		}
	}
	for _, i := range r.jobs[n] {
		for _, g := range r.on {
			try(i, r.noJob, g)
		}
		for _, k := range r.bySize[:r.rank[i]] {
			try(i, k, r.at[k])
		}
	}
	return best, ok
}

// rigidFitsAfter reports whether rigid resources suffice if two jobs change places.
func (r *annealing) rigidFitsAfter(i, k, n, g int) bool {
	for d := range r.dims {
		more := r.need[i*r.dims+d] - r.need[k*r.dims+d]
		a, b := n*r.dims+d, g*r.dims+d
		if r.used[a]-more > r.room[a]+r.rounding[a] || r.used[b]+more > r.room[b]+r.rounding[b] {
			return false
		}
	}
	return true
}
