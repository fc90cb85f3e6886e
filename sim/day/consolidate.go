package day

import (
	"fmt"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/energy"
	"vjob/energy/consolidate"
	"vjob/energy/dpm"
	"vjob/scheduler/balance"
	"vjob/scheduler/balance/whatif"
)

// packing is the memory of searches for fewer nodes.
type packing struct {
	turn int
	next time.Duration // when the next search is due
	sets int           // searches of all kinds that moved VMs
}

// packPower is what a node counts for that has VMs: only their number matters.
var packPower = energy.Power{Idle: 1000, Full: 1000}

// consolidate searches for fewer nodes as the daemon does with the placement pack, and returns how many VMs move.
func (r *run) consolidate() (int, error) {
	p, hosts, vms := r.problem()
	a, err := p.Search(r.pack.turn)
	if err != nil {
		return 0, fmt.Errorf("consolidate: %w", err)
	}
	r.pack.turn = (r.pack.turn + 1) % max(1, a.Subsets)
	r.pack.next = r.now + packEvery/time.Duration(max(1, a.Subsets))
	if len(a.Moves) == 0 || a.Before-a.After < p.MinSaving || r.vetoed(a, hosts) {
		return 0, nil
	}
	r.pack.sets++
	for k, i := range a.Moves {
		r.queue = append(r.queue, transfer{vm: vms[i], to: hosts[a.To[i]], set: r.pack.sets, number: k, asked: r.now})
	}
	if r.Power != nil {
		for _, n := range a.Emptied {
			r.goesOff(hosts[n])
		}
	}
	return len(a.Moves), nil
}

// problem is the cluster as the search sees it, with the nodes and the VMs by its indices.
func (r *run) problem() (p *consolidate.Problem, hosts, vms []int) {
	p = &consolidate.Problem{Resources: []string{"memory", "use of processors"}, Criteria: *r.Pack, Seed: r.seed}
	index := make([]int, len(r.hosts))
	for i := range r.hosts {
		h := &r.hosts[i]
		index[i] = -1
		if h.state != dpm.On || h.leaving {
			continue
		}
		index[i] = len(hosts)
		hosts = append(hosts, i)
		has := r.nodes[i].Capacity
		p.Nodes = append(p.Nodes, consolidate.Node{
			Power: packPower, CPU: float64(has.CPU), MayTurnOff: r.Power == nil || r.now-h.since >= r.Power.MinOn,
			Capacity: []float64{r.fill() * float64(has.Memory), r.fill() * float64(has.CPU)},
		})
	}
	for vm := range r.VMs {
		if index[r.where[vm]] < 0 {
			continue // its node is being emptied
		}
		vms = append(vms, vm)
		now, _, _ := r.demand(vm)
		p.VMs = append(p.VMs, consolidate.VM{
			Node: index[r.where[vm]], Load: float64(now), Need: []float64{float64(r.VMs[vm].Memory), float64(now)},
			Fixed: len(r.late(vm)) > 0, Remaining: p.Horizon,
		})
	}
	p.May = func(vm, node int) bool { return r.VMs[vms[vm]].CPU <= r.nodes[hosts[node]].Capacity.CPU }
	return p, hosts, vms
}

// vetoed reports whether power management would keep on a node that becomes empty.
func (r *run) vetoed(a *consolidate.Result, hosts []int) bool {
	if r.Power == nil || len(a.Emptied) == 0 {
		return false
	}
	var off []cluster.NodeID
	for _, n := range a.Emptied {
		off = append(off, r.nodeID(hosts[n]))
	}
	slices.Sort(off)
	c := r.world()
	return r.Power.Veto(c, whatif.Rebalance(balance.Default, r.Power, c), off) != ""
}
