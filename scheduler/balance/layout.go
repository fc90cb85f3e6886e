package balance

import (
	"cmp"
	"slices"
	"time"
)

// unit is what moves at once: a VM, or the VMs of a group on one node.
type unit struct {
	vms         []int
	node        int
	entitlement Amounts
	size        [kinds]float64 // the entitlement
	reserved    Amounts
	demand      Amounts
	least, most Amounts
	rise        [kinds]float64 // squares of the demands of the last hour above the present ones
	stable      time.Duration
	migration   time.Duration
	cost        Effort
	fixed       string
}

// layout is where the units are.
type layout struct {
	c     *Cluster
	units []unit
	of    []int   // unit of each VM
	on    [][]int // units of each node, sorted
}

// newLayout makes units of VMs and groups. A group with VMs on several nodes cannot move: its parts are fixed.
func newLayout(s *Settings, c *Cluster) layout {
	l := layout{c: c, units: make([]unit, 0, len(c.VMs)), of: make([]int, len(c.VMs)), on: make([][]int, len(c.Nodes))}
	alone := make([]int, len(c.VMs)) // room for the lists of units of one VM
	first := map[int]int{}
	split := map[int]bool{}
	for i := range c.VMs {
		v := &c.VMs[i]
		u, known := first[v.Group]
		switch {
		case v.Group == 0 || !known:
			u = len(l.units)
			l.units = append(l.units, unit{node: v.Node, vms: alone[i : i : i+1]})
			if v.Group > 0 {
				first[v.Group] = u
			}
		case l.units[u].node != v.Node:
			split[v.Group] = true
			u = len(l.units)
			l.units = append(l.units, unit{node: v.Node})
		}
		l.of[i] = u
		l.units[u].add(i, v, s)
	}
	for i := range l.units {
		u := &l.units[i]
		if g := c.VMs[u.vms[0]].Group; split[g] && u.fixed == "" {
			u.fixed = "VMs of its group are on other nodes"
		}
		for r, e := range u.entitlement {
			u.size[r] = float64(e)
		}
		l.on[u.node] = append(l.on[u.node], i)
	}
	return l
}

// add adds a VM to a unit. Those of a group migrate one after the other.
func (u *unit) add(i int, v *VM, s *Settings) {
	u.vms = append(u.vms, i)
	u.entitlement, u.reserved, u.demand = u.entitlement.plus(v.Entitlement), u.reserved.plus(v.Reserved), u.demand.plus(v.Demand)
	for r := range v.Demand {
		least, most := v.Least[r], v.Most[r]
		if v.Least == (Amounts{}) && v.Most == (Amounts{}) {
			least, most = v.Demand[r], v.Demand[r]
		}
		u.least[r] += min(least, v.Demand[r])
		u.most[r] += max(most, v.Demand[r])
		rise := float64(max(0, most-v.Demand[r]))
		u.rise[r] += rise * rise
	}
	stable := v.Stable
	if stable == 0 {
		stable = s.Stable
	}
	if len(u.vms) == 1 || stable < u.stable {
		u.stable = stable
	}
	u.migration += v.takes(s)
	for r, more := range v.cost(s) {
		u.cost[r] += more
	}
	if u.fixed == "" {
		u.fixed = v.Fixed
	}
}

// relocate puts a unit on another node.
func (l *layout) relocate(k, to int) {
	u := &l.units[k]
	l.on[u.node] = slices.DeleteFunc(l.on[u.node], func(x int) bool { return x == k })
	at, _ := slices.BinarySearchFunc(l.on[to], k, cmp.Compare)
	l.on[to] = slices.Insert(l.on[to], at, k)
	u.node = to
}

// tell calls [Cluster.Moved] for each VM of a unit.
func (l *layout) tell(u *unit, from, to int) {
	if l.c.Moved == nil {
		return
	}
	for _, vm := range u.vms {
		l.c.Moved(vm, from, to)
	}
}

// needs is what the VMs of a move occupy: reservations and entitlements.
func (l *layout) needs(m *Move) [2]Amounts {
	u := &l.units[l.of[m.VMs[0]]]
	return [2]Amounts{u.reserved, u.entitlement}
}
