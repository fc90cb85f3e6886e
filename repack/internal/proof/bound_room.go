package proof

import (
	"cmp"
	"math"
	"slices"

	"vjob/repack"
)

// A migrating VM takes room twice. Of VMs above some size, every node has room for a few only,
// so no more can migrate at once than there are free slots: those that must leave share the
// slots like machines.

// moverClass has the VMs above some size that must leave their hosts, and how many can do so
// at once.
type moverClass struct {
	movers   []int
	machines int64
}

// maxSizes bounds how many sizes of VMs count, the largest first.
const maxSizes = 8

// moverClasses returns the classes of the VMs that must leave, by size and dimension.
func (m *Bounds) moverClasses() (list []moverClass) {
	var movers []int
	for _, vm := range m.Wanted {
		if v := &m.In.VMs[vm]; v.Keeps() && !m.Suspendable(v) && !m.Allows(vm, v.Host) {
			movers = append(movers, vm)
		}
	}
	if len(movers) < 2 || slices.Contains(m.overloadedAtStart, true) {
		return nil
	}
	for d := range m.Dims {
		sizes := make([]int64, 0, len(movers))
		for _, vm := range movers {
			if size := m.size(vm, d); size > 0 {
				sizes = append(sizes, size)
			}
		}
		slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
		sizes = slices.Compact(sizes)
		for _, size := range sizes[:min(len(sizes), maxSizes)] {
			if b := m.moverClass(d, size, movers); len(b.movers) > 1 && b.machines > 0 && b.machines < int64(len(b.movers)) {
				list = append(list, b)
			}
		}
	}
	return list
}

// size returns the least demand of a VM at any time.
func (m *Bounds) size(vm, d int) int64 { return min(m.Now[vm*m.Dims+d], m.Next[vm*m.Dims+d]) }

// moverClass returns the class of VMs with at least this demand.
func (m *Bounds) moverClass(d int, size int64, movers []int) (b moverClass) {
	for n := range m.In.Nodes {
		if node := &m.In.Nodes[n]; node.State == repack.Online || m.Open[n] {
			b.machines += m.Room[n*m.Dims+d] / size
		}
	}
	for _, vm := range m.Wanted {
		if v := &m.In.VMs[vm]; v.Keeps() && !m.Suspendable(v) && m.size(vm, d) >= size {
			b.machines--
		}
	}
	for _, vm := range movers {
		if m.size(vm, d) >= size {
			b.movers = append(b.movers, vm)
		}
	}
	return b
}

// slotWaits returns the least cost, beyond that of each VM alone, of VMs sharing the free
// slots. The weighted sum of completion times on equal machines is at least the sum on one
// machine in Smith's order, divided by their number, plus a part of what each takes alone that
// makes it exact for as many machines as jobs (Eastman, Even, Isaacs: Bounds for the optimal
// scheduling of n jobs on m processors, Management Science 11, 1964).
func (m *Bounds) slotWaits() (most int64) {
	if m.Objective == repack.Migrations || m.Objective == repack.Moved {
		return 0
	}
	for _, b := range m.moverClasses() {
		takes := func(vm int) int64 { return int64(m.MinDuration(vm, repack.Migrate)) }
		slices.SortStableFunc(b.movers, func(x, y int) int {
			return cmp.Compare(takes(x)*m.WaitCost(y), takes(y)*m.WaitCost(x))
		})
		var clock, one, each, alone int64
		for _, vm := range b.movers {
			clock += takes(vm)
			one += m.WaitCost(vm) * clock
			each += m.WaitCost(vm) * takes(vm)
			alone += m.minAway(vm)
		}
		k := float64(b.machines)
		least := float64(one)/k + (k-1)/(2*k)*float64(each)
		most = max(most, int64(math.Ceil(least-1e-3))-alone)
	}
	return most
}

// slotMakespan returns a time before which some VMs of the class have not left.
func (m *Bounds) slotMakespan() (most int64) {
	for _, b := range m.moverClasses() {
		var sum int64
		for _, vm := range b.movers {
			sum += int64(m.MinDuration(vm, repack.Migrate))
		}
		most = max(most, (sum+b.machines-1)/b.machines)
	}
	return most
}
