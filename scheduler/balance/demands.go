package balance

import (
	"math"
	"time"
)

// Effort is an amount of each resource over time, in its unit times seconds.
type Effort [kinds]float64

// takes is the duration of the migration of a VM: one round of copying at the rate that is left by what the VM
// writes meanwhile.
func (v *VM) takes(s *Settings) time.Duration {
	if v.Migration > 0 {
		return v.Migration
	}
	seconds := float64(v.copied()) / float64(max(s.Rate-v.Dirty, s.Rate/100, 1))
	return time.Duration(seconds * float64(time.Second))
}

func (v *VM) copied() int64 {
	if v.Size > 0 {
		return v.Size
	}
	return v.Reserved[Memory]
}

// cost is what the migration of a VM costs (§3.1.4): its memory is held at the destination while it is copied; the
// migration itself takes CPU and network on both ends; and the guest gets on more slowly, by the part of its writes
// among what can be copied.
func (v *VM) cost(s *Settings) (cost Effort) {
	seconds := v.takes(s).Seconds()
	slower := min(1, float64(v.Dirty)/float64(s.Rate))
	cost[CPU] = seconds * (2*float64(s.MigrateCPU) + slower*float64(v.Demand[CPU]))
	cost[Memory] = seconds * float64(v.copied())
	cost[Network] = 2 * float64(v.copied()) * (1 << 20)
	return cost
}

// demands are the demands on the nodes, and what moves are worth by them.
type demands struct {
	*Settings
	loads      *loads
	units      []unit
	nodes      []demanded
	departures []departure // of each unit
	compared   bool        // moves have to be worth their cost
}

// demanded is the demand on one node.
type demanded struct {
	demand, least, most, capacity Amounts
	rise                          [kinds]float64 // of its units
	stable                        float64        // of the VMs, in seconds, weighted by their CPU demand
	// What the node leaves unsatisfied.
	asSource, asDestination outlook
}

// departure is what is known of the moves of a unit, to whatever destination.
type departure struct {
	relief outlook // of its node, without it
	worth  float64 // at most, in seconds of an average node
}

// newDemands returns the demands on nodes without VMs.
func newDemands(s *Settings, nodes []Node, units []unit, l *loads) demands {
	d := demands{
		Settings: s, loads: l, units: units, nodes: make([]demanded, len(nodes)), departures: make([]departure, len(units)),
		compared: s.CostBenefit,
	}
	for i := range nodes {
		d.nodes[i].capacity = nodes[i].Capacity
	}
	return d
}

// add adds a unit to the demands on a node, or with sign -1 takes it away.
func (d *demands) add(i int, u *unit, sign int64) {
	n := &d.nodes[i]
	for r := range n.demand {
		n.demand[r] += sign * u.demand[r]
		n.least[r] += sign * u.least[r]
		n.most[r] += sign * u.most[r]
		n.rise[r] += float64(sign) * u.rise[r]
	}
	n.stable += float64(sign) * u.stable.Seconds() * float64(u.demand[CPU])
}

// foresee updates what a node leaves unsatisfied.
func (d *demands) foresee(i int) {
	n := &d.nodes[i]
	n.asSource, n.asDestination = d.unmet(i, true, nil, 0), d.unmet(i, false, nil, 0)
}

// mayPay updates what is known of the moves of a unit, and reports whether one of them may be worth its cost.
func (d *demands) mayPay(k int) bool {
	if !d.compared {
		return true
	}
	of, u := &d.departures[k], &d.units[k]
	of.relief = d.relief(u)
	of.worth = d.mostWorth(u, of.relief)
	return of.worth > 0
}

// unsatisfied is how much of a demand a node leaves unsatisfied at an instant. Demand varies around its mean: it is
// normally distributed, with the variance of processors that are wanted at random (the mean, in processors) and of
// demands that vary together (a part of the mean). Below the capacity VMs lose a little to each other, in proportion
// to the load. The paper counts demand above the capacity only; by that no node below its capacity would ever be
// relieved, and its figure 10 would end at a load of 1.
func (d *demands) unsatisfied(r Resource, demand, capacity float64) float64 {
	if demand <= 0 {
		return 0
	}
	lost := d.Interference * demand * min(1, demand/max(1, capacity))
	variance := d.Variation * demand * d.Variation * demand
	if r == CPU {
		variance += 1000 * demand
	}
	if variance == 0 {
		return lost + max(0, demand-capacity)
	}
	deviation := math.Sqrt(variance)
	z := (capacity - demand) / deviation
	if z > 6 { // less than 10⁻¹⁰ of the deviation
		return lost
	}
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return lost + max(0, deviation*(density-z*math.Erfc(z/math.Sqrt2)/2))
}

// outlook is what is demanded at two times: as now, and at worst.
type outlook [2][kinds]float64

// unmet is what a node leaves unsatisfied of the demand on it with a unit more, or with sign -1 less: now, and if its
// VMs demand the least of the last hour as a source, the most as a destination. The unit may be nil.
func (d *demands) unmet(i int, source bool, u *unit, sign int64) (o outlook) {
	n := &d.nodes[i]
	for _, r := range d.loads.resources {
		now, worst := n.demand[r], n.most[r]
		if source {
			worst = n.least[r]
		}
		if u != nil {
			now += sign * u.demand[r]
			if source {
				worst += sign * u.least[r]
			} else {
				worst += sign * u.most[r]
			}
		}
		o[0][r] = d.unsatisfied(r, float64(now), float64(n.capacity[r]))
		o[1][r] = d.unsatisfied(r, float64(worst), float64(n.capacity[r]))
	}
	return o
}

// relief is what the source of a unit leaves less unsatisfied without it.
func (d *demands) relief(u *unit) (o outlook) {
	without := d.unmet(u.node, true, u, -1)
	for k := range o {
		for _, r := range d.loads.resources {
			o[k][r] = d.nodes[u.node].asSource[k][r] - without[k][r]
		}
	}
	return o
}

// clipped is the demand above a capacity.
func clipped(demand, capacity int64) float64 { return float64(max(0, demand-capacity)) }

// worstRelief is what the source of a unit leaves less unsatisfied at worst. A node over its capacity suffers now:
// it is relieved wherever the destination stays within its capacity at worst, so there only demand above the
// capacity counts.
func (d *demands) worstRelief(u *unit, relief outlook, r Resource) float64 {
	if !d.loads.hot(u.node) {
		return relief[1][r]
	}
	n := &d.nodes[u.node]
	return clipped(n.least[r], n.capacity[r]) - clipped(n.least[r]-u.least[r], n.capacity[r])
}

// worstLoss is what a destination leaves more unsatisfied with a unit at worst.
func (d *demands) worstLoss(u *unit, to int, with outlook, r Resource) float64 {
	n := &d.nodes[to]
	if !d.loads.hot(u.node) {
		return with[1][r] - n.asDestination[1][r]
	}
	if !d.Independent {
		return clipped(n.most[r]+u.most[r], n.capacity[r]) - clipped(n.most[r], n.capacity[r])
	}
	return clipped(likely(n.demand[r]+u.demand[r], n.rise[r]+u.rise[r]), n.capacity[r]) - clipped(likely(n.demand[r], n.rise[r]), n.capacity[r])
}

// likely is what VMs demand together at worst if they reach their largest demands independently: the deviations
// from the present demand add up by their squares. The sum of the largest demands of many VMs never occurs.
func likely(demand int64, rise float64) int64 {
	return demand + int64(math.Ceil(math.Sqrt(max(0, rise))))
}

// stableOn is how long the demand of the VMs of a node is expected to stay: the mean, weighted by their CPU demand.
func (n *demanded) stableOn() float64 {
	if n.demand[CPU] == 0 {
		return math.Inf(1)
	}
	return n.stable / float64(n.demand[CPU])
}

// benefit is what a move to a node satisfies in addition, adjusted for the risk (§3.1.4): the present demand lasts
// for the stable time; for the rest of the horizon the VMs at the source demand the least of the last hour, and
// those at the destination, with the mover, the most.
func (d *demands) benefit(u *unit, to int) Effort { return d.benefitOf(u, d.relief(u), to) }

func (d *demands) benefitOf(u *unit, relief outlook, to int) (gained Effort) {
	dest := &d.nodes[to]
	horizon := d.Horizon.Seconds()
	stable := min(u.stable.Seconds(), d.nodes[u.node].stableOn(), dest.stableOn(), horizon)
	with := d.unmet(to, false, u, 1)
	for _, r := range d.loads.resources {
		now := relief[0][r] - (with[0][r] - dest.asDestination[0][r])
		worst := d.worstRelief(u, relief, r) - d.worstLoss(u, to, with, r)
		gained[r] = stable*now + (horizon-stable)*worst
	}
	return gained
}

// mostWorth is the benefit less the cost of moving a unit to a destination where it harms no other VM, in seconds of
// an average node.
func (d *demands) mostWorth(u *unit, relief outlook) float64 {
	horizon := d.Horizon.Seconds()
	stable := min(u.stable.Seconds(), d.nodes[u.node].stableOn(), horizon)
	gained := Effort{}
	for _, r := range d.loads.resources {
		now, worst := relief[0][r], d.worstRelief(u, relief, r)
		gained[r] = stable*max(now, worst) + (horizon-stable)*worst
	}
	return d.value(gained) - d.value(u.cost)
}

// value makes resources over time comparable: seconds of an average node, by the weights of the resources.
func (d *demands) value(e Effort) float64 { return d.loads.part((*[kinds]float64)(&e)) }

// pays reports whether the benefit of a move exceeds its cost.
func (d *demands) pays(k, to int) bool {
	u := &d.units[k]
	return !d.compared || d.value(d.benefitOf(u, d.departures[k].relief, to)) > d.value(u.cost)
}
