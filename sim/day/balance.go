package day

import (
	"fmt"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/scheduler/balance"
)

// balance runs one round of load balancing, and returns how many moves it makes.
func (r *run) balance() (int, error) {
	c, hosts := r.model()
	round, err := r.Balance.Round(c)
	if err != nil {
		return 0, fmt.Errorf("balance: %w", err)
	}
	r.pack.sets++
	for k := range round.Moves {
		m := &round.Moves[k]
		for _, vm := range m.VMs {
			r.queue = append(r.queue, transfer{vm: vm, to: hosts[m.To], set: r.pack.sets, number: k, after: m.After, asked: r.now})
		}
	}
	return len(round.Moves), nil
}

// model is the cluster as a round sees it, with the nodes by its indices.
func (r *run) model() (c *balance.Cluster, hosts []int) {
	c, index := &balance.Cluster{}, make([]int, len(r.hosts))
	capacity := cluster.Resources{}
	for i := range r.hosts {
		h := &r.hosts[i]
		index[i] = -1
		if h.state != dpm.On {
			continue
		}
		has := r.nodes[i].Capacity
		index[i] = len(c.Nodes)
		hosts = append(hosts, i)
		capacity = capacity.Plus(has)
		c.Nodes = append(c.Nodes, balance.Node{
			Name: r.nodes[i].Name, Leaving: h.leaving,
			Capacity: balance.Amounts{int64(r.fill() * float64(has.CPU)), int64(has.Memory), 0},
		})
	}
	sum := 0.0
	for vm := range r.VMs {
		c.VMs = append(c.VMs, r.modelVM(vm, index))
		sum += float64(c.VMs[vm].Demand[balance.CPU])
	}
	if part := float64(capacity.CPU) * r.fill() / max(1, sum); part < 1 { // all demand more than there is
		for vm := range c.VMs {
			v := &c.VMs[vm]
			v.Entitlement[balance.CPU] = int64(part * float64(v.Demand[balance.CPU]))
		}
	}
	for _, list := range [][]transfer{r.flights, r.queue} {
		for _, t := range list {
			if index[t.to] >= 0 && t.to != r.where[t.vm] {
				c.Flights = append(c.Flights, balance.Flight{VM: t.vm, To: index[t.to]})
			}
		}
	}
	c.Compatible = func(vms []int, node int) string {
		for _, vm := range vms {
			if r.VMs[vm].CPU > r.nodes[hosts[node]].Capacity.CPU {
				return "the VM has more processors than the node"
			}
		}
		return ""
	}
	return c, hosts
}

func (r *run) modelVM(vm int, index []int) balance.VM {
	now, least, most := r.demand(vm)
	size, memory := int64(r.VMs[vm].Memory), int64(r.uses(vm))
	v := balance.VM{Node: index[r.where[vm]], Name: r.VMs[vm].Name, Size: size, Migration: r.takes(vm)}
	if r.Reserved {
		memory = size
	} else {
		v.Stable = r.stable(vm)
	}
	v.Demand = balance.Amounts{int64(now), memory, 0}
	v.Entitlement = v.Demand
	v.Least, v.Most = balance.Amounts{int64(least), memory, 0}, balance.Amounts{int64(most), memory, 0}
	v.Reserved = balance.Amounts{0, size, 0}
	for _, l := range r.late(vm) {
		if index[l.node] >= 0 {
			v.Left = append(v.Left, balance.Visit{Node: index[l.node], Ago: r.now - l.at})
		}
	}
	return v
}
