package balance

import (
	"fmt"
	"time"

	"vjob/cluster"
)

// Resource is one of the resources that are balanced.
type Resource uint8

// The resources.
const (
	CPU     Resource = iota // in thousandths of a processor
	Memory                  // in MiB
	Network                 // in bytes per second
	kinds
)

// String is the name of the resource in messages.
func (r Resource) String() string { return [...]string{"CPU", "memory", "network"}[r] }

// Amounts has an amount of each resource, in its unit.
type Amounts [kinds]int64

// plus adds.
func (a Amounts) plus(b Amounts) Amounts {
	for r := range a {
		a[r] += b[r]
	}
	return a
}

// minus subtracts.
func (a Amounts) minus(b Amounts) Amounts {
	for r := range a {
		a[r] -= b[r]
	}
	return a
}

// Within reports whether no amount exceeds that of b.
func (a Amounts) Within(b Amounts) bool {
	for r := range a {
		if a[r] > b[r] {
			return false
		}
	}
	return true
}

// Cluster is the input of a round. Nodes and VMs are named by their index.
type Cluster struct {
	Nodes   []Node
	VMs     []VM
	Flights []Flight // migrations in flight
	// Compatible returns why VMs may not run on a node beside the VMs that are there, or "" if they may: one VM, or those
	// of a group. May be nil.
	Compatible func(vms []int, node int) string
	// Moved is called for each move that the round takes, and with the nodes swapped for one that it takes back, so
	// that Compatible can follow. May be nil.
	Moved func(vm, from, to int)
}

// Node is a node that is on.
type Node struct {
	Name     string
	Capacity Amounts // available to VMs; a resource that all nodes have 0 of, or [Unlimited], is not balanced
	Closed   string  // why it takes no VMs; "" if it does
	// Leaving nodes are emptied before VMs are balanced, whatever that costs. Their load does not count.
	Leaving bool
}

// VM is a running VM.
type VM struct {
	Name string
	Node int
	// Entitlement is what the VM should get now, Demand what it would use now.
	Entitlement, Demand Amounts
	// Least and Most are the extremes of the demand in the last hour; 0 stands for the demand.
	Least, Most Amounts
	// Reserved has to fit on the node beside that of others: the CPU reservation, the memory that it may use.
	Reserved Amounts
	Fixed    string // why it may not move; "" if it may
	Group    int    // VMs of the same group, from 1, move only together; 0 is no group
	// Stable is how long the demand is expected to stay as it is; 0 stands for [Settings.Stable].
	Stable time.Duration
	// Migration is the duration of a live migration. With 0 it is that of Size at [Settings.Rate] less Dirty.
	Migration time.Duration
	Size      int64   // MiB to copy; 0 stands for the reserved memory
	Dirty     int64   // MiB per second that it writes again
	Left      []Visit // nodes that it moved away from
}

// Visit is a node that a VM left.
type Visit struct {
	Node int
	Ago  time.Duration
}

// Flight is a migration in flight. The VM counts on its node and on the destination (§3.1.5).
type Flight struct{ VM, To int }

// Unlimited is the capacity of a node that has as much of a resource as is wanted, or that does not tell how much. It
// takes any VM, and its load does not count for the imbalance.
const Unlimited = mostAmount

// limits of the input: sums stay far below the largest integer.
const (
	mostAmount = 1 << 42
	mostItems  = 10_000_000
)

// Check returns a [cluster.FieldError] for an index out of range or an impossible amount.
func (c *Cluster) Check() error {
	if len(c.Nodes) > mostItems || len(c.VMs) > mostItems {
		return cluster.Fault("nodes", "%d nodes and %d VMs are more than %d", len(c.Nodes), len(c.VMs), mostItems)
	}
	for i := range c.Nodes {
		if err := amount(fmt.Sprintf("nodes[%d].capacity", i), c.Nodes[i].Capacity); err != nil {
			return err
		}
	}
	for i := range c.VMs {
		if err := c.checkVM(i); err != nil {
			return cluster.WithPath(fmt.Sprintf("vms[%d]", i), err)
		}
	}
	for i, f := range c.Flights {
		path := fmt.Sprintf("flights[%d]", i)
		switch {
		case f.VM < 0 || f.VM >= len(c.VMs):
			return cluster.BadField(path+".vm", f.VM, "the index of a VM")
		case f.To < 0 || f.To >= len(c.Nodes) || f.To == c.VMs[f.VM].Node:
			return cluster.BadField(path+".to", f.To, "the index of another node")
		}
	}
	return nil
}

func (c *Cluster) checkVM(i int) error {
	v := &c.VMs[i]
	if v.Node < 0 || v.Node >= len(c.Nodes) {
		return cluster.BadField("node", v.Node, "the index of a node")
	}
	for _, of := range []struct {
		field string
		Amounts
	}{
		{"entitlement", v.Entitlement},
		{"demand", v.Demand},
		{"least", v.Least},
		{"most", v.Most},
		{"reserved", v.Reserved},
		{"size", Amounts{v.Size, v.Dirty, int64(v.Group)}},
	} {
		if err := amount(of.field, of.Amounts); err != nil {
			return err
		}
	}
	if v.Stable < 0 || v.Migration < 0 {
		return cluster.BadField("stable", min(v.Stable, v.Migration), "0 or more")
	}
	return nil
}

func amount(field string, a Amounts) error {
	for r, n := range a {
		if n < 0 || n > mostAmount {
			return cluster.BadField(field, n, fmt.Sprintf("from 0 to %d of %s", int64(mostAmount), Resource(r)))
		}
	}
	return nil
}
