package pattern

// parts is into how many parts of a unit of worth prices are divided.
const parts = 1 << 10

// Relaxation is what the linear program says.
type Relaxation struct {
	// Impossible is whether it is proved that not all VMs have places.
	Impossible bool
	// Most is the most that any placement of all VMs is worth: proved, and nearly always exact.
	Most int64
}

// Relax solves the linear program.
func (p *Problem) Relax() Relaxation {
	s := newSimplex(p, nil, p.wanted(), p.nodes())
	if !s.place() && p.most(s.prices(1<<20), 0) < 0 {
		return Relaxation{Impossible: true}
	}
	scale := p.scale()
	s.improve(scale)
	return Relaxation{Most: floor(p.most(s.prices(scale*parts), parts), parts)}
}

// most returns an upper bound of what all VMs in their places are worth, times so many parts, at any prices of the kinds: each node
// takes the pattern with the highest worth and prices, and pays for all VMs (Lagrangian relaxation). If it is negative
// without any worth, not all VMs have places.
func (p *Problem) most(prices []int64, worth int64) (sum int64) {
	for k, price := range prices {
		sum -= price * p.Kinds[k].Count
	}
	best := make([]int64, len(p.Classes))
	for i := range p.columns {
		c := &p.columns[i]
		earns := c.worth * worth
		for k, n := range c.vms {
			earns += n * prices[k]
		}
		best[c.class] = max(best[c.class], earns)
	}
	for c, earns := range best {
		sum += earns * p.Classes[c].Count
	}
	return sum
}

// prices returns what a VM of each kind is worth to the nodes that hold it, times a factor.
func (s *simplex) prices(factor float64) []int64 {
	s.price()
	list := make([]int64, len(s.Kinds))
	for k := range list {
		list[k] = max(0, int64(-s.dual[k]*factor+0.5))
	}
	return list
}

// scale returns the highest worth of a pattern, at least 1.
func (p *Problem) scale() float64 {
	most := int64(1)
	for i := range p.columns {
		most = max(most, p.columns[i].worth)
	}
	return float64(most)
}

// wanted returns the VMs of each kind.
func (p *Problem) wanted() []int64 {
	list := make([]int64, len(p.Kinds))
	for k := range list {
		list[k] = p.Kinds[k].Count
	}
	return list
}

// nodes returns the nodes of each class.
func (p *Problem) nodes() []int64 {
	list := make([]int64, len(p.Classes))
	for c := range list {
		list[c] = p.Classes[c].Count
	}
	return list
}

func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
