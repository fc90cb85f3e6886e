package solve

import "vjob/energy"

// level raises the yield of an assignment that overloads no rigid resource: as long as it
// is a node that keeps the yield down, and not the budget, a job of that node goes
// elsewhere or changes places with a smaller one, so that both nodes are better off than
// it was. Annealing takes long to come by the last few nodes that are too full.
func (r *run) level() {
	if !r.housed() {
		return
	}
	for k := range levelMost {
		n, ratio := r.fullest()
		if ratio <= 1 || r.limited(1/ratio) || k%levelStep == levelStep-1 && r.over() {
			return
		}
		x, ok := r.relief(n, ratio)
		if !ok {
			return
		}
		r.weigh(&x)
		r.do(&x)
	}
}

// So many exchanges are made at most, and so many take as long as a step.
const (
	levelMost = 4096
	levelStep = 4
)

// housed reports whether all rigid needs are met.
func (r *run) housed() bool {
	for k := range r.used {
		if r.used[k] > r.room[k]+r.grain[k] {
			return false
		}
	}
	return true
}

// fullest is the node with the most need for its capacity, and how much that is.
func (r *run) fullest() (node int, ratio float64) {
	for _, n := range r.on {
		if q := r.load[n] / r.sites[n].cpu; q > ratio {
			node, ratio = n, q
		}
	}
	return node, ratio
}

// limited reports whether more than a yield is no use: the budget does not pay for it.
func (r *run) limited(yield float64) bool {
	if r.Objective != energy.BoundedPower {
		return false
	}
	idle, watts := float64(r.Standby()), 0.0
	for _, n := range r.on {
		if len(r.jobs[n]) > 0 {
			idle += r.sites[n].idle
			watts += r.sites[n].slope / r.yield * r.load[n]
		}
	}
	return idle+yield*watts >= float64(r.Budget)
}

// relief is the exchange that leaves the fuller one of two nodes the least full.
func (r *run) relief(n int, ratio float64) (best exchange, ok bool) {
	least := ratio * (1 - tiny)
	try := func(i, k, g int) {
		here := (r.load[n] - r.cpu[i] + r.cpu[k]) / r.sites[n].cpu
		there := (r.load[g] + r.cpu[i] - r.cpu[k]) / r.sites[g].cpu
		if q := max(here, there); g != n && q < least {
			x := exchange{jobs: [2]int{i, r.none}, others: [2]int{k, r.none}, from: n, to: g}
			if r.holds(i, k, n, g) && r.allowed(&x) {
				best, least, ok = x, q, true
			}
		}
	}
	for _, i := range r.jobs[n] {
		for _, g := range r.on {
			try(i, r.none, g)
		}
		for _, k := range r.bySize[:r.rank[i]] {
			try(i, k, r.at[k])
		}
	}
	return best, ok
}

// holds reports whether two nodes have the rigid resources for two jobs that change
// places.
func (r *run) holds(i, k, n, g int) bool {
	for d := range r.dims {
		more := r.need[i*r.dims+d] - r.need[k*r.dims+d]
		a, b := n*r.dims+d, g*r.dims+d
		if r.used[a]-more > r.room[a]+r.grain[a] || r.used[b]+more > r.room[b]+r.grain[b] {
			return false
		}
	}
	return true
}
