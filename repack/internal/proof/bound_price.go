package proof

import (
	"cmp"
	"math"
	"slices"

	"vjob/repack"
	"vjob/repack/internal/problem"
)

// Where hardly any room is left, a VM that comes drives others away, which drive others away. The
// bound of each node alone does not see that. Prices do: each VM has a price for being placed,
// and each node takes the VMs that pay the most above what they cost there. The sum of the prices
// less what the nodes earn is a lower bound, whatever the prices are (Lagrangian relaxation;
// Geoffrion: Lagrangean relaxation for integer programming, Mathematical Programming Study 2, 1974).
// The price of a VM that no node takes rises, that of a VM that several nodes take falls. Steps are
// scaled by VM as in RMSprop: a VM that all nodes take at once would make every step tiny.

// Prices is a bound that rises. Prices and costs are in parts of a unit.
type Prices struct {
	*Bounds
	price  []int64   // by VM
	cost   [][]int64 // by node and VM: the least of being there
	taken  []int     // by VM: how many nodes take it
	square []float64 // by VM: mean square of the nodes too few or too many
	best   int64
	first  float64 // step
	step   float64
	stale  int // rounds without a better bound
	rounds int
}

// How prices are made. Problems with more pairs of a node and a VM would take too long.
const (
	priceParts    = 256
	priceRounds   = 400
	maxPricePairs = 1_000_000
	packSteps     = 4000 // for one node
	manyNodes     = 60   // of more than which the first step is smaller, as more take a VM at once
	patience      = 30   // rounds without a better bound before steps become smaller
	shrink        = 0.7  // by how much
	memory        = 0.98 // share of the past in the mean square
)

// NewPrices returns the bound before the first round. There are no rounds if they would take too long, or say nothing
// about the objective.
func NewPrices(m *Bounds) *Prices {
	if m.Objective == repack.Makespan || len(m.Wanted) == 0 || len(m.OpenNodes)*len(m.Wanted) > maxPricePairs {
		return &Prices{Bounds: m, rounds: priceRounds}
	}
	vms := len(m.In.VMs)
	p := &Prices{Bounds: m, price: make([]int64, vms), taken: make([]int, vms), square: make([]float64, vms)}
	p.findCosts()
	for _, vm := range m.Wanted {
		p.price[vm] = priceParts * min(m.minHome[vm], m.minAway(vm))
		p.first += float64(priceParts*m.minAway(vm)) / float64(3*len(m.Wanted))
	}
	p.first *= min(1, float64(manyNodes)/float64(len(m.OpenNodes)))
	p.step = p.first
	return p
}

// Raise takes some rounds and returns a lower bound of the objective. It stops early when the bound reaches a
// limit.
func (p *Prices) Raise(limit int64, rounds int) int64 {
	departures := p.Departures()
	for range rounds {
		if p.Done() || p.best+priceParts*departures >= priceParts*limit {
			break
		}
		p.rounds++
		if value := p.value(); value > p.best {
			p.best, p.stale = value, 0
		} else if p.stale++; p.stale > patience {
			p.step, p.stale = p.step*shrink, 0
		}
		p.reprice(p.step)
	}
	return (p.best+priceParts-1)/priceParts + departures
}

// Done reports whether further rounds would hardly raise the bound.
func (p *Prices) Done() bool { return p.rounds >= priceRounds || p.step <= p.first/128 }

func (p *Prices) findCosts() {
	p.cost = make([][]int64, len(p.In.Nodes))
	for _, n := range p.OpenNodes {
		p.cost[n] = make([]int64, len(p.In.VMs))
		for _, vm := range p.Wanted {
			p.cost[n][vm] = priceParts * p.costOn(vm, n)
		}
	}
}

// costOn returns the least cost of a VM on a node.
func (m *Bounds) costOn(vm, n int) int64 {
	v := &m.In.VMs[vm]
	switch {
	case !m.Allows(vm, n):
		return problem.Never / priceParts
	case n == m.Home[vm]:
		return m.minHome[vm]
	case m.Suspendable(v):
		return max(m.minAway(vm), m.WaitCost(vm)*int64(m.minVacancy(vm, n)))
	default:
		return m.minAway(vm) + m.WaitCost(vm)*int64(m.minVacancy(vm, n))
	}
}

// value returns the bound at the present prices, and notes which VMs are taken.
func (p *Prices) value() (sum int64) {
	clear(p.taken)
	for _, vm := range p.Wanted {
		sum += p.price[vm]
	}
	for _, n := range p.OpenNodes {
		k := packing{Prices: p, node: n, steps: packSteps}
		sum -= k.solve()
		for _, vm := range k.best {
			p.taken[vm]++
		}
	}
	return sum
}

// reprice changes the prices by about a step, less for VMs with a number of takers that changes a lot.
func (p *Prices) reprice(step float64) {
	for _, vm := range p.Wanted {
		missing := float64(1 - p.taken[vm])
		p.square[vm] = float64(memory*p.square[vm]) + float64((1-memory)*float64(missing*missing))
		p.price[vm] = max(0, p.price[vm]+int64(step*missing/math.Sqrt(max(p.square[vm], 1))))
	}
}

// packing finds the VMs that pay the most on one node: a knapsack of several dimensions, by
// branch and bound.
type packing struct {
	*Prices
	node  int
	items []payer
	room  []int64
	steps int
	most  int64
	taken []int
	best  []int
}

type payer struct {
	vm   int
	gain int64
	bulk float64 // share of the node
}

func (k *packing) solve() int64 {
	k.room = slices.Clone(k.Room[k.node*k.Dims : (k.node+1)*k.Dims])
	for _, vm := range k.Wanted {
		gain := k.price[vm] - k.cost[k.node][vm]
		if gain <= 0 || !large(k.Problem, vm, k.node) {
			continue
		}
		bulk := 1e-9
		for d := range k.Dims {
			if k.room[d] > 0 {
				bulk += float64(k.Next[vm*k.Dims+d]) / float64(k.room[d])
			}
		}
		k.items = append(k.items, payer{vm, gain, bulk})
	}
	slices.SortFunc(k.items, func(a, b payer) int {
		return cmp.Or(cmp.Compare(float64(b.gain)*a.bulk, float64(a.gain)*b.bulk), cmp.Compare(a.vm, b.vm))
	})
	k.branch(0, 0, float64(k.Dims))
	if k.steps <= 0 {
		return k.above(0, float64(k.Dims))
	}
	return k.most
}

// above returns an upper bound of what the items from a position on pay in so much room.
func (k *packing) above(from int, room float64) (sum int64) {
	for _, x := range k.items[from:] {
		if x.bulk > room {
			return sum + int64(float64(x.gain)*room/x.bulk) + 1
		}
		sum, room = sum+x.gain, room-x.bulk
	}
	return sum
}

func (k *packing) branch(i int, gain int64, room float64) {
	if gain > k.most {
		k.most, k.best = gain, slices.Clone(k.taken)
	}
	if k.steps--; i == len(k.items) || k.steps <= 0 || gain+k.above(i, room) <= k.most {
		return
	}
	x := k.items[i]
	fits := true
	for d := range k.room {
		k.room[d] -= k.Next[x.vm*k.Dims+d]
		fits = fits && k.room[d] >= 0
	}
	if fits {
		k.taken = append(k.taken, x.vm)
		k.branch(i+1, gain+x.gain, room-x.bulk)
		k.taken = k.taken[:len(k.taken)-1]
	}
	for d := range k.room {
		k.room[d] += k.Next[x.vm*k.Dims+d]
	}
	k.branch(i+1, gain, room)
}
