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

// costOf is what the migration of a unit costs (§3.1.4): its memory is held at the destination while it is copied;
// the migration itself takes CPU and network on both ends; and the guest gets on more slowly, by the part of its
// writes among what can be copied.
func (st *state) costOf(u *unit) (cost Effort) {
	for _, i := range u.vms {
		v := &st.c.VMs[i]
		seconds := v.takes(st.Settings).Seconds()
		slower := min(1, float64(v.Dirty)/float64(st.Rate))
		cost[CPU] += seconds * (2*float64(st.MigrateCPU) + slower*float64(v.Demand[CPU]))
		cost[Memory] += seconds * float64(v.copied())
		cost[Network] += 2 * float64(v.copied()) * (1 << 20)
	}
	return cost
}

// unsatisfied is how much of a demand a node leaves unsatisfied at an instant. Demand varies around its mean: it is
// normally distributed, with the variance of processors that are wanted at random (the mean, in processors) and of
// demands that vary together (a part of the mean). Below the capacity VMs lose a little to each other, in proportion
// to the load. The paper counts demand above the capacity only; by that no node below its capacity would ever be
// relieved, and its figure 10 would end at a load of 1.
func (st *state) unsatisfied(r Resource, demand, capacity float64) float64 {
	if demand <= 0 {
		return 0
	}
	lost := st.Interference * demand * min(1, demand/max(1, capacity))
	variance := st.Variation * demand * st.Variation * demand
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
func (st *state) unmet(i int, source bool, u *unit, sign int64) (o outlook) {
	n, has := &st.nodes[i], st.c.Nodes[i].Capacity
	for _, r := range st.resources {
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
		o[0][r] = st.unsatisfied(r, float64(now), float64(has[r]))
		o[1][r] = st.unsatisfied(r, float64(worst), float64(has[r]))
	}
	return o
}

// relief is what the source of a unit leaves less unsatisfied without it.
func (st *state) relief(u *unit) (o outlook) {
	without := st.unmet(u.node, true, u, -1)
	for k := range o {
		for _, r := range st.resources {
			o[k][r] = st.nodes[u.node].asSource[k][r] - without[k][r]
		}
	}
	return o
}

// clipped is the demand above a capacity.
func clipped(demand, capacity int64) float64 { return float64(max(0, demand-capacity)) }

// worstRelief is what the source of a unit leaves less unsatisfied at worst. A node over its capacity suffers now:
// it is relieved wherever the destination stays within its capacity at worst, so there only demand above the
// capacity counts.
func (st *state) worstRelief(u *unit, relief outlook, r Resource) float64 {
	if !st.hot(u.node) {
		return relief[1][r]
	}
	n, has := &st.nodes[u.node], st.c.Nodes[u.node].Capacity[r]
	return clipped(n.least[r], has) - clipped(n.least[r]-u.least[r], has)
}

// worstLoss is what a destination leaves more unsatisfied with a unit at worst.
func (st *state) worstLoss(u *unit, to int, with outlook, r Resource) float64 {
	n, has := &st.nodes[to], st.c.Nodes[to].Capacity[r]
	if !st.hot(u.node) {
		return with[1][r] - n.asDestination[1][r]
	}
	return clipped(n.most[r]+u.most[r], has) - clipped(n.most[r], has)
}

// stableOn is how long the demand of the VMs of a node is expected to stay: the mean, weighted by their CPU demand.
func (n *node) stableOn() float64 {
	if n.demand[CPU] == 0 {
		return math.Inf(1)
	}
	return n.stable / float64(n.demand[CPU])
}

// benefit is what a move to a node satisfies in addition, adjusted for the risk (§3.1.4): the present demand lasts
// for the stable time; for the rest of the horizon the VMs at the source demand the least of the last hour, and
// those at the destination, with the mover, the most.
func (st *state) benefit(u *unit, to int) Effort { return st.benefitOf(u, st.relief(u), to) }

func (st *state) benefitOf(u *unit, relief outlook, to int) (gained Effort) {
	dest := &st.nodes[to]
	horizon := st.Horizon.Seconds()
	stable := min(u.stable.Seconds(), st.nodes[u.node].stableOn(), dest.stableOn(), horizon)
	with := st.unmet(to, false, u, 1)
	for _, r := range st.resources {
		now := relief[0][r] - (with[0][r] - dest.asDestination[0][r])
		worst := st.worstRelief(u, relief, r) - st.worstLoss(u, to, with, r)
		gained[r] = stable*now + (horizon-stable)*worst
	}
	return gained
}

// mostWorth is the benefit less the cost of moving a unit to a destination where it harms no other VM, in seconds of
// an average node.
func (st *state) mostWorth(u *unit) float64 {
	horizon := st.Horizon.Seconds()
	stable := min(u.stable.Seconds(), st.nodes[u.node].stableOn(), horizon)
	gained := Effort{}
	for _, r := range st.resources {
		now, worst := u.relief[0][r], st.worstRelief(u, u.relief, r)
		gained[r] = stable*max(now, worst) + (horizon-stable)*worst
	}
	return st.value(gained) - st.value(u.cost)
}

// value makes resources over time comparable: seconds of an average node, by the weights of the resources.
func (st *state) value(e Effort) (sum float64) {
	for _, r := range st.resources {
		sum += st.weight[r] * e[r] / st.average[r]
	}
	return sum
}

// pays reports whether the benefit of a move exceeds its cost.
func (st *state) pays(u *unit, to int) bool {
	return !st.CostBenefit || st.value(st.benefitOf(u, u.relief, to)) > st.value(u.cost)
}
