package entitlement

import (
	"vjob/cluster"
	"vjob/queue/pool"
)

// crowding is a division of the cluster of which the nodes are compared with what their VMs are entitled to.
type crowding struct {
	members []pool.Member
	given   []pool.Entitlement // of the members
	nodes   map[cluster.NodeID]cluster.Resources
	vms     []VM
	at      []int // the members of the VMs
}

// divide divides the CPU of each node of which the VMs are entitled to more than it has. A cluster with room
// entitles each VM to its demand, and the weights would say nothing where nodes are crowded nevertheless, until VMs
// have moved. So the pools and VMs of such a node are divided as on a host of DRS (§2.3): by their shares, with the
// part of each pool's reservation that is in use there.
func (c *crowding) divide(counts []cluster.MilliCPU) {
	wanted, on := map[cluster.NodeID]cluster.MilliCPU{}, map[cluster.NodeID][]int{}
	for i := range c.vms {
		wanted[c.vms[i].Node] += c.entitled(i)
	}
	for i := range c.vms {
		if node := c.vms[i].Node; wanted[node] > c.nodes[node].CPU {
			on[node] = append(on[node], i)
		}
	}
	for node, list := range on {
		tree, entry := c.tree(list)
		tree.Divide(int64(c.nodes[node].CPU))
		for k, i := range list {
			counts[i] = cluster.MilliCPU(tree.Entitlement(entry[k]))
		}
	}
}

func (c *crowding) entitled(vm int) cluster.MilliCPU { return c.given[c.at[vm]].Given.CPU }

// tree returns the tree of the pools that have some VMs, and the entries of these VMs.
func (c *crowding) tree(vms []int) (t *pool.Tree, at []int) {
	used := c.used(vms)
	entries, known := []pool.Entry(nil), map[int]int{}
	var add func(m int) int
	add = func(m int) int {
		if i, added := known[m]; added {
			return i
		}
		e := pool.Entry{Parent: -1, Controls: pool.Controls{Limit: pool.Unlimited, Shares: c.members[m].CPU.Shares}}
		if parent := c.members[m].Parent; parent >= 0 {
			e.Parent = add(parent)
			e.Reservation = int64(c.members[m].Reserved.CPU) * int64(used[m]) / max(1, int64(c.given[m].Given.CPU))
		}
		known[m] = len(entries)
		entries = append(entries, e)
		return known[m]
	}
	for _, i := range vms {
		add(c.members[c.at[i]].Parent)
	}
	for _, i := range vms {
		most := int64(c.entitled(i))
		at = append(at, len(entries))
		entries = append(entries, pool.Entry{Parent: known[c.members[c.at[i]].Parent], VM: true, Controls: pool.Controls{
			Reservation: min(int64(c.vms[i].reserved()), most), Limit: most, Shares: c.vms[i].Shares,
		}})
	}
	t, err := pool.New(entries)
	if err != nil {
		panic(err) // the members were checked
	}
	for k, i := range vms {
		t.SetDemand(at[k], int64(c.entitled(i)))
	}
	return t, at
}

// used returns the CPU that some VMs are entitled to, by the pools that they are in.
func (c *crowding) used(vms []int) map[int]cluster.MilliCPU {
	used := map[int]cluster.MilliCPU{}
	for _, i := range vms {
		for m := c.members[c.at[i]].Parent; m >= 0; m = c.members[m].Parent {
			used[m] += c.entitled(i)
		}
	}
	return used
}
