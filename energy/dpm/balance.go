package dpm

import (
	"cmp"
	"maps"
	"slices"

	"vjob/cluster"
)

// Balance returns a [Rebalance] for callers without a planner. VMs of hosts that are not on move
// to the least busy host, the largest VMs first. Then, one at a time, VMs move from the
// busiest host to the least busy while the utilisations of the two differ by more than least
// and converge, as DRS does (§3.1.2, Algorithm 1). Demand is that of the window for on.
func (s *Settings) Balance(c *Cluster, least float64) Rebalance {
	need := make(map[cluster.VMID]float64, len(c.Where))
	for vm := range c.Where {
		series := make([]float64, c.History.slotsOf(s.OnWindow))
		c.History.add(series, vm)
		need[vm] = estimate(series, s.Deviations)
	}
	return func(on []cluster.NodeID, from Placement) (Placement, bool) {
		b := balance{c: c, need: need, hosts: map[cluster.NodeID]*load{}}
		for i := range c.Hosts {
			if _, among := slices.BinarySearch(on, c.Hosts[i].ID); among {
				b.hosts[c.Hosts[i].ID] = &load{host: &c.Hosts[i], vms: map[cluster.VMID]bool{}}
				b.order = append(b.order, c.Hosts[i].ID)
			}
		}
		if !b.placeAll(from) {
			return nil, false
		}
		for range len(from) {
			if !b.moveOne(least) {
				break
			}
		}
		return b.placement(), true
	}
}

// balance is a placement under construction.
type balance struct {
	c     *Cluster
	need  map[cluster.VMID]float64
	hosts map[cluster.NodeID]*load
	order []cluster.NodeID
}

// load is that of one host.
type load struct {
	host   *Host
	cpu    float64
	memory cluster.MiB
	vms    map[cluster.VMID]bool
}

func (l *load) use() float64 { return l.cpu / float64(l.host.Capacity.CPU) }

func (b *balance) put(l *load, vm cluster.VMID, sign float64) {
	l.cpu += sign * b.need[vm]
	if sign > 0 {
		l.memory += b.c.Memory[vm]
		l.vms[vm] = true
	} else {
		l.memory -= b.c.Memory[vm]
		delete(l.vms, vm)
	}
}

// placeAll puts every VM on its host if that is on, else where it fits.
func (b *balance) placeAll(from Placement) bool {
	var unplaced []cluster.VMID
	for _, vm := range slices.SortedFunc(maps.Keys(from), cluster.VMID.Compare) {
		if l := b.hosts[from[vm]]; l != nil {
			b.put(l, vm, 1)
		} else {
			unplaced = append(unplaced, vm)
		}
	}
	slices.SortStableFunc(unplaced, func(x, y cluster.VMID) int { return cmp.Compare(b.need[y], b.need[x]) })
	for _, vm := range unplaced {
		l := b.extreme(func(l *load) bool {
			return l.memory+b.c.Memory[vm] <= l.host.Capacity.Memory && l.cpu+b.need[vm] <= float64(l.host.Capacity.CPU)
		}, -1)
		if l == nil {
			return false
		}
		b.put(l, vm, 1)
	}
	return true
}

// extreme returns the least busy host that may be chosen, or with sign 1 the busiest.
func (b *balance) extreme(may func(*load) bool, sign float64) (best *load) {
	for _, id := range b.order {
		if l := b.hosts[id]; may(l) && (best == nil || sign*(l.use()-best.use()) > 0) {
			best = l
		}
	}
	return best
}

// moveOne moves one VM from the busiest to the least busy host. It returns false if no move
// helps.
func (b *balance) moveOne(least float64) bool {
	all := func(*load) bool { return true }
	busy, idle := b.extreme(all, 1), b.extreme(all, -1)
	if busy == nil || busy == idle {
		return false
	}
	gap, chosen, gain := busy.use()-idle.use(), cluster.VMID{}, tiny
	if gap <= least {
		return false
	}
	for _, vm := range slices.SortedFunc(maps.Keys(busy.vms), cluster.VMID.Compare) {
		if idle.memory+b.c.Memory[vm] > idle.host.Capacity.Memory {
			continue
		}
		need := b.need[vm]
		after := (busy.cpu-need)/float64(busy.host.Capacity.CPU) - (idle.cpu+need)/float64(idle.host.Capacity.CPU)
		if better := gap - max(after, -after); better > gain {
			chosen, gain = vm, better
		}
	}
	if gain <= tiny {
		return false
	}
	b.put(busy, chosen, -1)
	b.put(idle, chosen, 1)
	return true
}

func (b *balance) placement() Placement {
	list := Placement{}
	for _, id := range b.order {
		for vm := range b.hosts[id].vms {
			list[vm] = id
		}
	}
	return list
}
