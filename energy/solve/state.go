package solve

import (
	"cmp"
	"slices"

	"vjob/energy"
)

// nodeTerm has the coefficients of the cost of a node at one yield, by CPU needed instead of
// CPU given.
type nodeTerm struct {
	idle      float64 // watts for being on
	slope     float64 // watts by unit of need
	limit     float64 // capacity, as need
	overPrice float64 // penalty by unit of need beyond
	curve     *energy.Power
	cpu       float64
}

// model is the constant part of a search.
type model struct {
	*energy.Problem
	dims       int
	cpu        []float64 // need by job, with noJob at the end
	need       []float64 // rigid needs, dims for each job
	room       []float64 // rigid capacities, dims for each node
	rigidPrice []float64 // penalty of each beyond the capacity
	rounding   []float64 // tolerance of each
	noJob      int       // a dummy job that needs nothing; its index is the number of jobs
	price      float64   // penalty of the overload of a whole node, in watts
	demand     float64
	bySize     []int   // jobs by CPU need
	rank       []int   // the index of a job in bySize
	byNeed     [][]int // jobs by each rigid need, the largest first
}

func newModel(p *energy.Problem) *model {
	m := &model{Problem: p, dims: len(p.Resources), noJob: len(p.Jobs), demand: p.Demand()}
	for n := range p.Nodes {
		m.price = max(m.price, 1.25*float64(p.Nodes[n].Power.Full))
	}
	m.price = max(m.price, 1e-3)
	for n := range p.Nodes {
		m.room = append(m.room, p.Nodes[n].Capacity...)
		for _, v := range p.Nodes[n].Capacity {
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

// state is an assignment at a yield, and its cost.
type state struct {
	*model
	yield        float64
	terms        []nodeTerm
	at           []int     // node by job
	load         []float64 // CPU need by node
	used         []float64 // rigid needs, dims for each node
	jobs         [][]int   // by node
	index        []int     // of a job in the list of its node
	cost         []float64 // by node
	sum          float64   // of all costs
	overloads    int       // number of overloaded nodes
	overloaded   []bool    // which
	delta        []float64 // scratch: rigid needs that a move transfers
	cpuPenalty   float64   // minimum penalty of a CPU overload
	rigidPenalty float64   // minimum penalty of an overload of a rigid resource
	rigidPrice   []float64 // penalty of rigid needs beyond the capacity
	paid         []bool    // nodes that draw idle power, with or without jobs
	initial      []int     // the node of each job at the start; nil: moves are free
	moveCost     []float64 // of each job and noJob, for leaving its initial node
}

// minRigidPenalty and minCPUPenalty are the least penalties of an overload, as a fraction of
// that of a whole node. Without them the search would ignore small overloads.
const minRigidPenalty, minCPUPenalty = 0.3, 0.02

func newState(m *model) *state {
	h := len(m.Nodes)
	return &state{
		rigidPrice: slices.Clone(m.rigidPrice), rigidPenalty: minRigidPenalty * m.price, model: m, terms: make([]nodeTerm, h), at: make([]int, m.noJob), index: make([]int, m.noJob),
		load: make([]float64, h), used: make([]float64, h*m.dims), jobs: make([][]int, h), cost: make([]float64, h), overloaded: make([]bool, h), paid: make([]bool, h),
		delta: make([]float64, m.dims),
	}
}

// assign sets the assignment and the yield.
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

// setYield sets the yield and recomputes all sums.
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

// tiny is the overload that is tolerated, as a share of the capacity.
const tiny = 1e-9

// nodeCost returns the cost of a node with the given load, after the rigid needs in s.delta
// were added (sign 1) or removed (-1), and whether it is overloaded. A node that is on costs
// its idle power even if it is empty: if moves paid for opening a node, annealing would hardly
// ever open one.
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

// exchange is a move: up to two jobs of a node change places with up to two of another.
type exchange struct {
	jobs, others     [2]int // [model.noJob] for fewer
	from, to         int
	shift            float64 // load that leaves from
	fromCost, toCost float64 // cost of the two nodes after the move
	fromOver, toOver bool    // whether they are overloaded after the move
	moveDelta        float64 // change of the move costs
}

// evaluate fills in the costs after a move, and returns by how much the sum changes.
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

// rigidDelta sets s.delta to the rigid needs that leave the first node.
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

// allowed reports whether the rules allow a move.
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

// apply carries out a move that was evaluated.
func (s *state) apply(x *exchange) {
	h, g := x.from, x.to
	s.rigidDelta(x) // another move may have been evaluated since
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

// evaluateSwap returns the costs of two nodes if they exchange all their jobs. If one of them
// is off, the other one is afterwards.
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

// applySwap exchanges all jobs of two nodes.
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

// allAllowed reports whether the rules allow all jobs of one node on another.
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
