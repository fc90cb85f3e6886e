package dpm_test

import (
	"maps"
	"slices"

	"vjob/cluster"
	"vjob/energy/dpm"
)

// levelled is a rebalance for tests: VMs of hosts that are not on go to the least busy host, and then VMs go from the
// busiest host to the least busy one while that brings the two closer.
func (w *world) levelled() dpm.Rebalance {
	need := w.set.Demands(&w.c)
	return func(on []cluster.NodeID, from dpm.Placement) (dpm.Placement, bool) {
		to, load, memory := dpm.Placement{}, map[cluster.NodeID]float64{}, map[cluster.NodeID]cluster.MiB{}
		host := func(id cluster.NodeID) *dpm.Host {
			return &w.c.Hosts[slices.IndexFunc(w.c.Hosts, func(h dpm.Host) bool { return h.ID == id })]
		}
		put := func(vm cluster.VMID, id cluster.NodeID, sign float64) {
			to[vm] = id
			load[id] += sign * need[vm] / float64(host(id).Capacity.CPU)
			memory[id] += cluster.MiB(sign) * w.c.Memory[vm]
		}
		leastBusy := func(vm cluster.VMID) (best cluster.NodeID) {
			for _, id := range on {
				h := host(id)
				if memory[id]+w.c.Memory[vm] <= h.Capacity.Memory && load[id]+need[vm]/float64(h.Capacity.CPU) <= 1 && (best == "" || load[id] < load[best]) {
					best = id
				}
			}
			return best
		}
		vms := slices.SortedFunc(maps.Keys(from), cluster.VMID.Compare)
		for _, vm := range vms {
			if slices.Contains(on, from[vm]) {
				put(vm, from[vm], 1)
			}
		}
		for _, vm := range vms {
			if slices.Contains(on, from[vm]) {
				continue
			}
			best := leastBusy(vm)
			if best == "" {
				return nil, false
			}
			put(vm, best, 1)
		}
		for again := true; again; {
			again = false
			for _, vm := range vms {
				at, best := to[vm], leastBusy(vm)
				if best == "" || best == at {
					continue
				}
				gap := load[at] - load[best]
				moved := need[vm]/float64(host(at).Capacity.CPU) + need[vm]/float64(host(best).Capacity.CPU)
				if gap > 0.02 && moved > 0 && moved < gap {
					put(vm, at, -1)
					put(vm, best, 1)
					again = true
				}
			}
		}
		return to, true
	}
}
