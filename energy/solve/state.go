package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// site is a node as the search sees it at one yield, in CPU needed instead of CPU given.
type site struct {
	idle  float64 // what being on adds, in watts
	slope float64 // watts by need
	limit float64 // the need that it can serve
	over  float64 // price of need beyond that
	curve *energy.Power
	cpu   float64
}

// model is what does not change during a search.
type model struct {
	*energy.Problem
	dims   int
	cpu    []float64 // need by job; one more job that needs nothing stands for none
	need   []float64 // rigid needs, dims for each job
	room   []float64 // rigid capacities, dims for each node
	scarce []float64 // price of each of them beyond the capacity
	grain  []float64 // what is not yet beyond, and for the check neither
	none   int       // the job that needs nothing
	price  float64   // of an overload of a whole node, in watts
	demand float64
	bySize []int   // jobs by CPU need
	rank   []int   // where a job stands in it
	byNeed [][]int // jobs by each rigid need, the largest first
}

func newModel(p *energy.Problem) *model {
	m := &model{Problem: p, dims: len(p.Resources), none: len(p.Jobs), demand: p.Demand()}
	for n := range p.Nodes {
		m.price = max(m.price, 1.25*float64(p.Nodes[n].Power.Full))
	}
	m.price = max(m.price, 1e-3)
	for n := range p.Nodes {
		m.room = append(m.room, p.Nodes[n].Room...)
		for _, v := range p.Nodes[n].Room {
			m.grain = append(m.grain, min(tiny*v, energy.Slack))
			m.scarce = append(m.scarce, m.price/max(v, 1e-6))
		}
	}
	for j := range p.Jobs {
		m.cpu = append(m.cpu, p.Jobs[j].CPU)
		m.need = append(m.need, p.Jobs[j].Need...)
	}
	m.bySize, m.rank = make([]int, m.none), make([]int, m.none)
	for j := range m.bySize {
		m.bySize[j] = j
	}
	slices.SortStableFunc(m.bySize, func(a, b int) int { return cmp.Compare(m.cpu[a], m.cpu[b]) })
	for k, j := range m.bySize {
		m.rank[j] = k
	}
	for d := range m.dims {
		list := slices.Clone(m.bySize)
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(m.need[b*m.dims+d], m.need[a*m.dims+d]) })
		m.byNeed = append(m.byNeed, list)
	}
	m.cpu = append(m.cpu, 0)
	m.need = append(m.need, make([]float64, m.dims)...)
	return m
}

// state is an assignment at a yield, and what it costs there.
type state struct {
	*model
	yield  float64
	sites  []site
	at     []int     // node by job
	load   []float64 // CPU need by node
	used   []float64 // rigid needs, dims for each node
	jobs   [][]int   // by node
	seat   []int     // where in that list a job stands
	cost   []float64 // by node
	sum    float64   // of the costs
	full   int       // how many nodes are overloaded
	heavy  []bool    // which
	delta  []float64 // scratch: rigid needs that a move moves
	graze  float64   // the same for CPU
	fine   float64   // for having too little of a rigid resource at all
	scarce []float64 // price of rigid resources beyond the capacity
	lit    []bool    // nodes that are paid for as if they were on, with jobs or without
	home   []int     // where jobs are already; nil: nowhere, and all places are as good
	leave  []float64 // by job, one more for none: what it costs to be elsewhere
}

// fine and graze are what any lack of a rigid resource, or of CPU, costs at least, in
// overloads of a whole node: the last bit of it would be worth too little else.
const fine, graze = 0.3, 0.02

func newState(m *model) *state {
	h := len(m.Nodes)
	return &state{
		scarce: slices.Clone(m.scarce), fine: fine * m.price, model: m, sites: make([]site, h), at: make([]int, m.none), seat: make([]int, m.none),
		load: make([]float64, h), used: make([]float64, h*m.dims), jobs: make([][]int, h), cost: make([]float64, h), heavy: make([]bool, h), lit: make([]bool, h),
		delta: make([]float64, m.dims),
	}
}

// assign takes an assignment over, as it is at a yield.
func (s *state) assign(at []int, yield float64) {
	copy(s.at, at)
	for n := range s.jobs {
		s.jobs[n] = s.jobs[n][:0]
	}
	for j, n := range s.at {
		s.seat[j] = len(s.jobs[n])
		s.jobs[n] = append(s.jobs[n], j)
	}
	s.rate(yield)
}

// rate changes the yield, and sums everything up afresh.
func (s *state) rate(yield float64) {
	s.yield = yield
	for n := range s.sites {
		node := &s.Nodes[n]
		t := &s.sites[n]
		*t = site{
			idle: float64(node.Power.Idle - node.Power.Standby), slope: yield * float64(node.Power.Full-node.Power.Idle) / node.CPU,
			limit: node.CPU / yield * (1 + 1e-10), over: s.price * yield / node.CPU, cpu: node.CPU,
		}
		if len(node.Power.Measured) > 0 {
			t.curve = &node.Power
		}
	}
	s.sum, s.full = s.strayed(), 0
	clear(s.load)
	clear(s.used)
	for j, n := range s.at {
		s.load[n] += s.cpu[j]
		for d := range s.dims {
			s.used[n*s.dims+d] += s.need[j*s.dims+d]
		}
	}
	clear(s.delta)
	for n := range s.sites {
		var over bool
		s.cost[n], over = s.priced(n, s.load[n], 0)
		s.sum += s.cost[n]
		s.heavy[n] = over
		if over {
			s.full++
		}
	}
}

// tiny is the overload that counts as none, as a share of the capacity.
const tiny = 1e-9

// priced is the cost of a node with so much load, when what s.delta says has come (sign 1)
// or gone (-1) of rigid needs; and whether it is overloaded. A node that is on costs its
// idle power even if it is empty: to close it is not for a move to decide, which would
// hardly ever open one again.
func (s *state) priced(n int, load, sign float64) (cost float64, over bool) {
	if !s.lit[n] {
		return 0, false
	}
	t := &s.sites[n]
	if t.curve == nil {
		cost = t.idle + t.slope*load
	} else {
		cost = t.idle + float64(t.curve.At(s.yield*load/t.cpu)-t.curve.Idle)
	}
	if load > t.limit {
		cost += (load-t.limit)*t.over + s.graze
		over = true
	}
	k := n * s.dims
	for _, v := range s.delta {
		if beyond := s.used[k] + sign*v - s.room[k]; beyond > s.grain[k] {
			cost += beyond*s.scarce[k] + s.fine
			over = true
		}
		k++
	}
	return cost, over
}

// exchange is a move: some jobs of a node change places with some of another.
type exchange struct {
	jobs, others  [2]int // [model.none] stands for none
	from, to      int
	shift         float64 // load that leaves the first
	here, there   float64 // cost of the two nodes afterwards
	hereO, thereO bool    // whether they are overloaded then
	away          float64 // by how much more it costs that jobs are not where they were
}

// weigh fills in what a move costs, and returns by how much the sum grows.
func (s *state) weigh(x *exchange) float64 {
	h, g := x.from, x.to
	x.shift = s.cpu[x.jobs[0]] + s.cpu[x.jobs[1]] - s.cpu[x.others[0]] - s.cpu[x.others[1]]
	s.rigid(x)
	x.here, x.hereO = s.priced(h, s.load[h]-x.shift, -1)
	x.there, x.thereO = s.priced(g, s.load[g]+x.shift, 1)
	if s.home != nil {
		x.away = s.strays(x.jobs[0], h, g) + s.strays(x.jobs[1], h, g) + s.strays(x.others[0], g, h) + s.strays(x.others[1], g, h)
	}
	return x.here + x.there - s.cost[h] - s.cost[g] + x.away
}

// rigid fills in the rigid needs that leave the first node.
func (s *state) rigid(x *exchange) {
	if s.dims == 1 {
		s.delta[0] = s.need[x.jobs[0]] + s.need[x.jobs[1]] - s.need[x.others[0]] - s.need[x.others[1]]
		return
	}
	for d := range s.delta {
		need := s.need[d:]
		s.delta[d] = need[x.jobs[0]*s.dims] + need[x.jobs[1]*s.dims] - need[x.others[0]*s.dims] - need[x.others[1]*s.dims]
	}
}

// allowed asks the rules.
func (s *state) allowed(x *exchange) bool {
	if s.May == nil {
		return true
	}
	for k := range x.jobs {
		if j := x.jobs[k]; j != s.none && !s.May(j, x.to) {
			return false
		}
		if j := x.others[k]; j != s.none && !s.May(j, x.from) {
			return false
		}
	}
	return true
}

// do carries a move out that was weighed.
func (s *state) do(x *exchange) {
	h, g := x.from, x.to
	s.rigid(x) // rules may have looked at something else since
	s.load[h] -= x.shift
	s.load[g] += x.shift
	for d, v := range s.delta {
		s.used[h*s.dims+d] -= v
		s.used[g*s.dims+d] += v
	}
	for k := range x.jobs {
		s.seatIn(x.jobs[k], g)
		s.seatIn(x.others[k], h)
	}
	s.settle(h, x.here, x.hereO)
	s.settle(g, x.there, x.thereO)
	s.sum += x.away
}

// seatIn moves a job from the list of its node to that of another.
func (s *state) seatIn(j, n int) {
	if j == s.none {
		return
	}
	list := s.jobs[s.at[j]]
	last := list[len(list)-1]
	list[s.seat[j]] = last
	s.seat[last] = s.seat[j]
	s.jobs[s.at[j]] = list[:len(list)-1]
	s.seat[j] = len(s.jobs[n])
	s.jobs[n] = append(s.jobs[n], j)
	s.at[j] = n
}

func (s *state) settle(n int, cost float64, over bool) {
	s.sum += cost - s.cost[n]
	s.cost[n] = cost
	if over != s.heavy[n] {
		s.heavy[n] = over
		if over {
			s.full++
		} else {
			s.full--
		}
	}
}

// trade is what two nodes cost if they change all their jobs; if one of them is off, that
// changes too.
func (s *state) trade(h, g int) (delta, here, there float64, hereO, thereO bool) {
	s.swapUsed(h, g)
	here, hereO = s.priced(h, s.load[g], 0)
	there, thereO = s.priced(g, s.load[h], 0)
	s.swapUsed(h, g)
	return here + there - s.cost[h] - s.cost[g] + s.tradeAway(h, g), here, there, hereO, thereO
}

func (s *state) swapUsed(h, g int) {
	s.lit[h], s.lit[g] = s.lit[g], s.lit[h]
	for d := range s.dims {
		a, b := &s.used[h*s.dims+d], &s.used[g*s.dims+d]
		*a, *b = *b, *a
	}
}

// swap changes all the jobs of two nodes.
func (s *state) swap(h, g int, here, there float64, hereO, thereO bool) {
	s.sum += s.tradeAway(h, g)
	s.swapUsed(h, g)
	s.load[h], s.load[g] = s.load[g], s.load[h]
	s.jobs[h], s.jobs[g] = s.jobs[g], s.jobs[h]
	for _, j := range s.jobs[h] {
		s.at[j] = h
	}
	for _, j := range s.jobs[g] {
		s.at[j] = g
	}
	s.settle(h, here, hereO)
	s.settle(g, there, thereO)
}

// welcome reports whether the rules let all jobs of one node be on another.
func (s *state) welcome(from, to int) bool {
	if s.May == nil {
		return true
	}
	for _, j := range s.jobs[from] {
		if !s.May(j, to) {
			return false
		}
	}
	return true
}
