package day

import (
	"time"

	"vjob/cluster"
	"vjob/energy/dpm"
	"vjob/scheduler/balance/whatif"
)

// decide switches nodes and moves VMs. Only the first search of a step switches nodes, and only without migrations under
// way does the daemon search.
func (r *run) decide(first bool) error {
	if r.Balance == nil || r.Repeat && len(r.queue)+len(r.flights) > 0 {
		return nil
	}
	r.next = r.now + 2*stride
	if first && r.Power != nil {
		r.switchNodes()
	}
	moves, err := r.balance()
	if err != nil {
		return err
	}
	if moves == 0 && r.Pack != nil && r.now >= r.pack.next {
		moves, err = r.consolidate()
	}
	if moves == 0 {
		r.next = r.now + Step // until demands change
	}
	return err
}

// note records the demands for power management.
func (r *run) note() {
	samples := make([]dpm.Sample, len(r.VMs))
	for vm := range samples {
		now := max(0, r.VMs[vm].Demand[r.step])
		samples[vm] = dpm.Sample{VM: vmID(vm), Node: r.nodeID(r.where[vm]), CPU: now}
	}
	r.history.Add(epoch.Add(r.now), samples)
}

func vmID(i int) cluster.VMID { return cluster.VMID{VJob: cluster.VJobID(i + 1)} }

func (r *run) nodeID(n int) cluster.NodeID { return cluster.NodeID(r.nodes[n].Name) }

// world is the cluster as power management sees it.
func (r *run) world() *dpm.Cluster {
	c := &dpm.Cluster{Now: epoch.Add(r.now), Where: dpm.Placement{}, Memory: map[cluster.VMID]cluster.MiB{}, History: r.history}
	for i := range r.hosts {
		h := &r.hosts[i]
		d := dpm.Host{ID: r.nodeID(i), Capacity: r.nodes[i].Capacity, State: h.state, Since: epoch.Add(h.since), Power: r.nodes[i].Power}
		if h.leaving {
			d.State, d.FixedReason = dpm.Off, "it is being emptied"
		}
		if h.state == dpm.Off && r.now < h.ready {
			d.FixedReason = "it goes off"
		}
		c.Hosts = append(c.Hosts, d)
	}
	for vm, at := range r.where {
		c.Where[vmID(vm)], c.Memory[vmID(vm)] = r.nodeID(at), r.uses(vm)
		if r.Reserved {
			c.Memory[vmID(vm)] = r.VMs[vm].Memory
		}
	}
	return c
}

// switchNodes lets power management switch nodes.
func (r *run) switchNodes() {
	c := r.world()
	advice := r.Power.Decide(c, whatif.Rebalance(*r.Balance, r.Power, c), r.wear)
	index := map[cluster.NodeID]int{}
	for i := range r.nodes {
		index[r.nodeID(i)] = i
	}
	for _, change := range advice.On {
		n := index[change.Host]
		r.hosts[n].state, r.hosts[n].ready, r.hosts[n].stale = dpm.Coming, r.now+r.nodes[n].Power.On.Time, true
		r.Ons++
	}
	for _, change := range advice.Off {
		r.goesOff(index[change.Host])
	}
}

// goesOff empties a node and switches it off.
func (r *run) goesOff(n int) {
	r.hosts[n].leaving, r.hosts[n].asked = true, r.now
}

// fill is the part of a node that may be in use: below what makes power management switch another one on.
func (r *run) fill() float64 {
	if r.Pack == nil || r.Power == nil {
		return 1
	}
	return r.Power.MaxUtilisation()
}

// stable is how long the demand of a VM is expected to stay: as long as it has been within a quarter of what it is, at
// least five minutes and at most an hour.
func (r *run) stable(vm int) time.Duration {
	list, now := r.VMs[vm].Demand, float64(max(0, r.VMs[vm].Demand[r.step]))
	n := 1
	for n < int(time.Hour/Step) && r.step-n >= 0 {
		if d := float64(list[r.step-n]); d < 0.75*now-20 || d > 1.25*now+20 {
			break
		}
		n++
	}
	return time.Duration(n) * Step
}
