package fill

import (
	"math"
	"math/rand/v2"
	"slices"

	"vjob/internal/sparse"
)

// Actions says when items leave and come, in a problem for [NewAnnealing]. All but Start and Ready are by item.
type Actions struct {
	Start    sparse.Lists[int] // by node: items that run there at first; some may be none of the problem's
	Ready    []int64           // by node: when items may come at the earliest
	Now      []int64           // and dimension: what an item needs until it has left its first node
	Leave    []int64           // how long it takes to leave that
	Key      []int64           // of items that wait for the same room, the one with the least comes first
	LateCost []int64           // cost of one tick of waiting
}

// Annealing improves a placement of all items by simulated annealing: items move and change places at random,
// and nodes may be overloaded on the way, at a cost that grows.
//
// The cost of a placement is that of items away from home and of waits: an item comes when enough
// others have left, which wait in turn.
type Annealing struct {
	*Problem
	Actions
	positions
	waits
	cooling

	rng      *rand.Rand
	best     int64
	bestAt   []int
	improved bool
}

// positions are where the items are.
type positions struct {
	at    []int     // node by item
	index []int     // of each item on its node
	on    [][]int   // items by node
	first []int     // the node on which each item runs at first
	load  []int64   // by node and dimension
	over  []float64 // overload by node, in hundredths of an average node
	cost  int64     // of items away from home, and of waits
	away  set       // items that are not where they run at first
	tight set       // overloaded nodes
}

// waits are when the items come.
type waits struct {
	delay []int64 // by item
	late  []int64 // by node: cost of the delays of items that come
	log   []change
	queue []int // nodes with waits that may have changed
}

// cooling is how far the search is, and its units.
type cooling struct {
	step, steps int
	hard        float64   // how many times as much overload costs as usual
	share       []float64 // hundredths of an average node, by dimension
	bulk        float64   // of a mean item in those
	scale       float64   // mean cost of an item away from home
	heat        float64   // temperature
	weight      float64   // cost of overload
}

// change is an earlier delay of an item, or cost of the waits on a node.
type change struct {
	item, node int
	before     int64
}

// How the search goes. Temperatures are shares of the mean cost of an item away from home, weights the cost of as
// much overload as a mean item needs, in that cost.
const (
	firstHeat   = 0.2
	lastHeat    = 0.06
	firstWeight = 2.6
	growth      = 5     // of the weight from the first to the last step
	pressure    = 1.005 // growth in each period of the second half in which a node is overloaded
	periods     = 2000
	anyOverload = 6  // hundredths of a node that each overloaded node counts on top
	farthest    = 12 // nodes on which waits are computed anew after a move
	maxDelay    = 1 << 12
)

// logarithms are those of random numbers, negative.
var logarithms = func() (list [1024]float64) {
	for i := range list {
		list[i] = -math.Log((float64(i) + 0.5) / float64(len(list)))
	}
	return list
}()

// NewAnnealing prepares to improve a placement in a number of steps. All items have a node, be it overloaded.
// Overload costs hard times as much as usual, where it is difficult to get rid of.
func NewAnnealing(p *Problem, acts Actions, at []int, rng *rand.Rand, steps int, hard float64) *Annealing {
	nodes, items := len(p.Room)/p.Dims, len(p.Home)
	a := &Annealing{
		Problem: p, Actions: acts, rng: rng, best: math.MaxInt64,
		positions: positions{
			at: slices.Repeat([]int{Nowhere}, items), index: make([]int, items), on: make([][]int, nodes), first: slices.Repeat([]int{Nowhere}, items),
			load: make([]int64, len(p.Room)), over: make([]float64, nodes), away: newSet(items), tight: newSet(nodes),
		},
		waits:   waits{delay: make([]int64, items), late: make([]int64, nodes)},
		cooling: cooling{steps: steps, hard: hard, share: make([]float64, p.Dims)},
	}
	for n, list := range acts.Start.All() {
		for _, i := range list {
			a.first[i] = n
		}
	}
	a.measure()
	for _, i := range p.Items {
		a.put(i, at[i])
	}
	a.refresh()
	a.note()
	return a
}

// measure finds the units of cost and size.
func (a *Annealing) measure() {
	for d := range a.Dims {
		var room, need int64
		for _, n := range a.Nodes {
			room += a.Room[n*a.Dims+d]
		}
		for _, i := range a.Items {
			need += a.Need[i*a.Dims+d]
		}
		a.share[d] = 100 * float64(len(a.Nodes)) / float64(max(1, room))
		a.bulk += float64(a.share[d] * float64(need) / float64(len(a.Items)))
	}
	count := 0
	for _, i := range a.Items {
		if a.Home[i] != Nowhere && a.Cost[i] < Fixed {
			a.scale += float64(a.Cost[i])
			count++
		}
	}
	a.scale = max(1, a.scale/float64(max(1, count)))
}

// Improve takes some steps, and reports whether they led to a better placement than all before.
func (a *Annealing) Improve(steps int) bool {
	a.improved = false
	for range min(steps, a.steps-a.step) {
		if a.step%(a.steps/periods+1) == 0 {
			a.cool(float64(a.step) / float64(a.steps))
		}
		a.try()
		a.step++
	}
	return a.improved
}

// cool sets the temperature and the weight of overload when a share of the steps is done.
func (a *Annealing) cool(done float64) {
	if done > 0.5 && len(a.tight.list) > 0 {
		a.hard *= pressure
	}
	a.heat = a.scale * firstHeat * math.Pow(lastHeat/firstHeat, done)
	a.weight = a.hard * a.scale / a.bulk * firstWeight * math.Pow(growth, done)
}

// Done reports whether all steps are taken.
func (a *Annealing) Done() bool { return a.step == a.steps }

// Best returns the best placement so far, by item; nil if none fits. It is valid until the next step.
func (a *Annealing) Best() []int { return a.bestAt }

// try tries to move an item, perhaps against another.
func (a *Annealing) try() {
	i, n := a.pick()
	from := a.at[i]
	if n == from {
		return
	}
	j := Nowhere
	if r := a.rng.Uint64(); r&1 == 1 && len(a.on[n]) > 0 {
		j = pickOf(a.on[n], r>>32)
	}
	more := a.overload(from, i, j) - a.over[from] + a.overload(n, j, i) - a.over[n]
	cost := a.placeCost(i, n) - a.placeCost(i, from)
	if j != Nowhere {
		cost += a.placeCost(j, from) - a.placeCost(j, n)
	}
	limit := a.heat * logarithms[a.rng.Uint64()%uint64(len(logarithms))]
	more *= a.weight
	if more+float64(cost-a.late[from]-a.late[n]) > limit || !a.may(i, n) || j != Nowhere && !a.may(j, from) {
		return // not even without any wait on both nodes
	}
	before := a.cost
	a.log = a.log[:0]
	a.exchange(i, j, n)
	if more+float64(a.cost-before) > limit {
		a.undo(i, j, from)
		return
	}
	a.reload(from)
	a.reload(n)
	a.note()
}

// note notes the placement if it fits and is the best so far.
func (a *Annealing) note() {
	if a.cost < a.best && len(a.tight.list) == 0 {
		a.best, a.improved = a.cost, true
		a.bestAt = append(a.bestAt[:0], a.at...)
	}
}

// pick returns an item that is away or on an overloaded node, and a node for it.
func (a *Annealing) pick() (item, node int) {
	r := a.rng.Uint64()
	switch {
	case r&1 == 0 && len(a.tight.list) > 0:
		item = pickOf(a.on[pickOf(a.tight.list, r>>32)], a.rng.Uint64()>>32)
	case len(a.away.list) > 0:
		item = pickOf(a.away.list, r>>32)
	default:
		item = pickOf(a.Items, r>>32)
	}
	if h := a.Home[item]; r&6 == 0 && h != Nowhere && a.may(item, h) {
		return item, h
	}
	return item, pickOf(a.Nodes, a.rng.Uint64()>>32)
}

// pickOf returns an element of a list by a random number of 32 bits.
func pickOf(list []int, r uint64) int { return list[int(r*uint64(len(list))>>32)] }

func (a *Annealing) may(i, n int) bool { return a.Cost[i] < Fixed && a.May(i, n) }

func (a *Annealing) placeCost(i, n int) int64 {
	if h := a.Home[i]; h == Nowhere || h == n {
		return 0
	}
	return a.Cost[i]
}

// overload returns how much too much is on a node if an item goes and another comes.
func (a *Annealing) overload(n, goes, comes int) (sum float64) {
	for d := range a.Dims {
		over := a.load[n*a.Dims+d] - a.Room[n*a.Dims+d]
		if goes != Nowhere {
			over -= a.Need[goes*a.Dims+d]
		}
		if comes != Nowhere {
			over += a.Need[comes*a.Dims+d]
		}
		if over > 0 {
			sum += float64(float64(over) * a.share[d])
		}
	}
	if sum > 0 {
		sum += anyOverload
	}
	return sum
}

// reload notes the overload of a node.
func (a *Annealing) reload(n int) {
	a.over[n] = a.overload(n, Nowhere, Nowhere)
	a.tight.put(n, a.over[n] > 0)
}

// put gives an item a node.
func (a *Annealing) put(i, n int) {
	if from := a.at[i]; from != Nowhere {
		list := a.on[from]
		last := list[len(list)-1]
		list[a.index[i]], a.index[last] = last, a.index[i]
		a.on[from] = list[:len(list)-1]
		a.cost -= a.placeCost(i, from)
		for d := range a.Dims {
			a.load[from*a.Dims+d] -= a.Need[i*a.Dims+d]
		}
	}
	a.at[i], a.index[i] = n, len(a.on[n])
	a.on[n] = append(a.on[n], i)
	a.cost += a.placeCost(i, n)
	for d := range a.Dims {
		a.load[n*a.Dims+d] += a.Need[i*a.Dims+d]
	}
	a.away.put(i, a.first[i] != n)
}

// exchange moves an item to a node, and another from there to where it was.
func (a *Annealing) exchange(i, j, n int) {
	from := a.at[i]
	a.put(i, n)
	a.queue = append(a.queue[:0], from, n)
	a.setDelay(i, 0)
	if j != Nowhere {
		a.put(j, from)
		a.setDelay(j, 0)
	}
	a.follow()
}

// undo takes an exchange back.
func (a *Annealing) undo(i, j, from int) {
	n := a.at[i]
	if j != Nowhere {
		a.put(j, n)
	}
	a.put(i, from)
	for _, c := range slices.Backward(a.log) {
		if c.item != Nowhere {
			a.delay[c.item] = c.before
			continue
		}
		a.cost += c.before - a.late[c.node]
		a.late[c.node] = c.before
	}
}

// refresh computes all overloads and waits.
func (a *Annealing) refresh() {
	for range 3 {
		for _, n := range a.Nodes {
			a.reload(n)
			a.queueOn(n)
		}
	}
}
