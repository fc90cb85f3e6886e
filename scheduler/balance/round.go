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
	b := newBalancer(s, c)
	l, r := &b.loads, b.round
	r.Before, r.Weights, r.Loads = l.measure(), l.weight, make([]Load, len(c.Nodes))
	for i := range r.Loads {
		r.Loads[i].Before = l.all(i)
	}
	b.evacuate()
	b.improve()
	r.After = l.measure()
	for i := range r.Loads {
		r.Loads[i].After = l.all(i)
	}
	b.depend()
	b.explain()
	return r, nil
}

// balancer makes a round.
type balancer struct {
	*Settings
	*state
	search *search // nil until moves are looked for
	round  *Round
}

func newBalancer(s *Settings, c *Cluster) *balancer {
	return &balancer{Settings: s, state: newState(s, c), round: &Round{}}
}

// searching returns the search for moves. Most rounds need none.
func (b *balancer) searching() *search {
	if b.search == nil {
		b.search = newSearch(b.state)
	}
	return b.search
}

// improve is the loop of Algorithm 1.
func (b *balancer) improve() {
	for {
		imbalance := b.loads.imbalance()
		hotOnly := imbalance <= b.Threshold
		if hotOnly && (!b.HotNodes || !b.loads.anyHot()) {
			b.round.Why = fmt.Sprintf("the imbalance is %.3f, which is tolerated", imbalance)
			return
		}
		if b.MaxMoves > 0 && len(b.round.Moves) >= b.MaxMoves {
			b.round.Why = fmt.Sprintf("a round has at most %d moves", b.MaxMoves)
			return
		}
		least := b.LeastGain(imbalance, b.loads.counted, len(b.c.VMs))
		if best, found := b.searching().best(least, hotOnly); found {
			b.apply(best, 0)
			continue
		}
		if b.Chains && b.applyChain(least, hotOnly) {
			continue
		}
		b.round.Why = fmt.Sprintf("no move lowers the imbalance of %.3f by %.2g and is possible and worth its cost", imbalance, least)
		return
	}
}

// applyChain applies the best chain that gains more than twice the least gain of a move, if there is one.
func (b *balancer) applyChain(least float64, hotOnly bool) bool {
	set := 1
	for i := range b.round.Moves {
		set = max(set, b.round.Moves[i].Set+1)
	}
	if set > mostChains || b.MaxMoves > 0 && len(b.round.Moves)+2 > b.MaxMoves || len(b.search.tree.order) == 0 {
		return false
	}
	best, found := newChains(b.search, 2*least).find(hotOnly)
	if found {
		b.apply(best.first, set)
		b.apply(best.second, set)
	}
	return found
}

// moving fixes units that the round has moved: a VM moves once in a round.
const moving = "it moves in this round already"

// apply adds a move to the round.
func (b *balancer) apply(c candidate, set int) {
	u := &b.layout.units[c.unit]
	m := Move{
		VMs: slices.Clone(u.vms), From: u.node, To: c.to, Gain: c.gain, Benefit: b.demands.benefit(u, c.to), Cost: u.cost,
		Takes: u.migration, Set: set,
	}
	m.Worth = b.demands.value(m.Benefit) - b.demands.value(m.Cost)
	before := [2][kinds]float64{b.loads.all(m.From), b.loads.all(m.To)}
	b.limits.join(m.From)
	b.limits.join(m.To)
	u.fixed = moving
	b.move(c.unit, c.to)
	b.search.review(m.From)
	b.search.review(m.To)
	b.search.tree.refresh()
	m.Reason = b.reason(&m, before)
	b.round.Moves = append(b.round.Moves, m)
}

// reason names the resource that the move balances most, and the loads of both ends.
func (b *balancer) reason(m *Move, before [2][kinds]float64) string {
	from, to := &b.c.Nodes[m.From], &b.c.Nodes[m.To]
	if from.Leaving {
		return from.Name + " is being emptied"
	}
	best, most := Resource(0), math.Inf(-1)
	for _, r := range b.loads.resources {
		after := [2]float64{b.loads.load(m.From, r), b.loads.load(m.To, r)}
		if closer := b.loads.weight[r] * (math.Abs(before[0][r]-before[1][r]) - math.Abs(after[0]-after[1])); closer > most {
			best, most = r, closer
		}
	}
	text := fmt.Sprintf("%s load of %s %.0f → %.0f %%, of %s %.0f → %.0f %%", best,
		from.Name, 100*before[0][best], 100*b.loads.load(m.From, best), to.Name, 100*before[1][best], 100*b.loads.load(m.To, best))
	if before[0][best] > 1 {
		text = from.Name + " is over its capacity: " + text
	}
	return text
}

// evacuate moves all VMs from nodes that are being emptied, the largest first, to where the imbalance is least
// then. Neither the limit of a round nor the cost counts.
func (b *balancer) evacuate() {
	var list []int
	size := make(map[int]float64)
	for i := range b.c.Nodes {
		if !b.c.Nodes[i].Leaving {
			continue
		}
		for _, k := range b.layout.on[i] {
			list = append(list, k)
			for _, kind := range b.loads.resources {
				size[k] += max(b.layout.units[k].size[kind], float64(b.layout.units[k].reserved[kind])) / b.loads.average[kind]
			}
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	b.searching()
	b.limits.perNode, b.limits.stays, b.demands.compared = 0, 0, false
	b.search.tree.refresh()
	for _, k := range list {
		u := &b.layout.units[k]
		c := candidate{gain: math.Inf(-1), unit: -1, to: -1}
		why := u.fixed
		if why == "" && len(b.search.tree.boxes) > 0 {
			b.search.bestTo(0, k, math.Inf(1), &c)
		}
		if c.unit >= 0 {
			b.apply(c, 0)
			continue
		}
		if why == "" {
			why = "no other node has room and is allowed"
		}
		for _, vm := range u.vms {
			b.round.Stranded = append(b.round.Stranded, Refusal{VM: vm, To: -1, Reason: why})
		}
	}
	b.limits.perNode, b.limits.stays, b.demands.compared = b.MaxPerNode, b.Return, b.CostBenefit
	b.search.tree.refresh()
	for i := range b.c.Nodes {
		b.search.review(i)
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
