package proof

import (
	"cmp"
	"math"
	"slices"

	"vjob/internal/sparse"
	"vjob/repack"
)

// A node carries a limited number of transfers at once, so what must leave it, or come to it, by a
// transfer shares the transfer slots of the node like equal machines.

// carried is a VM that needs a transfer slot of a node.
type carried struct {
	takes  int64 // the least time for which it holds the slot
	weight int64
	alone  int64 // its least cost in the objective without others
}

// transferWaits returns the least cost, beyond that of each VM alone, of VMs sharing transfer
// slots: those of the nodes that they leave, or those of the nodes to which they go.
func (m *Bounds) transferWaits() int64 {
	if m.Objective == repack.Migrations || m.Objective == repack.Moved || !m.In.LimitsTransfers() {
		return 0
	}
	var out, in int64
	leaving, coming := m.transfersBy()
	for n, list := range leaving.All() {
		out += equalMachines(list, m.In.Nodes[n].Transfers)
	}
	for n, list := range coming.All() {
		in += equalMachines(list, m.In.Nodes[n].Transfers)
	}
	return max(out, in)
}

// transferMakespan returns a time before which some node has not carried its transfers.
func (m *Bounds) transferMakespan() (most int64) {
	if !m.In.LimitsTransfers() {
		return 0
	}
	leaving, coming := m.transfersBy()
	for n := range sparse.Either(leaving, coming) {
		var sum int64
		for _, t := range slices.Concat(leaving.At(n), coming.At(n)) {
			sum += t.takes
		}
		limit := int64(m.In.Nodes[n].Transfers) // only nodes with a limit are there
		most = max(most, (sum+limit-1)/limit)
	}
	return most
}

// transfersBy returns the VMs that need a slot of each node with a limit: to leave the node where
// they run, or to come to the only node left to them. A VM is in one list of each kind at most.
func (m *Bounds) transfersBy() (leaving, coming sparse.Lists[carried]) {
	leaving, coming = sparse.New[carried](len(m.In.Nodes)), sparse.New[carried](len(m.In.Nodes))
	for vm := range m.In.VMs {
		v := &m.In.VMs[vm]
		t := carried{weight: m.WaitCost(vm)}
		if v.State == repack.Running && m.In.Nodes[v.Host].Transfers > 0 {
			t.takes = int64(m.MinDuration(vm, repack.Migrate))
			switch {
			case v.Want == repack.Sleeping:
				t.takes = min(t.takes, int64(v.Takes.Suspend))
				t.alone = m.WaitCost(vm) * int64(m.DepartureTime[vm])
				leaving.Add(v.Host, t)
			case v.Keeps() && !m.Allows(vm, v.Host):
				if m.Suspendable(v) {
					t.takes = min(t.takes, int64(v.Takes.Suspend))
				}
				t.alone = m.minAway(vm)
				leaving.Add(v.Host, t)
			}
		}
		n := m.destination[vm]
		if n == repack.Nowhere || m.In.Nodes[n].Transfers == 0 || v.State != repack.Running && v.State != repack.Sleeping {
			continue
		}
		t.takes, t.alone = int64(min(v.Takes.Migrate, v.Takes.ResumeLocal, v.Takes.ResumeRemote)), m.minAway(vm)
		coming.Add(n, t)
	}
	return leaving, coming
}

// equalMachines returns the least cost, beyond that of each alone, of transfers that share the
// slots of one node: the bound of Eastman, Even and Isaacs for equal machines, see slotWaits.
func equalMachines(list []carried, slots int) int64 {
	if slots == 0 || len(list) <= slots {
		return 0
	}
	slices.SortFunc(list, func(a, b carried) int { return cmp.Compare(a.takes*b.weight, b.takes*a.weight) })
	var clock, one, each, alone int64
	for _, t := range list {
		clock += t.takes
		one += t.weight * clock
		each += t.weight * t.takes
		alone += t.alone
	}
	k := float64(slots)
	least := float64(one)/k + (k-1)/(2*k)*float64(each)
	return max(0, int64(math.Ceil(least-1e-3))-alone)
}
