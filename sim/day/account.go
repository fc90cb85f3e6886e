package day

import (
	"math"
	"slices"
	"time"

	"vjob/energy"
	"vjob/energy/dpm"
)

// happiness is the part of its demand that a VM has to receive to be happy (figure 13 of the paper).
const happiness = 0.95

// advance lets VMs use the CPU for one stride, and returns the energy of that.
func (r *run) advance() (drawn energy.Joules) {
	for n := range r.hosts {
		h := &r.hosts[n]
		if h.stale || h.moving > 0 || r.now <= h.ready+stride {
			r.serve(n)
			h.stale = false
		}
		r.Delivered += h.delivered / 1000 * stride.Hours()
		drawn += h.watts.Over(stride)
	}
	for vm, rate := range r.rates {
		r.got[vm] += rate * stride.Seconds()
	}
	r.Energy += drawn
	return drawn
}

// serve divides the CPU of a node among its VMs by equal shares, none getting more than it demands. Migrations come
// first.
func (r *run) serve(n int) {
	h, power := &r.hosts[n], &r.nodes[n].Power
	has, busy := float64(r.nodes[n].Capacity.CPU), r.overhead(n)
	rest := max(0, has-busy)
	order := slices.Clone(h.vms)
	demand := func(vm int) float64 { return float64(max(0, r.VMs[vm].Demand[r.step])) }
	slices.SortFunc(order, func(a, b int) int { return int(demand(a) - demand(b)) })
	h.delivered = 0
	for i, vm := range order {
		r.rates[vm] = min(demand(vm), rest/float64(len(order)-i))
		rest -= r.rates[vm]
		h.delivered += r.rates[vm]
	}
	switch {
	case h.state == dpm.On:
		h.watts = power.At((h.delivered + min(busy, has)) / has)
	case h.state == dpm.Coming:
		h.watts = power.On.Power()
	case r.now < h.ready:
		h.watts = power.Off.Power()
	default:
		h.watts = power.Standby
	}
}

// sum adds up a step.
func (r *run) sum(begin time.Duration, drawn energy.Joules, moves int) {
	s := Sample{At: begin, Power: energy.Watts(float64(drawn) / Step.Seconds()), Moves: moves}
	counted, happy := 0, 0
	for vm := range r.VMs {
		d := r.VMs[vm].Demand[r.step]
		if d == absent {
			continue
		}
		counted++
		s.Demand += float64(d) / 1000
		if r.got[vm] >= happiness*float64(d)*Step.Seconds()-1e-6 {
			happy++
		}
	}
	for n := range r.hosts {
		h := &r.hosts[n]
		if h.state != dpm.Off {
			s.On++
		}
		if len(h.vms) > 0 {
			s.Used++
		}
		r.MostMemory = max(r.MostMemory, 1-float64(r.free(n))/float64(r.nodes[n].Capacity.Memory))
		if r.load(n) > 1 {
			r.CrowdedHours += Step.Hours()
		}
	}
	s.Imbalance = r.imbalance()
	s.Happy = float64(happy) / float64(max(1, counted))
	r.VMHours += float64(counted) * Step.Hours()
	r.HappyHours += float64(happy) * Step.Hours()
	r.Demand += s.Demand * Step.Hours()
	r.MeanImbalance, r.MostImbalance = r.MeanImbalance+s.Imbalance, max(r.MostImbalance, s.Imbalance)
	r.NodesOn, r.NodesUsed = r.NodesOn+float64(s.On), r.NodesUsed+float64(s.Used)
	r.Samples = append(r.Samples, s)
}

// load is the CPU that the VMs of a node demand over what it has.
func (r *run) load(n int) float64 {
	sum := 0.0
	for _, vm := range r.hosts[n].vms {
		sum += float64(max(0, r.VMs[vm].Demand[r.step]))
	}
	return sum / float64(r.nodes[n].Capacity.CPU)
}

// imbalance is I_c of the nodes that are on: the standard deviations of the loads of CPU and of memory in use, with the
// weights 3 and 1 if the CPU of a node is over its capacity, otherwise equal (§3.1.1).
func (r *run) imbalance() float64 {
	var cpu, memory []float64
	for n := range r.hosts {
		if r.hosts[n].state != dpm.On {
			continue
		}
		used := 0.0
		for _, vm := range r.hosts[n].vms {
			used += float64(r.uses(vm))
		}
		cpu, memory = append(cpu, r.load(n)), append(memory, used/float64(r.nodes[n].Capacity.Memory))
	}
	weight := 0.5
	if len(cpu) > 0 && slices.Max(cpu) > 1 {
		weight = 0.75
	}
	return weight*deviation(cpu) + (1-weight)*deviation(memory)
}

func deviation(list []float64) float64 {
	mean, square := 0.0, 0.0
	for _, v := range list {
		mean += v / float64(len(list))
	}
	for _, v := range list {
		square += (v - mean) * (v - mean) / float64(len(list))
	}
	return math.Sqrt(square)
}
