package balance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Round is what a round of balancing does.
type Round struct {
	Before, After Imbalance
	Weights       [kinds]float64 // of the resources in both
	Loads         []Load         // of the nodes
	Moves         []Move         // in order
	Stranded      []Refusal      // VMs that could not leave nodes that are being emptied
	Held          []Held         // loaded nodes that stay so, and why
	Why           string         // why the round ended
}

// Imbalance is how unequal the loads of the nodes are.
type Imbalance struct {
	Total float64 // I_c, by the weights of the round
	// Of is the standard deviation of the loads by resource, Variation the same over their mean: the coefficient of
	// variation. Peak is the largest load.
	Of, Variation, Peak [kinds]float64
}

// Load is the load of a node, N_h, before and after the round.
type Load struct{ Before, After [kinds]float64 }

// Move is one migration, or those of a group.
type Move struct {
	VMs           []int
	From, To      int
	Gain          float64 // by how much the imbalance falls
	Benefit, Cost Effort
	Worth         float64       // benefit less cost, in seconds of an average node
	Takes         time.Duration // of the migration
	Reason        string
	After         []int // moves that have to end before, by index: they make room (§3.1.6)
	Set           int   // moves with the same number, from 1, gain only together; 0 is a single move
}

// Round returns the moves that balance a cluster. It fails with a [cluster.FieldError] for wrong settings or input.
// It calls c.Moved for each move.
func (s *Settings) Round(c *Cluster) (*Round, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	st := newState(s, c)
	r := &Round{Before: st.measure(), Weights: st.weight, Loads: make([]Load, len(c.Nodes))}
	for i := range r.Loads {
		r.Loads[i].Before = st.loads(i)
	}
	st.evacuate(r)
	st.improve(r)
	r.After = st.measure()
	for i := range r.Loads {
		r.Loads[i].After = st.loads(i)
	}
	st.depend(r)
	st.explain(r)
	return r, nil
}

// improve is the loop of Algorithm 1.
func (st *state) improve(r *Round) {
	for {
		imbalance := st.imbalance()
		hotOnly := imbalance <= st.Threshold
		if hotOnly && (!st.HotNodes || !st.anyHot()) {
			r.Why = fmt.Sprintf("the imbalance is %.3f, which is tolerated", imbalance)
			return
		}
		if st.MaxMoves > 0 && len(r.Moves) >= st.MaxMoves {
			r.Why = fmt.Sprintf("a round has at most %d moves", st.MaxMoves)
			return
		}
		least := st.LeastGain(imbalance, st.counted, len(st.c.VMs))
		if best, found := st.best(least, hotOnly); found {
			st.apply(r, best, 0)
			continue
		}
		if st.Chains && st.applyChain(r, least, hotOnly) {
			continue
		}
		r.Why = fmt.Sprintf("no move lowers the imbalance of %.3f by %.2g and is possible and worth its cost", imbalance, least)
		return
	}
}

func (st *state) anyHot() bool {
	for i := range st.nodes {
		if !st.c.Nodes[i].Leaving && st.hot(i) {
			return true
		}
	}
	return false
}

// moving fixes units that the round has moved: a VM moves once in a round.
const moving = "it moves in this round already"

// apply adds a move to the round.
func (st *state) apply(r *Round, c candidate, set int) {
	u := &st.units[c.unit]
	m := Move{
		VMs: slices.Clone(u.vms), From: u.node, To: c.to, Gain: c.gain, Benefit: st.benefit(u, c.to), Cost: u.cost,
		Takes: u.migration, Set: set,
	}
	m.Worth = st.value(m.Benefit) - st.value(m.Cost)
	before := [2][kinds]float64{st.loads(m.From), st.loads(m.To)}
	st.nodes[m.From].moves++
	st.nodes[m.To].moves++
	u.fixed = moving
	st.move(c.unit, c.to)
	m.Reason = st.reason(&m, before)
	r.Moves = append(r.Moves, m)
}

// reason names the resource that the move balances most, and the loads of both ends.
func (st *state) reason(m *Move, before [2][kinds]float64) string {
	from, to := &st.c.Nodes[m.From], &st.c.Nodes[m.To]
	if from.Leaving {
		return from.Name + " is being emptied"
	}
	best, most := Resource(0), math.Inf(-1)
	for _, r := range st.resources {
		after := [2]float64{st.load(m.From, r), st.load(m.To, r)}
		if closer := st.weight[r] * (math.Abs(before[0][r]-before[1][r]) - math.Abs(after[0]-after[1])); closer > most {
			best, most = r, closer
		}
	}
	text := fmt.Sprintf("%s load of %s %.0f → %.0f %%, of %s %.0f → %.0f %%", best,
		from.Name, 100*before[0][best], 100*st.load(m.From, best), to.Name, 100*before[1][best], 100*st.load(m.To, best))
	if before[0][best] > 1 {
		text = from.Name + " is over its capacity: " + text
	}
	return text
}

func (st *state) loads(i int) (l [kinds]float64) {
	for _, r := range st.resources {
		l[r] = st.load(i, r)
	}
	return l
}

func (st *state) measure() (m Imbalance) {
	m.Total = st.imbalance()
	for _, r := range st.resources {
		m.Of[r] = st.sigma[r]
		if st.mean[r] > 0 {
			m.Variation[r] = st.sigma[r] / st.mean[r]
		}
		for i := range st.nodes {
			if !st.c.Nodes[i].Leaving {
				m.Peak[r] = max(m.Peak[r], st.load(i, r))
			}
		}
	}
	return m
}

// evacuate moves all VMs from nodes that are being emptied, the largest first, to where the imbalance is least
// then. Neither the limit of a round nor the cost counts.
func (st *state) evacuate(r *Round) {
	var list []int
	size := make(map[int]float64)
	for i := range st.nodes {
		if !st.c.Nodes[i].Leaving {
			continue
		}
		for _, k := range st.nodes[i].units {
			list = append(list, k)
			for _, kind := range st.resources {
				size[k] += max(st.units[k].size[kind], float64(st.units[k].reserved[kind])) / st.average[kind]
			}
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	unlimited := *st.Settings
	unlimited.MaxPerNode, unlimited.CostBenefit, unlimited.Return = 0, false, 0
	limited := st.Settings
	st.Settings = &unlimited
	st.tree.refresh(st)
	for _, k := range list {
		u := &st.units[k]
		c := candidate{gain: math.Inf(-1), unit: -1, to: -1}
		why := u.fixed
		if why == "" && len(st.tree.boxes) > 0 {
			st.bestTo(0, k, math.Inf(1), &c)
		}
		if c.unit >= 0 {
			st.apply(r, c, 0)
			continue
		}
		if why == "" {
			why = "no other node has room and is allowed"
		}
		for _, vm := range u.vms {
			r.Stranded = append(r.Stranded, Refusal{VM: vm, To: -1, Reason: why})
		}
	}
	st.Settings = limited
	st.tree.refresh(st)
	for i := range st.nodes {
		st.review(i)
	}
}

// Name is the name of what moves: its VMs.
func (m *Move) Name(c *Cluster) string {
	names := make([]string, len(m.VMs))
	for i, vm := range m.VMs {
		names[i] = c.VMs[vm].Name
	}
	return strings.Join(names, ", ")
}
