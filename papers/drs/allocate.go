package drs

import (
	"math"

	"vjob/queue/pool"
	"vjob/scheduler/balance"
)

// divided divides a capacity among VMs by the shares of their pools, none getting more than it demands.
func (r *trialRun) divided(capacity int64, vms []int, demand func(vm int) int64) []int64 {
	given := make([]int64, len(vms))
	sum := int64(0)
	for i, vm := range vms {
		given[i] = demand(vm)
		sum += given[i]
	}
	if sum <= capacity {
		return given
	}
	pools := max(1, len(r.pools))
	entries := []pool.Entry{{Parent: -1, Controls: pool.Controls{Limit: pool.Unlimited, Shares: 1}}}
	for i := range pools {
		shares := int64(1000)
		if len(r.pools) > 0 {
			shares = r.pools[i].shares
		}
		entries = append(entries, pool.Entry{Controls: pool.Controls{Limit: pool.Unlimited, Shares: shares}})
	}
	for i, vm := range vms {
		p := 0
		if len(r.pools) > 0 {
			p = r.guests[vm].pool
		}
		entries = append(entries, pool.Entry{Parent: 1 + p, VM: true, Controls: pool.Controls{Limit: given[i], Shares: 1000}})
	}
	tree, err := pool.New(entries)
	if err != nil {
		panic(err) // the entries are made above
	}
	for i := range vms {
		tree.SetDemand(1+pools+i, given[i])
	}
	tree.Divide(capacity)
	for i := range given {
		given[i] = min(given[i], tree.Entitlement(1+pools+i))
	}
	return given
}

// entitlements divide the CPU of the hosts that are on among all VMs.
func (r *trialRun) entitlements() []int64 {
	capacity, all := int64(0), make([]int, len(r.guests))
	for i := range r.hosts {
		if s := r.state[i]; !s.off && r.now >= s.ready {
			capacity += r.hosts[i].Capacity[balance.CPU]
		}
	}
	for i := range all {
		all[i] = i
	}
	return r.divided(capacity, all, func(vm int) int64 { return r.need[vm] })
}

// account adds up one step: what the hosts give to their VMs, beside migrations.
func (r *trialRun) account() {
	s := sample{at: r.now, happiness: make([]float64, max(1, len(r.pools))), happy: make([]float64, max(1, len(r.pools)))}
	on := make([][]int, len(r.hosts))
	for vm, at := range r.where {
		on[at] = append(on[at], vm)
	}
	entitled := r.entitlements()
	count := make([]float64, len(s.happy))
	capCPU, capMemory := 0.0, 0.0
	for h, vms := range on {
		has := r.hosts[h].Capacity
		capCPU, capMemory = capCPU+float64(has[0]), capMemory+float64(has[1])
		cpu := r.divided(has[0]-r.migrating(h), vms, func(vm int) int64 { return r.need[vm] })
		memory := r.divided(has[1], vms, func(vm int) int64 { return r.guests[vm].memory })
		sumCPU, sumMemory := 0.0, 0.0
		for i, vm := range vms {
			s.payCPU, s.payMemory = s.payCPU+float64(cpu[i]), s.payMemory+float64(memory[i])
			sumCPU, sumMemory = sumCPU+float64(entitled[vm]), sumMemory+float64(r.guests[vm].memory)
			part := 1.0
			if entitled[vm] > 0 {
				part = min(1, float64(cpu[i])/float64(entitled[vm]))
			}
			p := r.guests[vm].pool
			count[p]++
			s.happiness[p] += part
			if part >= 0.95 {
				s.happy[p]++
			}
		}
		s.cpu, s.memory = append(s.cpu, sumCPU/float64(has[0])), append(s.memory, sumMemory/float64(has[1]))
	}
	for p := range count {
		s.happiness[p], s.happy[p] = s.happiness[p]/max(1, count[p]), s.happy[p]/max(1, count[p])
	}
	s.payCPU, s.payMemory = s.payCPU/capCPU, s.payMemory/capMemory
	s.imbalance.Of = [3]float64{deviation(s.cpu), deviation(s.memory)}
	r.cpu, r.memory = r.cpu+s.payCPU, r.memory+s.payMemory
	r.samples = append(r.samples, s)
}

// migrating is the CPU that migrations take on a host now.
func (r *trialRun) migrating(host int) (cpu int64) {
	for _, t := range r.transfers {
		if t.begin < r.now+stride && t.end > r.now && (r.where[t.vm] == host || t.to == host) {
			part := float64(min(t.end, r.now+stride)-max(t.begin, r.now)) / float64(stride)
			cpu += int64(part * float64(balance.Default.MigrateCPU))
		}
	}
	return cpu
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
