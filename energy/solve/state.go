package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// nodeTerm is a node as the search sees it at one yield, in CPU needed instead of CPU given.
type nodeTerm struct {
	idle      float64 // what being on adds, in watts
	slope     float64 // watts by need
	limit     float64 // the need that it can serve
	overPrice float64 // price of need beyond that
	curve     *energy.Power
	cpu       float64
}

// model is what does not change during a search.
type model struct {
	*energy.Problem
	dims       int
	cpu        []float64 // need by job; one more job that needs nothing stands for none
	need       []float64 // rigid needs, dims for each job
	room       []float64 // rigid capacities, dims for each node
	rigidPrice []float64 // price of each of them beyond the capacity
	rounding   []float64 // what is not yet beyond, and for the check neither
	noJob      int       // the job that needs nothing
	price      float64   // of an overload of a whole node, in watts
	demand     float64
	bySize     []int   // jobs by CPU need
	rank       []int   // where a job stands in it
	byNeed     [][]int // jobs by each rigid need, the largest first
}

func newModel(p *energy.Problem) *model {
	m := &model{Problem: p, dims: len(p.Resources), noJob: len(p.Jobs), demand: p.Demand()}
	for n := range p.Nodes {
		m.price = max(m.price, 1.25*float64(p.Nodes[n].Power.Full))
	}
	m.price = max(m.price, 1e-3)
	for n := range p.Nodes {
		m.room = append(m.room, p.Nodes[n].Room...)
		for _, v := range p.Nodes[n].Room {
			m.rounding = append(m.rounding, min(tiny*v, energy.Slack))
			m.rigidPrice = append(m.rigidPrice, m.price/max(v, 1e-6))
		}
	}
	for j := range p.Jobs {
		m.cpu = append(m.cpu, p.Jobs[j].CPU)
		m.need = append(m.need, p.Jobs[j].Need...)
	}
	m.bySize, m.rank = make([]int, m.noJob), make([]int, m.noJob)
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
	yield        float64
	terms        []nodeTerm
	at           []int     // node by job
	load         []float64 // CPU need by node
	used         []float64 // rigid needs, dims for each node
	jobs         [][]int   // by node
	index        []int     // where in that list a job stands
	cost         []float64 // by node
	sum          float64   // of the costs
	overloads    int       // how many nodes are overloaded
	overloaded   []bool    // which
	delta        []float64 // scratch: rigid needs that a move moves
	cpuPenalty   float64   // the same for CPU
	rigidPenalty float64   // for having too little of a rigid resource at all
	rigidPrice   []float64 // price of rigid resources beyond the capacity
	paid         []bool    // nodes that are paid for as if they were on, with jobs or without
	initial      []int     // where jobs are already; nil: nowhere, and all places are as good
	moveCost     []float64 // by job, one more for none: what it costs to be elsewhere
}

// minRigidPenalty and graze are what any lack of a rigid resource, or of CPU, costs at least, in
// overloads of a whole node: the last bit of it would be worth too little else.
const minRigidPenalty, minCPUPenalty = 0.3, 0.02

func newState(m *model) *state {
	h := len(m.Nodes)
	return &state{
		rigidPrice: slices.Clone(m.rigidPrice), rigidPenalty: minRigidPenalty * m.price, model: m, terms: make([]nodeTerm, h), at: make([]int, m.noJob), index: make([]int, m.noJob),
		load: make([]float64, h), used: make([]float64, h*m.dims), jobs: make([][]int, h), cost: make([]float64, h), overloaded: make([]bool, h), paid: make([]bool, h),
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
		s.index[j] = len(s.jobs[n])
		s.jobs[n] = append(s.jobs[n], j)
	}
	s.setYield(yield)
}

// setYield changes the yield, and sums everything up afresh.
func (s *state) setYield(yield float64) {
	s.yield = yield
	for n := range s.terms {
		node := &s.Nodes[n]
		t := &s.terms[n]
		*t = nodeTerm{
			idle: float64(node.Power.Idle - node.Power.Standby), slope: yield * float64(node.Power.Full-node.Power.Idle) / node.CPU,
			limit: node.CPU / yield * (1 + 1e-10), overPrice: s.price * yield / node.CPU, cpu: node.CPU,
		}
		if len(node.Power.Measured) > 0 {
			t.curve = &node.Power
		}
	}
	s.sum, s.overloads = s.moveCosts(), 0
	clear(s.load)
	clear(s.used)
	for j, n := range s.at {
		s.load[n] += s.cpu[j]
		for d := range s.dims {
			s.used[n*s.dims+d] += s.need[j*s.dims+d]
		}
	}
	clear(s.delta)
	for n := range s.terms {
		var over bool
		s.cost[n], over = s.nodeCost(n, s.load[n], 0)
		s.sum += s.cost[n]
		s.overloaded[n] = over
		if over {
			s.overloads++
		}
	}
}

// tiny is the overload that counts as none, as a share of the capacity.
const tiny = 1e-9

// nodeCost is the cost of a node with so much load, when what s.delta says has come (sign 1)
// or gone (-1) of rigid needs; and whether it is overloaded. A node that is on costs its
// idle power even if it is empty: to close it is not for a move to decide, which would
// hardly ever open one again.
func (s *state) nodeCost(n int, load, sign float64) (cost float64, over bool) {
	if !s.paid[n] {
		return 0, false
	}
	t := &s.terms[n]
	if t.curve == nil {
		cost = t.idle + t.slope*load
	} else {
		cost = t.idle + float64(t.curve.At(s.yield*load/t.cpu)-t.curve.Idle)
	}
	if load > t.limit {
		cost += (load-t.limit)*t.overPrice + s.cpuPenalty
		over = true
	}
	k := n * s.dims
	for _, v := range s.delta {
		if beyond := s.used[k] + sign*v - s.room[k]; beyond > s.rounding[k] {
			cost += beyond*s.rigidPrice[k] + s.rigidPenalty
			over = true
		}
		k++
	}
	return cost, over
}

// exchange is a move: some jobs of a node change places with some of another.
type exchange struct {
	jobs, others     [2]int // [model.noJob] stands for none
	from, to         int
	shift            float64 // load that leaves the first
	fromCost, toCost float64 // cost of the two nodes afterwards
	fromOver, toOver bool    // whether they are overloaded then
	moveDelta        float64 // by how much more it costs that jobs are not where they were
}

// evaluate fills in what a move costs, and returns by how much the sum grows.
func (s *state) evaluate(x *exchange) float64 {
	h, g := x.from, x.to
	x.shift = s.cpu[x.jobs[0]] + s.cpu[x.jobs[1]] - s.cpu[x.others[0]] - s.cpu[x.others[1]]
	s.rigidDelta(x)
	x.fromCost, x.fromOver = s.nodeCost(h, s.load[h]-x.shift, -1)
	x.toCost, x.toOver = s.nodeCost(g, s.load[g]+x.shift, 1)
	if s.initial != nil {
		x.moveDelta = s.moveDelta(x.jobs[0], h, g) + s.moveDelta(x.jobs[1], h, g) + s.moveDelta(x.others[0], g, h) + s.moveDelta(x.others[1], g, h)
	}
	return x.fromCost + x.toCost - s.cost[h] - s.cost[g] + x.moveDelta
}

// rigidDelta fills in the rigid needs that leave the first node.
func (s *state) rigidDelta(x *exchange) {
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
		if j := x.jobs[k]; j != s.noJob && !s.May(j, x.to) {
			return false
		}
		if j := x.others[k]; j != s.noJob && !s.May(j, x.from) {
			return false
		}
	}
	return true
}

// apply carries a move out that was weighed.
func (s *state) apply(x *exchange) {
	h, g := x.from, x.to
	s.rigidDelta(x) // rules may have looked at something else since
	s.load[h] -= x.shift
	s.load[g] += x.shift
	for d, v := range s.delta {
		s.used[h*s.dims+d] -= v
		s.used[g*s.dims+d] += v
	}
	for k := range x.jobs {
		s.relocate(x.jobs[k], g)
		s.relocate(x.others[k], h)
	}
	s.updateCost(h, x.fromCost, x.fromOver)
	s.updateCost(g, x.toCost, x.toOver)
	s.sum += x.moveDelta
}

// relocate moves a job from the list of its node to that of another.
func (s *state) relocate(j, n int) {
	if j == s.noJob {
		return
	}
	list := s.jobs[s.at[j]]
	last := list[len(list)-1]
	list[s.index[j]] = last
	s.index[last] = s.index[j]
	s.jobs[s.at[j]] = list[:len(list)-1]
	s.index[j] = len(s.jobs[n])
	s.jobs[n] = append(s.jobs[n], j)
	s.at[j] = n
}

func (s *state) updateCost(n int, cost float64, over bool) {
	s.sum += cost - s.cost[n]
	s.cost[n] = cost
	if over != s.overloaded[n] {
		s.overloaded[n] = over
		if over {
			s.overloads++
		} else {
			s.overloads--
		}
	}
}

// evaluateSwap is what two nodes cost if they change all their jobs; if one of them is off, that
// changes too.
func (s *state) evaluateSwap(h, g int) (delta, here, there float64, hereO, thereO bool) {
	s.swapUsed(h, g)
	here, hereO = s.nodeCost(h, s.load[g], 0)
	there, thereO = s.nodeCost(g, s.load[h], 0)
	s.swapUsed(h, g)
	return here + there - s.cost[h] - s.cost[g] + s.swapMoveDelta(h, g), here, there, hereO, thereO
}

func (s *state) swapUsed(h, g int) {
	s.paid[h], s.paid[g] = s.paid[g], s.paid[h]
	for d := range s.dims {
		a, b := &s.used[h*s.dims+d], &s.used[g*s.dims+d]
		*a, *b = *b, *a
	}
}

// applySwap changes all the jobs of two nodes.
func (s *state) applySwap(h, g int, here, there float64, hereO, thereO bool) {
	s.sum += s.swapMoveDelta(h, g)
	s.swapUsed(h, g)
	s.load[h], s.load[g] = s.load[g], s.load[h]
	s.jobs[h], s.jobs[g] = s.jobs[g], s.jobs[h]
	for _, j := range s.jobs[h] {
		s.at[j] = h
	}
	for _, j := range s.jobs[g] {
		s.at[j] = g
	}
	s.updateCost(h, here, hereO)
	s.updateCost(g, there, thereO)
}

// allAllowed reports whether the rules let all jobs of one node be on another.
func (s *state) allAllowed(from, to int) bool {
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
